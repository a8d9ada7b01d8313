/**
 * Replays the stream into a build of the views beside the live ones. Keeps the invariant that a switch never takes a
 * caller back: the build has all that the live views have published.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import {
  prepareActiveEpoch,
  shardDirectory,
  switchedWithin,
  type ActiveEpoch,
  type Epoch,
} from '../../store/epochs/epochs.ts';
import { endPause, requestPause } from '../../store/epochs/pause.ts';
import { readManifest } from '../../store/published/manifest.ts';
import type { StreamArchive } from '../../stream/archive/archive-consumer.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { lastSequenceOf, readExtent } from '../../stream/log/consumer.ts';
import { overlapOf, partitionsOf } from '../../stream/subjects.ts';
import type { AnalysisPool } from '../../reader/threads/pool.ts';
import { count, messagesPerSecond, type Progress } from '../../domain/progress.ts';
import { openShard, type Shard } from '../shard.ts';
import { ReplaySource, type Pull, type ReplaySourceOptions } from './replay-source.ts';

/** A fold costs more for each statement than for each row, so batches are large. */
const BATCH_BYTES = 2 ** 20;
const WAIT_MS = 500;
/** Far behind, a publication serves no reader. */
const SELDOM_MS = 600_000;
/** Beside the live views, the build publishes as often as the worker. */
const OFTEN_MS = 150;
const LOOK_MS = 25;
/** Beside the live views, batches are small, because a switch waits for the batch in work. */
const FOLLOW_BATCH_BYTES = 2 ** 18;
/** With a throttle, a batch holds the messages of about this time, so that bursts are short. */
const BURST_MS = 250;
const SMALL_BATCH_BYTES = 16 * 1024;
/** Time in which the other process lets go of the views after a switch. */
const HANDOVER_MS = 15_000;
/** Time in which the build must come level after a switch is prepared; doubled after each failure. */
const SWITCH_MS = 1000;
/** Time in which a build comes level by itself on a machine that is not busy; then the worker pauses. */
const BEFORE_PAUSE_MS = 3000;
/** The first pause; each further one is twice as long, up to the longest. The worker still ends its batches in it. */
const FIRST_PAUSE_MS = 8000;
const LONGEST_PAUSE_MS = 45_000;
const BETWEEN_PAUSES_MS = 5000;
/** A pause is requested again each second, for two: it ends with the process that requests it. */
const RENEW_MS = 1000;
/** So few entries are followed one by one, because another round would publish everything twice. */
const NEAR_ENTRIES = 2000;
/** A round that took less than this was near enough to follow entry by entry. */
const NEAR_MS = 3000;

export interface ReplaySettings {
  readonly dataDir: string;
  readonly analysis: AnalysisPool;
  /** Limit of the memory of all shards' databases together, bytes. */
  readonly memoryBytes: number;
  readonly connection: StreamConnection;
  readonly logger: Logger;
  readonly progress: Progress;
  /** Messages per second; null for no limit. */
  readonly throttle: number | null;
  /** A backup's copy of the stream, for entries that the stream has dropped. */
  readonly archive: StreamArchive | null;
  /** Ends the work at the next batch with `InterruptedError`. */
  readonly signal: AbortSignal;
}

/** The command was interrupted. Committed batches stay, and the next run continues from them. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted');
    this.name = 'InterruptedError';
  }
}

/** Brings a build of the views, beside the live one, up to positions of the stream. */
export class Replay {
  readonly #settings: ReplaySettings;
  readonly #epoch: Epoch;
  readonly #positions: number[];
  #throttle: number | null;
  /** Sum of the target sequences of all shards in this round. */
  #target = 0;
  #messages = 0;
  #bytes = 0;
  readonly #aside = new Set<number>();
  readonly #pauses: Pauses;
  readonly #startedAt = performance.now();

  /** `reached`: a lower bound of each shard's sequence, where one is known. */
  constructor(settings: ReplaySettings, epoch: Epoch, reached: readonly number[] = []) {
    this.#settings = settings;
    this.#epoch = epoch;
    this.#throttle = settings.throttle;
    this.#positions = Array.from({ length: epoch.shards }, (_, shard) => reached[shard] ?? 0);
    this.#pauses = new Pauses(settings.dataDir);
  }

  /** Number of messages applied since the start. */
  get messages(): number {
    return this.#messages;
  }

  /** Number of entries that could not be processed. The live worker made them dead letters before. */
  get aside(): number {
    return this.#aside.size;
  }

  /** Sequence of each shard; 0 before it is opened. */
  get positions(): readonly number[] {
    return this.#positions;
  }

