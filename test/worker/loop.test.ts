import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { digestOfEntry } from '../../src/stream/log/log-reader.ts';
import { temporaryDirectory, openFixture, uuid, VIEWS } from '../support/fold.ts';
import type { WorkerLoopOptions } from '../../src/worker/loop.ts';
import {
  AT,
  COUNTING_VIEWS,
  dialogues,
  enricher,
  LoopFixture,
  request,
  rows,
} from '../support/worker-loop.ts';

describe('worker loop', () => {
  let loop: LoopFixture;
  beforeEach(async () => {
    loop = await LoopFixture.open();
  });
  afterEach(() => loop.close());

  it('counts every message of every entry, and shows it when it is done', async () => {
    await loop.work(dialogues);
    deepEqual(await loop.totals(), [{ sessions: 5, users: 3, messages: 36 }]);
    equal(loop.fixture.publication.sequence, 12);
  });

  it('notes what the last entry held, also in views of an earlier version', async () => {
    const directory = temporaryDirectory();
    const open = () => openFixture({ directory: directory.path, views: COUNTING_VIEWS });
    const earlier = await open();
    await earlier.store.connection.run('alter table meta drop column last_entry');
    await earlier.close();
    const fold = await open();
    equal(fold.store.lastEntry, null);
    await loop.work(dialogues, { perBatch: 5, fold });
    await fold.close();
    const again = await open();
    equal(again.store.lastEntry, digestOfEntry(new Uint8Array([dialogues.length - 1])));
    await again.close();
    directory.remove();
  });

  it('counts what it did', async () => {
    const broken = { ...request({ request: 50, contents: ['hello'] }), instanceId: 'no UUID' };
    const counters = await loop.work([...dialogues, [broken], ...dialogues.slice(3, 6)], { perBatch: 4 });
    deepEqual(counters, {
      sequence: 16,
      appliedEntryAt: 16,
      deferredParts: 0,
      batches: 6,
      messages: 36,
      entriesSetAside: 1,
      analysisTimeouts: 0,
      lastProgressAt: AT,
    });
  });

  it('applies a request once, however often it is in the stream', async () => {
    await loop.work([
      ...dialogues,
      ...dialogues.slice(3, 6),
      [...(dialogues[0] as RecordedRequest[]), request({ request: 99, contents: ['hello there'] })],
    ]);
    deepEqual(await loop.totals(), [{ sessions: 6, users: 3, messages: 37 }]);
  });

  it('knows a request again however its id is written', async () => {
    const plain = request({ request: 1, contents: ['hello'] });
    await loop.work([[plain], [{ ...plain, requestId: plain.requestId.replaceAll('-', '').toUpperCase() }]], {
      perBatch: 1,
    });
    deepEqual(await loop.totals(), [{ sessions: 1, users: 1, messages: 1 }]);
  });

  it('ends in the same rows whatever the batches and wherever it was restarted', async () => {
    const atOnce = await LoopFixture.open({ views: VIEWS });
    await atOnce.work(dialogues);
    const whole = await rows(atOnce.fixture);
    await atOnce.close();
    const other = temporaryDirectory();
    for (const until of [2, 3, 7, 12]) {
      const fold = await openFixture({ directory: other.path });
      await loop.work(dialogues.slice(0, until), { perBatch: 2, fold });
      if (until === 12) deepEqual(await rows(fold), whole);
      await fold.close();
    }
    other.remove();
  });

  it('keeps sessions of several instances apart that bear the same id', async () => {
    const [first, second] = [1, 2].map((instance) => ({
      ...request({ request: instance, session: 1, contents: ['where is my parcel', 'on its way'] }),
      instanceId: uuid(9, instance),
    })) as [RecordedRequest, RecordedRequest];
    const again = { ...second, requestId: uuid(8, 3) };
    // In one entry, in entries of one batch, and by a worker that reads the ids back from its database.
    await loop.work([[first, second]]);
    await loop.fixture.restart();
    await loop.work([[first, second], [again], [{ ...first, requestId: uuid(8, 4) }]]);
    deepEqual(loop.aside, []);
    const sessions = `select instance, messages from session_rollup where granularity = 4 order by instance`;
    deepEqual(await loop.fixture.store.connection.all(sessions), [
      { instance: 1, messages: 4 },
      { instance: 2, messages: 4 },
    ]);
  });

  it('shows what came right after a publication without waiting for more', async () => {
    const { publication } = loop.fixture;
    let calls = 0;
    const worker = loop.make({
      source: {
        next: async () => {
          calls += 1;
          if (calls <= 2)
            return [{ sequence: calls, subject: 's', timestamp: 0, bytes: new Uint8Array([calls - 1]) }];
          // A quiet stream: nothing more comes until the second entry is visible.
          while (publication.sequence < 2) await new Promise((resolve) => setImmediate(resolve));
          worker.stop();
          return [];
        },
      },
      decode: (bytes) => dialogues[bytes[0] as number] as RecordedRequest[],
      waitMs: 1e9,
      publishEveryMs: 20,
    });
    await worker.run();
    equal(publication.sequence, 2);
  });

  /** Works on twenty entries of one message each, and returns how many messages each batch had. */
  async function batchesOf(contentLength: number, bounds: Partial<WorkerLoopOptions>): Promise<number[]> {
    const sent = Array.from({ length: 20 }, (_, number) =>
      request({ request: number + 1, contents: [`${'x'.repeat(contentLength)} ${number}`] }),
    );
    const payloads = await Promise.all(sent.map((one) => encodeRecord([encodeRequest(one)])));
    const sizes: number[] = [];
    let left = payloads.map((bytes, index) => ({ sequence: index + 1, subject: 's', timestamp: 0, bytes }));
    const worker = loop.make({
      source: {
        next: () => {
          const delivered = left;
          left = [];
          if (delivered.length === 0) worker.stop();
          return Promise.resolve(delivered);
        },
      },
      decode: (bytes) => decodeRecord(bytes).requests,
      enricher: {
        enrich: (messages) => {
          sizes.push(messages.length);
          return enricher.enrich(messages.map(({ role }) => ({ role, content: 'hello' })));
        },
      },
      ...bounds,
    });
    await worker.run();
    deepEqual(await loop.totals(), [{ sessions: 20, users: 3, messages: 20 }]);
    return sizes.filter((size) => size > 0);
  }

  it('bounds a batch by what its entries inflate to', async () => {
    // All of them together are not even 3 KB in the stream.
    deepEqual(await batchesOf(90_000, { maxBytes: 300_000 }), [3, 3, 3, 3, 3, 3, 2]);
  });

  it('bounds a batch by its messages', async () => {
    deepEqual(await batchesOf(1, { enoughMessages: 7 }), [7, 7, 6]);
  });
});
