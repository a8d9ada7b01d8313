/** How much memory does a worker need for many instances of which few are active, and how fast is a quiet one back? */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { v5 } from 'uuid';
import { action, UsageError, wholeNumber, type Command } from '../../src/cli/command.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { silentLogger } from '../../src/logger.ts';
import { Publication } from '../../src/store/published/publication.ts';
import { StateStore } from '../../src/store/live/state-store.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { AnalysisPool } from '../../src/reader/threads/pool.ts';
import { WorkerLoop } from '../../src/worker/loop.ts';
import { loadConfig } from '../../src/config.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { MarksInMemory, NO_NOTES } from '../../test/support/notes.ts';
import { requestsOf } from '../../test/support/replays.ts';
import { randomFrom } from './load/questions.ts';
import { table, verdict } from './load/table.ts';

const MODELS = join(import.meta.dirname, '../../models');
const NAMESPACE = '3a7f0a52-5d0c-4a4e-9b39-0d6a2b9f6f22';
const BATCH = 500;
const LARGE_MESSAGES = 10_000;
const LARGE_MESSAGE_LENGTH = 3000;
const LOOK_MS = 100;
/** What may be left of large entries, over what was there before. */
const LEFT = 1.5;
const TARGETS = { residentBytes: 1.2e9, restoreMs: 5 };
const START = Date.UTC(2026, 0, 1) * 1000;

const USAGE = `Usage: npm run bench -- worker-memory [OPTIONS]

How much memory does a worker need for many instances of which few are active, and how fast does it restore a quiet one?

Runs a worker's loop in this process, with the model that ships, over messages of the demo's conversations: first two to
each instance, then as many again to the active ones in each round. At the end, quiet instances are read from the views
and restored one by one. Start it with the settings of the Procfile's worker.

  --instances N   default: 100000
  --active N      active share of them, 0 to 1 (default: 0.01)
  --rounds N      rounds of messages to the active ones (default: 5)
  --restores N    quiet instances to restore (default: 200)
  --large N       instead of all that: N entries of 30 MB, then nothing for a while
  --idle N        length of that while in seconds (default: 60)
  --json          print the figures as JSON`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      instances: { type: 'string', default: '100000' },
      active: { type: 'string', default: '0.01' },
      rounds: { type: 'string', default: '5' },
      restores: { type: 'string', default: '200' },
      large: { type: 'string', default: '0' },
      idle: { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
    },
    read(values) {
      const active = Number(values.active);
      if (!(active > 0 && active <= 1)) throw new UsageError('--active takes a share above 0, up to 1.');
      const { json } = values;
      const entries = wholeNumber('--large', values.large, 0);
      const idle = wholeNumber('--idle', values.idle, 0);
      const options = {
        instances: wholeNumber('--instances', values.instances),
        active,
        rounds: wholeNumber('--rounds', values.rounds, 0),
        restores: wholeNumber('--restores', values.restores),
        json,
      };
      return () =>
        measure((bench) => (entries > 0 ? large(bench, entries, idle, json) : many(bench, options)));
    },
  }),
};