  /**
   * Applies every entry of some shards up to a stream sequence of their own, one shard after the other, and
   * publishes. Shards that are there already are only published.
   *
   * @throws SetupError when the stream no longer holds an entry that is needed; InterruptedError
   */
  async foldTo(title: string, targets: ReadonlyMap<number, number>): Promise<void> {
    const { progress } = this.#settings;
    const total = sum(targets.values());
    this.#target = total;
    progress.begin({
      title,
      from: Math.min(total, sum(this.#positions)),
      to: total,
      counted: this.#messages,
      rate: messagesPerSecond,
    });
    for (const [number, target] of targets) {
      const before = this.#messages;
      const shard = await this.#open(number, target, SELDOM_MS);
      try {
        await shard.run();
        this.#positions[number] = shard.store.sequence;
        this.#messages = before + shard.messages;
        this.#tell();
      } finally {
        await shard.close();
      }
    }
    progress.end();
  }

  /**
   * Repeats `foldTo` until few entries have come in meanwhile. `wanted` returns the sequence that each shard has to
   * reach now.
   */
  async catchUp(wanted: () => Promise<ReadonlyMap<number, number>>): Promise<void> {
    let before = Infinity;
    for (;;) {
      const targets = await wanted();
      const behind = sum(
        [...targets].map(([shard, target]) => Math.max(0, target - (this.#positions[shard] ?? 0))),
      );
      if (behind === 0) return;
      if (this.#throttle === null && behind <= NEAR_ENTRIES) return;
      // Another round would take as long as entries come in meanwhile; following comes nearer.
      if (this.#throttle === null && behind > before / 2) return;
      if (behind >= before && this.#throttle !== null) {
        this.#throttle *= 2;
        this.#settings.progress.line(
          `more messages arrive than the throttle lets through: it is now ${count(this.#throttle)} messages/s`,
        );
      }
      before = behind;
      const startedAt = performance.now();
      await this.foldTo('catching up', targets);
      if (performance.now() - startedAt < NEAR_MS) return;
    }
  }

  /** Has the worker of the live views pause from now on, for as long as pauses may be. `follow` and `rest` end it. */
  hurry(): void {
    this.#pauses.start(0, LONGEST_PAUSE_MS);
  }

  /** Ends the pauses of the worker. */
  rest(): void {
    this.#pauses.end();
  }

  /**
   * Follows the stream with all shards open until they have published all that the live views have, and switches
   * readers over at that moment, so that no caller gets an older answer than before.
   */
  async follow(live: ActiveEpoch): Promise<void> {
    const { connection, signal } = this.#settings;
    const idle = new Set<number>();
    const shards: Shard[] = [];
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => undefined);
    this.#pauses.start(BEFORE_PAUSE_MS, FIRST_PAUSE_MS);
    try {
      for (let number = 0; number < this.#epoch.shards; number++) {
        const partitions = partitionsOf(number, this.#epoch.shards);
        const opened = await this.#open(number, null, OFTEN_MS, async ({ after, sequence }) => {
          const last =
            after < sequence ? Infinity : await lastSequenceOf(connection, partitions).catch(() => Infinity);
          if (last <= sequence) idle.add(number);
          else idle.delete(number);
        });
        shards.push(opened);
        opened.run().catch(failed.reject);
      }
      const { dataDir } = this.#settings;
      const isThere = (shard: Shard, number: number): boolean => {
        const published = shard.publication.sequence;
        if (published < shard.store.sequence) return false;
        if (idle.has(number)) return true;
        return published >= liveSequence(dataDir, live, overlapOf(number, shards.length, live.shards));
      };
      for (let withinMs = SWITCH_MS; ; withinMs *= 2) {
        const { since = 0, ...active } = switchedWithin(withinMs, live, this.#epoch);
        const switchOver = prepareActiveEpoch(dataDir, { ...active, since });
        while (Date.now() * 1000 < since) {
          if (shards.every(isThere)) {
            switchOver();
            return;
          }
          if (signal.aborted) throw new InterruptedError();
          await Promise.race([sleep(LOOK_MS), failed.promise]);
        }
      }
    } finally {
      this.#pauses.end();
      await Promise.all(shards.map((shard) => shard.close()));
    }
  }

  #tell(): void {
    const done = Math.min(sum(this.#positions), this.#target);
    this.#settings.progress.update({
      done,
      counted: this.#messages,
      details: `entry ${count(done)} of ${count(this.#target)}`,
    });
  }

  async #open(
    number: number,
    until: number | null,
    publishEveryMs: number,
    onPull: (pull: Pull) => Promise<void> = () => Promise.resolve(),
  ): Promise<Shard> {
    const { dataDir, analysis, connection, logger, archive } = this.#settings;
    const [messages, bytes] = [this.#messages, this.#bytes];
    const batchBytes = until === null ? FOLLOW_BATCH_BYTES : BATCH_BYTES;
    const replay: ReplaySourceOptions = {
      until,
      archive,
      batchBytes: () => this.#batchBytes(batchBytes),
      onPull: async (pull) => {
        await this.#checkHeld(pull);
        this.#positions[number] = pull.sequence;
        // Approximate while several shards are open, which suffices for a rate.
        this.#messages = Math.max(this.#messages, messages + pull.messagesBefore);
        this.#bytes = Math.max(this.#bytes, bytes + pull.bytesBefore);
        if (until !== null) this.#tell();
        await onPull(pull);
        await this.#pause();
      },
    };
    const shard = await openShard({
      dataDir,
      batchBytes,
      memoryBytes: this.#settings.memoryBytes,
      analysis,
      connection,
      logger,
      active: this.#epoch,
      shard: number,
      waitMs: until === null ? OFTEN_MS : WAIT_MS,
      publishEveryMs,
      waitForLockMs: HANDOVER_MS,
      openSource: (start) => ReplaySource.open(connection, replay, start),
      archivedUntil: archive?.lastSequence ?? 0,
      setAside: (entry) => {
        this.#aside.add(entry.sequence);
        return Promise.resolve();
      },
    });
    this.#positions[number] = shard.store.sequence;
    return shard;
  }

  #batchBytes(most: number): number {
    if (this.#throttle === null) return most;
    if (this.#messages === 0) return SMALL_BATCH_BYTES;
    const burst = (this.#throttle * BURST_MS) / 1000;
    return Math.min(most, Math.max(1, Math.round((this.#bytes / this.#messages) * burst)));
  }

  async #pause(): Promise<void> {
    const { signal } = this.#settings;
    if (signal.aborted) throw new InterruptedError();
    if (this.#throttle === null) return;
    const dueMs = (this.#messages / this.#throttle) * 1000;
    const waitMs = this.#startedAt + dueMs - performance.now();
    if (waitMs <= 0) return;
    await sleep(waitMs, undefined, { signal }).catch(() => {
      throw new InterruptedError();
    });
  }

  /** Refuses a gap: the stream's limits may have dropped entries that are not applied yet. */
  async #checkHeld({ after }: Pull): Promise<void> {
    const { archive, connection, signal } = this.#settings;
    for (;;) {
      if (signal.aborted) throw new InterruptedError();
      try {
        const { firstSequence, lastSequence } = await readExtent(connection);
        refuseGap(Math.max(after, archive?.lastSequence ?? 0), firstSequence, lastSequence);
        return;
      } catch (error) {
        if (error instanceof SetupError) throw error;
        await connection.whenConnected(1000);
      }
    }
  }
}

/**
 * Asks the worker of the live views to take up nothing now and then, so that a build that follows comes level. On a busy
 * machine both read what comes in: a build that is far behind would fall farther behind for ever. The worker has less to
 * do meanwhile, and what it leaves is counted by the build.
 */
class Pauses {
  readonly #dataDir: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Begins the first pause after a time, unless pauses have begun. */
  start(afterMs: number, firstMs: number): void {
    if (this.#timer !== undefined) return;
    let [from, ms] = [performance.now() + afterMs, firstMs];
    const ask = (): void => {
      const now = performance.now();
      if (now >= from + ms) [from, ms] = [now + BETWEEN_PAUSES_MS, Math.min(LONGEST_PAUSE_MS, 2 * ms)];
      if (now < from) return;
      try {
        requestPause(this.#dataDir, Date.now() + 2 * RENEW_MS);
      } catch {
        // Without room on the disk the worker goes on; the build fails by itself, with the reason.
      }
    };
    this.#timer = setInterval(ask, RENEW_MS).unref();
    ask();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    endPause(this.#dataDir);
  }
}

/** @throws SetupError when the stream lacks entries behind `after` that it once had */
export function refuseGap(after: number, firstSequence: number, lastSequence: number): void {
  if (lastSequence <= after || firstSequence <= after + 1) return;
  const held =
    firstSequence > lastSequence
      ? 'holds no entry any more'
      : `holds entries ${count(firstSequence)} to ${count(lastSequence)}`;
  throw new SetupError(
    `The stream ${held}: ${entries(after + 1, firstSequence - 1)} gone, and rebuilt views would not count them. ` +
      'The live views are unchanged. "npm run rebuild -- --from-backup DIR" reads them from a backup.',
  );
}

function entries(from: number, to: number): string {
  return from === to ? `entry ${count(from)} is` : `entries ${count(from)} to ${count(to)} are`;
}

/** For each shard of another build, the newest entry that the live views of its instances have published. */
export function liveSequences(dataDir: string, live: Epoch, { shards }: Epoch): number[] {
  return Array.from({ length: shards }, (_, shard) =>
    liveSequence(dataDir, live, overlapOf(shard, shards, live.shards)),
  );
}

/** The newest entry that some shards of the live views have published. */
function liveSequence(dataDir: string, live: Epoch, shards: readonly number[]): number {
  return Math.max(
    0,
    ...shards.map((shard) => readManifest(shardDirectory(dataDir, live.epoch, shard))?.sequence ?? 0),
  );
}

/** Newest entries of the stream for each shard of a build, or for some of them. */
export async function newestOf(
  connection: StreamConnection,
  { shards }: Epoch,
  some: Iterable<number> = Array(shards).keys(),
): Promise<ReadonlyMap<number, number>> {
  const found = [...some].map(
    async (shard) => [shard, await lastSequenceOf(connection, partitionsOf(shard, shards))] as const,
  );
  return new Map(await Promise.all(found));
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
