import { describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import type { RecordedRequest } from '../../src/domain/records.ts';
import type { DeferredPart } from '../../src/store/live/batch.ts';
import { readManifest } from '../../src/store/published/manifest.ts';
import type { Delivered } from '../../src/stream/log/consumer.ts';
import { BatchSize } from '../../src/worker/batch-size.ts';
import { FairShare, Room } from '../../src/worker/fair-share.ts';
import { workOf, workOfMessage } from '../../src/worker/work.ts';
import { Random } from '../faults/support/random.ts';
import { openFixture, temporaryDirectory, uuid } from '../support/fold.ts';
import { COUNTING_VIEWS, LoopFixture, request } from '../support/worker-loop.ts';

const GREEDY = uuid(9, 1);
const OTHER = uuid(9, 2);

const requestOf = (instanceId: string, number: number, messages: number): RecordedRequest => ({
  ...request({
    request: number,
    contents: Array.from({ length: messages }, (_, index) => `parcel ${index}`),
  }),
  projectId: instanceId,
  instanceId,
});

/** A stream in memory: the entry of sequence n stands at n − 1. */
function streamOf(entries: readonly (readonly RecordedRequest[])[]): {
  readonly delivered: (sequence: number) => Delivered;
  readonly decode: (bytes: Uint8Array) => readonly RecordedRequest[];
  readonly fetched: number[];
  readonly fetch: (sequence: number) => Promise<Delivered | null>;
} {
  const delivered = (sequence: number): Delivered => ({
    sequence,
    subject: 's',
    timestamp: sequence * 1000,
    bytes: new Uint8Array([sequence & 255, (sequence >> 8) & 255, sequence >> 16]),
  });
  const fetched: number[] = [];
  return {
    delivered,
    decode: ([low = 0, mid = 0, high = 0]) => entries[low + 256 * mid + 65536 * high - 1] ?? [],
    fetched,
    fetch: (sequence) => {
      fetched.push(sequence);
      return Promise.resolve(delivered(sequence));
    },
  };
}

/** What an entry holds, in words: instance, message numbers in its request, and place among the entry's messages. */
const inWords = ({ requests, places }: ReturnType<FairShare['divide']>): string[] =>
  requests.map(({ instanceId, messages }, number) => {
    const { from = 0, index = 0 } = places?.[number] ?? {};
    const who = instanceId === GREEDY ? 'greedy' : 'other';
    return `${who} ${from}+${messages.length} at ${index}`;
  });

describe('turns of the instances', () => {
  it('take up the share of each, and put off the rest of those who have more', async () => {
    const entries = [
      [requestOf(GREEDY, 1, 3), requestOf(OTHER, 2, 2), requestOf(GREEDY, 3, 4)],
      [requestOf(GREEDY, 4, 1), requestOf(OTHER, 5, 1)],
    ];
    const { delivered, decode, fetch } = streamOf(entries);
    const share = new FairShare({ parts: [], fetch, decode, wholeUpTo: 1 });
    const room = new Room(8);
    const first = entries.map((requests, place) => share.divide(delivered(place + 1), requests, room));
    deepEqual(first.map(inWords), [
      ['greedy 0+3 at 0', 'other 0+2 at 3', 'greedy 0+1 at 5'],
      ['other 0+1 at 1'],
    ]);
    deepEqual(
      first.flatMap(({ deferral }) => deferral?.left ?? []),
      [
        { projectId: GREEDY, instanceId: GREEDY, sequence: 1, place: 2, message: 1, storedAt: 1000 },
        { projectId: GREEDY, instanceId: GREEDY, sequence: 2, place: 0, message: 0, storedAt: 2000 },
      ],
    );
    equal(share.isBehind(GREEDY), true);
    equal(share.isBehind(OTHER), false);
    equal(share.oldestAt, 1000);
    const second = await share.next(2);
    deepEqual(second.entries.map(inWords), [['greedy 1+2 at 6']]);
    deepEqual(second.entries[0]?.deferral, {
      taken: [{ instanceId: GREEDY, sequence: 1 }],
      left: [{ projectId: GREEDY, instanceId: GREEDY, sequence: 1, place: 2, message: 3, storedAt: 1000 }],
    });
    const third = await share.next(5);
    deepEqual(third.entries.map(inWords), [['greedy 3+1 at 8'], ['greedy 0+1 at 0']]);
    equal(share.waiting, 0);
    equal(share.isBehind(GREEDY), false);
  });

  it('put off everything that comes of whoever is behind, whatever the share', () => {
    const parts: DeferredPart[] = [
      { projectId: GREEDY, instanceId: GREEDY, sequence: 1, place: 0, message: 0, storedAt: 0 },
    ];
    const entries = [[requestOf(GREEDY, 1, 1)], [requestOf(GREEDY, 2, 1), requestOf(OTHER, 3, 1)]];
    const { delivered, decode, fetch } = streamOf(entries);
    const share = new FairShare({ parts, fetch, decode, wholeUpTo: 1 });
    deepEqual(inWords(share.divide(delivered(2), entries[1] ?? [], new Room(200))), ['other 0+1 at 1']);
    equal(share.waiting, 2);
  });

  it('divide no request that its sender may look for as a whole', async () => {
    const entries = [[requestOf(GREEDY, 1, 3), requestOf(GREEDY, 2, 500), requestOf(GREEDY, 3, 501)]];
    const { delivered, decode, fetch } = streamOf(entries);
    const share = new FairShare({ parts: [], fetch, decode });
    deepEqual(inWords(share.divide(delivered(1), entries[0] ?? [], new Room(8))), [
      'greedy 0+3 at 0',
      'greedy 0+500 at 3',
    ]);
    deepEqual((await share.next(400)).entries.map(inWords), [['greedy 0+400 at 503']]);
    deepEqual((await share.next(400)).entries.map(inWords), [['greedy 400+101 at 903']]);
  });

  it('go round: whoever had one comes after all others, and each gets as much', async () => {
    const instances = Array.from({ length: 20 }, (_, number) => uuid(9, number + 1));
    const entries = instances.flatMap((instanceId, number) => [[requestOf(instanceId, number, 6)]]);
    const { decode, fetch } = streamOf(entries);
    const parts = instances.map((instanceId, place) => ({
      projectId: instanceId,
      instanceId,
      sequence: place + 1,
      place: 0,
      message: 0,
      storedAt: 0,
    }));
    const share = new FairShare({ parts, fetch, decode, wholeUpTo: 1 });
    const turns: string[] = [];
    for (let round = 0; round < 5; round += 1)
      for (const { requests } of (await share.next(16)).entries)
        turns.push(`${instances.indexOf(requests[0]?.instanceId ?? '') + 1}x${requests[0]?.messages.length}`);
    deepEqual(
      turns.slice(0, 20),
      instances.map((_, number) => `${number + 1}x2`),
    );
    deepEqual(
      turns.slice(20),
      instances.map((_, number) => `${number + 1}x2`),
    );
  });

  it('measure shares in work: long texts count for more than short ones', async () => {
    equal(workOfMessage({ content: 'a' }), 1);
    equal(workOfMessage({ content: 'where is my parcel' }), 2);
    equal(workOfMessage({ content: 'a'.repeat(8000) }), workOfMessage({ content: 'a'.repeat(2048) }));
    const long = requestOf(GREEDY, 1, 20);
    const texts = long.messages.map((message) => ({ ...message, content: 'parcel '.repeat(1500) }));
    const { delivered, decode, fetch } = streamOf([[{ ...long, messages: texts }]]);
    const share = new FairShare({ parts: [], fetch, decode });
    // Few enough messages to stay together, but too many characters.
    deepEqual(inWords(share.divide(delivered(1), [{ ...long, messages: texts }], new Room(800))), [
      'greedy 0+4 at 0',
    ]);
    deepEqual((await share.next(400)).entries.map(inWords), [['greedy 4+4 at 4']]);
  });

  it('let nobody wait for another project, however it divides what it sends', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = new Random(seed);
      const size = random.between(500, 2000);
      // As many instances as there are, and requests of any size, ten times what can be done.
      const instances = random.pick([1, 3, 40, 400]);
      const most = random.pick([1, 20, 100]);
      const entries: RecordedRequest[][] = [];
      const { delivered, decode, fetch } = streamOf(entries);
      const share = new FairShare({ parts: [], fetch, decode });
      const work: Record<string, number> = {};
      for (let round = 0; round < 15; round += 1) {
        const from = entries.length;
        for (let sent = 0; sent < 10 * size && entries.length < from + 400;) {
          const request = requestOf(
            uuid(8, random.between(1, instances)),
            entries.length,
            random.between(1, most),
          );
          // Both send as much; one of them from a single instance.
          for (const sender of [
            { ...request, projectId: 'many' },
            { ...request, projectId: 'one', instanceId: uuid(7, 1) },
          ])
            entries.push([sender]);
          sent += request.messages.length;
        }
        entries.push([{ ...requestOf(OTHER, entries.length, 1), projectId: 'victim' }]);
        const room = new Room(size);
        const fresh = entries
          .slice(from)
          .map((requests, place) => share.divide(delivered(from + place + 1), requests, room));
        const turn = await share.next(size);
        equal(share.isBehind(OTHER), false, `seed ${seed}, round ${round}`);
        const taken = [...fresh, ...turn.entries].flatMap(({ requests }) => requests);
        equal(workOf(taken) <= 2.5 * size + 4 * most, true, `seed ${seed}: ${workOf(taken)} of ${size}`);
        for (const request of taken)
          work[request.projectId] = (work[request.projectId] ?? 0) + workOf([request]);
      }
      const ratio = work['many']! / work['one']!;
      equal(ratio > 0.5 && ratio < 2, true, `seed ${seed}: ${JSON.stringify(work)}`);
    }
  });

  it('read an entry once, however many turns it takes', async () => {
    const { decode, fetch, fetched } = streamOf([[requestOf(GREEDY, 1, 40)]]);
    const parts = [{ projectId: GREEDY, instanceId: GREEDY, sequence: 1, place: 0, message: 0, storedAt: 0 }];
    const share = new FairShare({ parts, fetch, decode, wholeUpTo: 1 });
    while (share.waiting > 0) await share.next(10);
    deepEqual(fetched, [1]);
  });

  it('pass over what the stream no longer holds, and say so', async () => {
    const gone: number[] = [];
    const parts = [{ projectId: GREEDY, instanceId: GREEDY, sequence: 7, place: 0, message: 0, storedAt: 0 }];
    const fetch = (): Promise<null> => Promise.resolve(null);
    const share = new FairShare({
      parts,
      fetch,
      decode: () => [],
      onGone: ({ sequence }) => gone.push(sequence),
    });
    const { entries } = await share.next(10);
    deepEqual(
      entries.map(({ deferral }) => deferral),
      [{ taken: [{ instanceId: GREEDY, sequence: 7 }], left: [] }],
    );
    deepEqual(gone, [7]);
    equal(share.waiting, 0);
  });
});