async function measure(work: (bench: Bench) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const analysis = await AnalysisPool.open({ threads: 1, model: 'undertone-small', modelsDirectory: MODELS });
  const store = await StateStore.open({
    directory,
    views: VIEWS,
    analysis: 'bench',
    threads: 1,
    memoryBytes: loadConfig().stateMemoryBytes,
    spillDirectory: join(directory, 'spill'),
  });
  const publication = new Publication({
    store,
    graceMs: 0,
    compactRows: 20_000,
    compactRatio: 8,
    now: () => performance.now(),
    onError: (error) => {
      throw error;
    },
  });
  try {
    await work(new Bench(store, publication, analysis));
  } finally {
    await publication.close();
    await store.close();
    await analysis.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Many {
  readonly instances: number;
  readonly active: number;
  readonly rounds: number;
  readonly restores: number;
  readonly json: boolean;
}

/** Many instances, then a few of them. */
async function many(bench: Bench, { instances, active, rounds, restores, json }: Many): Promise<void> {
  const started = megabytes();
  console.error(`${started} MB at the start; ${instances} instances, two messages each`);
  const startedAt = performance.now();
  await bench.work(Array.from({ length: instances }, (_, instance) => instance));
  const touched = megabytes();
  const perSecond = Math.round((2 * instances) / ((performance.now() - startedAt) / 1000));
  const usage = process.cpuUsage();
  const seconds = Math.round((usage.user + usage.system) / 1e6);
  console.error(
    `${touched} MB when all are counted (${perSecond} messages/s, ${seconds} s of processor time)`,
  );
  const busy = Array.from({ length: Math.ceil(instances * active) }, (_, number) =>
    Math.floor(number / active),
  );
  for (let round = 0; round < rounds; round += 1) {
    await bench.work(busy);
    console.error(`${megabytes()} MB after round ${round + 1} of ${busy.length} active instances`);
  }
  const resident = megabytes();
  const restored = await bench.restore(restores, instances);
  const [p50, p95] = [quantile(restored, 0.5), quantile(restored, 0.95)];
  const result = { instances, started, touched, resident, restoreP50: p50, restoreP95: p95 };
  if (json) return console.log(JSON.stringify(result, null, 2));
  console.log(
    table(
      [`${instances} instances, ${active * 100} % active`, 'figure', 'target'],
      [
        [
          'resident memory',
          `${resident} MB (${touched} MB when all had been touched)`,
          `≤ ${TARGETS.residentBytes / 1e6} MB ${verdict(resident * 1e6 <= TARGETS.residentBytes)}`,
        ],
        ['a quiet instance comes back, p50', `${p50.toFixed(1)} ms`, ''],
        [
          'a quiet instance comes back, p95',
          `${p95.toFixed(1)} ms`,
          `≤ ${TARGETS.restoreMs} ms ${verdict(p95 <= TARGETS.restoreMs)}`,
        ],
      ],
    ),
  );
}

/** A little work, large entries, then nothing. */
async function large(bench: Bench, entries: number, idleSeconds: number, json: boolean): Promise<void> {
  await bench.work(Array.from({ length: 1000 }, (_, instance) => instance));
  const before = megabytes();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, megabytes());
  }, LOOK_MS);
  await bench.workLarge(entries);
  clearInterval(timer);
  console.error(`${before} MB before, ${peak} MB at the peak, ${megabytes()} MB at its end`);
  // As an idle worker does, which looks for entries once a second.
  for (let second = 0; second < idleSeconds; second += 1) {
    await sleep(1000);
    bench.idle();
  }
  const after = megabytes();
  if (json) return console.log(JSON.stringify({ entries, before, peak, after }, null, 2));
  console.log(
    table(
      [`${entries} entries of 30 MB`, 'figure', 'target'],
      [
        ['resident memory before', `${before} MB`, ''],
        ['at the peak', `${peak} MB`, ''],
        [`after ${idleSeconds} s`, `${after} MB`, `≤ ${LEFT} times ${verdict(after <= LEFT * before)}`],
      ],
    ),
  );
}

function megabytes(): number {
  return Math.round(process.memoryUsage.rss() / 1e6);
}

class Bench {
  readonly #store: StateStore;
  readonly #publication: Publication;
  readonly #analysis: AnalysisPool;
  readonly #messages = requestsOf({ instances: 1, messages: 1 }).map(({ messages }) => messages[0]);
  #requests = 0;

  constructor(store: StateStore, publication: Publication, analysis: AnalysisPool) {
    this.#store = store;
    this.#publication = publication;
    this.#analysis = analysis;
  }

