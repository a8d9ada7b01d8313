import { deepEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { v7 } from 'uuid';
import type { ErasedKind, Erasure } from '../../src/domain/erasures.ts';
import { placeErasure } from '../../src/worker/erasure/executor.ts';
import { ErasureLedger } from '../../src/stream/ledgers/erasure-ledger.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { instanceId, requestsOf } from '../support/replays.ts';
import { World } from '../support/world.ts';

const GIVE_UP_MS = 300_000;
const PERSON = 'bob@example.com';
const WORDS = ['zanzibar-quokka', PERSON, 'carol-never-wrote', 'owner-olaf'];

describe('an erasure where the stream has dropped entries', () => {
  const temporary = temporaryDirectory();
  let world: World;
  before(async () => {
    world = await World.open(join(temporary.path, 'world'), 3, 2);
    let newest = 0;
    for (const request of requestsOf({ conversations: 6, instances: 3, messages: 1 })) {
      if (request.instanceId === instanceId(2)) {
        newest = await world.publisher.publish(request);
        continue;
      }
      const [message] = request.messages;
      const { userId, ...rest } = message!;
      const hasUser = userId !== undefined;
      newest = await world.publisher.publish({
        ...request,
        messages: [
          {
            ...rest,
            content: `${message!.content} zanzibar-quokka-${newest}`,
            ...(hasUser ? { userId: PERSON } : {}),
          },
        ],
        ...(request.instanceId === instanceId(1)
          ? {
              metadata: {
                users: { carol: { note: 'carol-never-wrote' } },
                instance: { owner: 'owner-olaf' },
              },
            }
          : {}),
      });
    }
    await world.count(newest);
    const manager = await jetstreamManager(world.connection.nats);
    await manager.streams.purge('CONVERSATIONS', { seq: Math.floor(newest / 2) + 1 });
  });
  after(async () => {
    await world?.close();
    temporary.remove();
  });

  /** Asks for an erasure as a service does, and waits for it: the worker does it. */
  async function erased(kind: ErasedKind, number: number, name: string): Promise<Erasure> {
    const registry = await openRegistry(world.connection);
    await registry.whenReady();
    const ledger = await ErasureLedger.open(world.connection);
    const wanted: Erasure = {
      id: v7(),
      projectId: world.projectId,
      instanceId: instanceId(number),
      kind,
      digest: registry.erasureDigest(kind, instanceId(number), name),
      keyId: 'key',
      reason: null,
      requestedAt: new Date().toISOString(),
      doneAt: null,
      position: 0,
      state: 'ACCEPTED',
      receipt: null,
      fault: null,
    };
    await ledger.add(wanted);
    await placeErasure(world.connection, ledger, wanted);
    await registry.close();
    const deadline = performance.now() + GIVE_UP_MS;
    for (;;) {
      const now = await ledger.find(world.projectId, wanted.id);
      if (now?.state === 'DONE') return now;
      ok(performance.now() < deadline, `waited too long; ${world.workerOutput}`);
      await sleep(200);
    }
  }

  const rows = async (number: number): Promise<number> =>
    Object.entries(await world.answers(3))
      .filter(
        ([question]) => question.startsWith(`${number} SESSION`) || question.startsWith(`${number} END_USER`),
      )
      .reduce((sum, [, answer]) => sum + (answer as { elements: unknown[] }).elements.length, 0);

  /** In the views: what was purged from the stream for this test may still have bytes there. */
  const inViews = (word: string): string[] =>
    world.filesWith(word).filter((file) => file.startsWith(join(temporary.path, 'world', 'views')));

  it('takes an end user or all of an instance out of what was counted, with what was said about it', async () => {
    ok((await rows(0)) > 0 && (await rows(1)) > 0);
    const other = await rows(2);
    ok(other > 0);
    for (const word of WORDS) ok(inViews(word).length > 0, word);
    const both = await Promise.all([erased('END_USER', 0, PERSON), erased('INSTANCE', 1, instanceId(1))]);
    deepEqual(
      both.map(({ receipt }) => receipt?.madeFrom),
      ['FACTS', 'FACTS'],
    );
    deepEqual([await rows(0), await rows(1), await rows(2)], [0, 0, other]);
    for (const word of WORDS) deepEqual(inViews(word), [], word);
  });
});
