import { equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { Undertone } from '../../src/doors/client/index.ts';
import type { Erasure } from '../../src/doors/client/index.ts';
import { REDACTED_STREAM } from '../../src/stream/subjects.ts';
import { Cluster } from './cluster.ts';
import { filesWith } from './support/files-with.ts';
import { noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Stack } from './support/stack.ts';

const SESSIONS = 20;
const DONE_WITHIN_MS = 300_000;
/** A server drops what its log of changes holds some minutes after it was applied. */
const LOGS_WITHIN_MS = 300_000;
const LOOK_MS = 200;

/**
 * An end user is erased while a cluster of three has no room for what is written anew, and its leader dies: once there
 * is room it ends, and in the end no server's files and no views hold a word of theirs.
 */
export async function erasures({ rounds, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const servers = await Cluster.start();
  const env = { NATS_URL: servers.url, NATS_TOKEN: servers.token, STREAM_REPLICAS: '3' };
  try {
    const stack = await Stack.start({ env });
    try {
      const key = await stack.newKey();
      for (let round = 1; round <= rounds; round += 1) {
        const token = `quokka-${round}-8841`;
        const person = `person-${round}-to-forget@example.com`;
        const undertone = await filled(new Undertone({ url: stack.url, key }), stack.url, key, {
          token,
          person,
        });
        await limitCopies(stack, 1);
        const { id } = await undertone.erase({ externalId: person });
        const failed = await until(undertone, id, ({ state }) => state === 'FAILED');
        say(`round ${round}: without room it says: ${failed.fault}`);
        await servers.whole();
        await limitCopies(stack, -1);
        const leader = await servers.leader();
        await sleep(500);
        await servers.kill(leader);
        figures.kills += 1;
        const startedAt = performance.now();
        await sleep(1000);
        servers.start(leader);
        const { receipt } = await until(undertone, id, ({ state }) => state === 'DONE');
        recovered(figures, 'erasing', performance.now() - startedAt);
        equal(receipt?.messages, SESSIONS * 2);
        await servers.whole();
        equal(filesWith([stack.dataDir], [token, person]).join(), '');
        const left = filesWith([servers.folder], [token, person]);
        say(`round ${round}: done; ${left.length} files of the servers hold something: ${left.join(', ')}`);
        const deadline = performance.now() + LOGS_WITHIN_MS;
        while (filesWith([servers.folder], [token, person]).length > 0) {
          ok(performance.now() < deadline, filesWith([servers.folder], [token, person]).join());
          await sleep(LOOK_MS);
        }
        recovered(figures, 'all files without it', performance.now() - startedAt);
        figures.rounds += 1;
      }
      return figures;
    } finally {
      await stack.stop();
    }
  } finally {
    await servers.stop();
  }
}

/** A client of an instance of which every second session is the person's. */
async function filled(
  first: Undertone,
  url: string,
  key: string,
  { token, person }: { readonly token: string; readonly person: string },
): Promise<Undertone> {
  const reply = { role: 'assistant', content: `It left our warehouse yesterday.` };
  const others = { role: 'user', userId: 'somebody', content: 'Do you ship to Norway?' };
  const { instanceId } = await first.ingest({ messages: [others, reply] });
  const undertone = new Undertone({ url, key, instanceId });
  let last: number | null = null;
  for (let session = 0; session < SESSIONS; session++) {
    const messages = [{ role: 'user', userId: person, content: `Where is parcel ${token}?` }];
    await undertone.ingest({ messages: [...messages, { ...reply, content: `${token} is on its way.` }] });
    ({ position: last = null } = await undertone.ingest({ messages: [others, reply] }));
  }
  await undertone.query({ groupBy: 'SESSION', fields: ['messages'], waitFor: last });
  return undertone;
}

/** How large the stream of redacted entries may be, bytes; -1: as large as it likes. */
async function limitCopies(stack: Stack, bytes: number): Promise<void> {
  const connection = await stack.connect();
  try {
    const manager = await jetstreamManager(connection.nats, { checkAPI: false });
    await manager.streams.update(REDACTED_STREAM, { max_bytes: bytes });
  } finally {
    await connection.close();
  }
}

async function until(
  undertone: Undertone,
  id: string,
  holds: (erasure: Erasure) => boolean,
): Promise<Erasure> {
  const deadline = performance.now() + DONE_WITHIN_MS;
  for (;;) {
    const erasure = await undertone.erasure(id).catch(() => null);
    if (erasure !== null && holds(erasure)) return erasure;
    ok(performance.now() < deadline, JSON.stringify(erasure));
    await sleep(LOOK_MS);
  }
}