  /** Two messages to each of these instances, in a session of their own. */
  async work(instances: readonly number[]): Promise<void> {
    await this.#run(
      instances.length,
      (index) => Buffer.from(String(index)),
      (bytes) => [this.#request(instances[Number(Buffer.from(bytes).toString())] as number, 2)],
    );
  }

  /** Nothing comes in. */
  idle(): void {
    this.#analysis.idleCollection.idle();
  }

  /** Entries as the stream has them. */
  async workLarge(count: number): Promise<void> {
    for (let entry = 0; entry < count; entry += 1) {
      const request = this.#request(entry, LARGE_MESSAGES, LARGE_MESSAGE_LENGTH);
      const bytes = await encodeRecord([encodeRequest(request)]);
      await this.#run(
        1,
        () => bytes,
        (payload) => decodeRecord(payload).requests,
      );
    }
  }

  async #run(
    count: number,
    payload: (index: number) => Uint8Array,
    decode: (bytes: Uint8Array) => readonly RecordedRequest[],
  ): Promise<void> {
    const shard = this.#analysis.forShard(0);
    const first = this.#store.sequence;
    let next = 0;
    const loop: WorkerLoop = new WorkerLoop({
      source: {
        next: () => {
          const size = Math.min(BATCH, count - next);
          const entries = Array.from({ length: size }, (_, index) => ({
            sequence: first + next + index + 1,
            subject: '',
            timestamp: 0,
            bytes: payload(next + index),
          }));
          next += size;
          if (size === 0) loop.stop();
          return Promise.resolve(entries);
        },
      },
      decode,
      store: this.#store,
      publication: this.#publication,
      enricher: shard,
      assigner: shard,
      notes: NO_NOTES,
      marks: new MarksInMemory(),
      setAside: (_, reason) => Promise.reject(new Error(reason)),
      logger: silentLogger(),
      now: () => Date.now() * 1000,
      maxEntries: BATCH,
      maxBytes: 16 * 2 ** 20,
      waitMs: 0,
      publishEveryMs: 1000,
    });
    await loop.run();
    // Without closing the shard, which would forget what the thread remembers.
  }

  /** Milliseconds for each of so many instances, chosen at random, to be read and restored. */
  async restore(count: number, instances: number): Promise<number[]> {
    // The worker's thread has them, and only that one.
    const { Assigner } = await import('../../src/reader/threads/assigner.ts');
    const { detectLanguage } = await import('../../src/reader/document/detect.ts');
    const { dimensions } = this.#analysis.model;
    const assigner = new Assigner({
      thresholds: { micro: 0.7, topic: 0.42, cluster: 0.22, repeated: 0.55 },
      dimensions,
      detectLanguage,
    });
    const random = randomFrom(3);
    const times: number[] = [];
    for (let number = 0; number < count; number += 1) {
      const instance = 1 + Math.floor(random() * instances);
      const startedAt = performance.now();
      const states = await this.#store.loadInstanceStates([instance]);
      assigner.restoreInstance(instance, v5(String(instance), NAMESPACE), states.get(instance) ?? []);
      times.push(performance.now() - startedAt);
    }
    return times;
  }

  #request(instance: number, messages: number, length = 0): RecordedRequest {
    this.#requests += 1;
    const at = START + this.#requests * 1_000_000;
    let place = this.#requests * 7;
    const text = (): string => {
      let content = '';
      do content += this.#messages[place++ % this.#messages.length]?.content ?? '';
      while (content.length < length);
      return content;
    };
    return {
      requestId: v5(`request ${this.#requests}`, NAMESPACE),
      projectId: v5('project', NAMESPACE),
      instanceId: v5(`instance ${instance}`, NAMESPACE),
      sessionId: v5(`session ${this.#requests}`, NAMESPACE),
      acceptedAt: at,
      messages: Array.from({ length: messages }, (_, index) => ({
        role: 'user',
        content: text(),
        userId: `user ${instance}`,
        at: at + index,
      })),
    };
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
