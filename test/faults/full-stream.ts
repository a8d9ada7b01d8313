import { equal, match, ok } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { readManifest } from '../../src/store/published/manifest.ts';
import { CONVERSATIONS_STREAM } from '../../src/stream/subjects.ts';
import { Client, faultOf } from '../support/client.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Stack } from './support/stack.ts';

const LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * The stream reaches its limit: ingest answers 503 with Retry-After and loses nothing; once the limit is
 * raised, or the oldest entries are gone, the same processes go on.
 */
export async function fullStream({ long, rounds, seed, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = await Stack.start({ env: { STREAM_MAX_BYTES: String(LIMIT_BYTES) } });
  const connection = await stack.connect();
  try {
    const key = await stack.newKey();
    const client = new Client(stack.url, key);
    const manager = await jetstreamManager(connection.nats);
    const load = await Load.start(stack, key, { long, seed, writers: 2, pauseMs: 20 });
    const processes = MEMBER_NAMES.map((member) => stack.pid(member)).join();
    const [instanceId = ''] = load.instances;
    let limit = LIMIT_BYTES;
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) load.resume();
      let kept = 0;
      const { instanceId: filler } = await client.ingest({ messages: [{ content: 'To begin with.' }] });
      kept += 1;
      // Nothing that compression could make smaller.
      const noise = (): object => ({
        instanceId: filler,
        messages: [{ content: randomBytes(150_000).toString('base64') }],
      });
      let answer = await client.post(noise());
      while (answer.status === 200) {
        kept += 1;
        answer = await client.post(noise());
      }
      match(faultOf(answer, 503, 'SERVICE_UNAVAILABLE').message, /stream is full/);
      ok(Number(answer.headers.get('retry-after')) > 0);
      const asked = performance.now();
      await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' });
      ok(performance.now() - asked < 5000, 'a query waited');
      // What is small may still have had room: the writers come to their end too, or are accepted.
      const how = round % 2 === 1 ? 'the limit was raised' : 'the oldest entries were removed';
      if (round % 2 === 1) {
        limit *= 2;
        const { config } = await manager.streams.info(CONVERSATIONS_STREAM);
        await manager.streams.update(CONVERSATIONS_STREAM, { ...config, max_bytes: limit });
      } else {
        // What was not yet applied must stay.
        const { state } = await manager.streams.info(CONVERSATIONS_STREAM);
        await stack.until(
          () => (readManifest(stack.shardDirectory())?.seq ?? 0) >= state.last_seq,
          () => 'the worker did not come to the end of the stream',
        );
        await manager.streams.purge(CONVERSATIONS_STREAM, { keep: 20 });
      }
      const startedAt = performance.now();
      await load.probe();
      recovered(figures, 'ingest', performance.now() - startedAt);
      const { position } = await client.ingest({ instanceId: filler, messages: [{ content: 'And on.' }] });
      kept += 1;
      await load.pause();
      await load.settle();
      const rows = await client.rows(
        { instanceId: filler, groupBy: 'SESSION', fields: 'messages', limit: 10_000 },
        position,
      );
      equal(
        rows.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0),
        kept,
      );
      equal(MEMBER_NAMES.map((member) => stack.pid(member)).join(), processes);
      figures.rounds += 1;
      say(`round ${round}: full after ${kept} large messages; ${how}`);
    }
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    await connection.close();
    await stack.stop();
  }
}

const MEMBER_NAMES = ['nats', 'web', 'worker'] as const;
