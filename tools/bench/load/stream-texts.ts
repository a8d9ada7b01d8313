/** Covered by test/tools/bench/run.test.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { positionOf } from '../../../src/domain/records.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { encodeRequest } from '../../../src/stream/log/codec.ts';
import { MessageTexts, type ReadMessage } from '../../../src/stream/log/message-texts.ts';
import { createPublisher } from '../../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { SYNTHETIC_IDS } from '../../../test/support/synthetic-stream.ts';
import { startNats } from './service.ts';

const ENTRIES = 2000;
const TEXT =
  'I ordered a blue blender last week and it still has not arrived. Where is it right now? '.repeat(3);

/** Texts for a synthetic history, which has no stream: each message reads an entry of its own of a real one. */
export interface StreamTexts {
  read(positions: readonly number[]): Promise<ReadonlyMap<number, ReadMessage>>;
  /** Milliseconds of each `read` so far. */
  readonly taken: number[];
  close(): Promise<void>;
}

export async function openStreamTexts(): Promise<StreamTexts> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const nats = await startNats(folder);
  const connection = await openConnection({ url: nats.url, token: () => nats.token, name: 'bench' });
  await setUpStreams(connection);
  await fill(connection);
  const texts = new MessageTexts(() => connection);
  const taken: number[] = [];
  const entryOf = (position: number): number => positionOf((position % ENTRIES) + 1, 0);
  return {
    taken,
    async read(positions) {
      const startedAt = performance.now();
      const read = await texts.read([...new Set(positions.map(entryOf))]);
      taken.push(performance.now() - startedAt);
      return new Map(
        positions.map((position) => {
          const found = read.get(entryOf(position));
          if (found === undefined || !('message' in found)) throw new Error(`no text at ${position}`);
          return [position, found];
        }),
      );
    },
    async close() {
      await connection.close();
      await nats.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Entries of one message each. */
async function fill(connection: StreamConnection): Promise<void> {
  const publisher = createPublisher(connection, { maxPendingBytes: 64 * 2 ** 20 });
  const id = SYNTHETIC_IDS.instance(1);
  const request = { projectId: id, instanceId: id, sessionId: id, acceptedAt: 0 };
  for (let entry = 0; entry < ENTRIES; entry += 1) {
    const messages = [{ content: TEXT, role: 'user', userId: 'ada', at: 0 }];
    await publisher.publish(encodeRequest({ ...request, requestId: String(entry), messages }));
  }
  await publisher.drain();
}