describe('a worker that lets instances take turns', () => {
  const entries = [
    ...Array.from({ length: 6 }, (_, number) => [requestOf(GREEDY, number + 1, 10)]),
    [requestOf(OTHER, 20, 2)],
  ];

  /**
   * Works until nothing waits, or so many batches are committed; the instances and messages of each batch. `late`: an
   * entry that comes after the first batch.
   */
  async function work(
    loop: LoopFixture,
    of = loop.fixture,
    most = Infinity,
    late: readonly RecordedRequest[] = [],
    first: readonly (readonly RecordedRequest[])[] = entries,
  ): Promise<Record<string, number>[]> {
    const all = late.length === 0 ? first : [...first, late];
    const { delivered, decode, fetch } = streamOf(all);
    const batches: Record<string, number>[] = [];
    let next = of.store.sequence;
    const commit = of.store.commit.bind(of.store);
    of.store.commit = async (batch, how) => {
      await commit(batch, how);
      const counts: Record<string, number> = {};
      for (const { instance } of batch.assignment.messages) counts[instance] = (counts[instance] ?? 0) + 1;
      batches.push(counts);
      if (batches.length >= most) worker.stop();
    };
    const worker = loop.make({
      source: {
        next: ({ maxMessages }) => {
          const end = batches.length === 0 ? first.length : all.length;
          const size = Math.min(maxMessages, end - next);
          const found = Array.from({ length: size }, (_, index) => delivered(next + index + 1));
          next += size;
          return Promise.resolve(found);
        },
        fetch,
      },
      decode,
      wholeUpTo: 1,
      batchSize: { work: 8, newWork: 8, noteSender: () => undefined, took: () => undefined },
      alerts: { committed: () => undefined, published: () => undefined, idle: () => worker.stop() },
      store: of.store,
      publication: of.publication,
    });
    await worker.run();
    return batches;
  }

  it('counts a message at once although sixty of another instance came before it', async () => {
    const loop = await LoopFixture.open();
    const batches = await work(loop);
    // The share of the first instance, and all that the second has.
    deepEqual(batches[0], { 1: 4, 2: 2 });
    deepEqual(await loop.totals(), [{ sessions: 7, users: 4, messages: 62 }]);
    await loop.close();
  });

  it('applies what comes of others before the next turn of whoever is behind, in a batch of its own', async () => {
    const loop = await LoopFixture.open();
    const late = [requestOf(OTHER, 21, 1), requestOf(GREEDY, 22, 1)];
    const batches = await work(loop, loop.fixture, Infinity, late);
    // A share and the turn that was taken up when it came; then the other instance's message, then the next turn.
    deepEqual(batches.slice(0, 4), [{ 1: 4, 2: 2 }, { 2: 1 }, { 1: 8 }, { 1: 8 }]);
    deepEqual(await loop.totals(), [{ sessions: 9, users: 5, messages: 64 }]);
    await loop.close();
  });

  it('goes on where it was stopped, and counts nothing twice', async () => {
    const loop = await LoopFixture.open();
    const other = temporaryDirectory();
    for (const most of [1, 2, 1, 3, Infinity]) {
      const fold = await openFixture({ directory: other.path, views: COUNTING_VIEWS });
      await work(loop, fold, most);
      if (most === Infinity) deepEqual(await loop.totals(fold), [{ sessions: 7, users: 4, messages: 62 }]);
      await fold.close();
    }
    other.remove();
    await loop.close();
  });

  it('shows of whom something waits, so that nobody is told that it is counted', async () => {
    const loop = await LoopFixture.open();
    await work(loop, loop.fixture, 1);
    const { reader } = loop.fixture;
    equal(await reader.waitFor(7, 0, OTHER), true);
    equal(await reader.waitFor(1, 0, GREEDY), false);
    equal(await reader.waitFor(1, 0), false);
    const snapshot = await reader.snapshot();
    deepEqual([snapshot?.sequence, [...(snapshot?.behind ?? [])]], [0, [GREEDY]]);
    snapshot?.release();
    await loop.close();
  });

  it('applies nothing while it is paused, deferred entries neither', async () => {
    const loop = await LoopFixture.open();
    await work(loop, loop.fixture, 1);
    await loop.fixture.restart();
    const { decode, fetch } = streamOf(entries);
    const before = await loop.totals();
    let pauses = 3;
    const worker = loop.make({
      source: {
        next: () => Promise.resolve([]),
        fetch,
        isPaused: () => pauses > 0,
      },
      decode,
      wholeUpTo: 1,
      waitMs: 1,
      alerts: {
        committed: () => equal(pauses, 0),
        published: () => {
          pauses = Math.max(0, pauses - 1);
        },
        // Idle means that no entry waits.
        idle: () => {
          equal(pauses, 0);
          worker.stop();
        },
      },
    });
    await worker.run();
    deepEqual(before, [{ sessions: 2, users: 2, messages: 6 }]);
    deepEqual(await loop.totals(), [{ sessions: 7, users: 4, messages: 62 }]);
    await loop.close();
  });

  it('stops at once during a pause when its source closes', { timeout: 20_000 }, async () => {
    const loop = await LoopFixture.open();
    const closing = new AbortController();
    const worker = loop.make({
      source: {
        next: () => Promise.resolve([]),
        isPaused: () => {
          setImmediate(() => {
            worker.stop();
            closing.abort();
          });
          return true;
        },
        closing: closing.signal,
      },
      decode: () => [],
      waitMs: 60_000,
    });
    await worker.run();
    await loop.close();
  });

  it('publishes how many entries wait, whatever the number of their parts', async () => {
    const loop = await LoopFixture.open();
    // One entry with more of each instance than its share.
    await work(loop, loop.fixture, 1, [], [[requestOf(GREEDY, 1, 40), requestOf(OTHER, 2, 40)]]);
    const { deferred, behind = {} } = readManifest(loop.fixture.directory) ?? {};
    deepEqual([deferred, Object.keys(behind)], [1, [GREEDY, OTHER]]);
    await loop.close();
  });
});

describe('the size of a batch', () => {
  it('follows what it takes, and shrinks while others wait', () => {
    const size = new BatchSize(20_000);
    deepEqual([size.work, size.newWork], [2000, 2000]);
    size.took(2000, 300, 0);
    // Nobody is heard: turns are larger, what is new is not.
    deepEqual([size.work, size.newWork], [13_333, 2000]);
    size.took(13_333, 1000, 0);
    deepEqual([size.work, size.newWork], [20_000, 4000]);
    size.took(10, 1, 1);
    equal(size.newWork, 4000);
    size.noteSender(2);
    deepEqual([size.work, size.newWork], [4000, 4000]);
    size.took(4000, 600, 3);
    equal(size.work < 2500, true, `${size.work}`);
    for (let turn = 0; turn < 20; turn += 1) size.took(2000, 100_000, 5);
    equal(size.work, 1000);
    for (let turn = 0; turn < 20; turn += 1) size.took(20_000, 1, 70_000);
    deepEqual([size.work, size.newWork], [20_000, 8000]);
  });

  it('does not grow while others wait, however long the backlog is', () => {
    const size = new BatchSize(20_000);
    for (let turn = 0; turn < 1000; turn += 1) {
      size.noteSender(turn);
      // The views grow, too.
      const fixed = 80 + turn / 20;
      size.took(size.work, fixed + size.work / 10, turn);
    }
    equal(size.work < 3000, true, `${size.work}`);
  });

  it('never shrinks to where a batch takes as long as an empty one', () => {
    const size = new BatchSize(20_000);
    // A third of a second for the statements, and a tenth of a millisecond for each message.
    for (let turn = 0; turn < 50; turn += 1) {
      size.noteSender(turn);
      size.took(size.work, 330 + size.work / 10, turn);
    }
    equal(size.work > 2000, true, `${size.work}`);
  });
});
