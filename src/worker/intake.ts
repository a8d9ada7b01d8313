/**
 * Decides which entries the next batch applies: new ones from the end of the stream, or deferred ones in turn.
 *
 * Test: test/worker/fair-share.test.ts, test/worker/loop.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedRequest } from '../domain/records.ts';
import { inflatedSizeOf } from '../stream/log/codec.ts';
import type { Delivered, StreamConsumer } from '../stream/log/consumer.ts';
import type { BatchSize } from './batch-size.ts';
import type { Entry } from './batch.ts';
import { reasonOf } from './dead-letter-decision.ts';
import { Room, type FairShare, type FetchEntry, type Turn } from './fair-share.ts';
import type { InWork } from './in-work.ts';

/** The ordered source of a shard's entries, starting at the position of the views. */
export interface EntrySource extends Pick<StreamConsumer, 'next'> {
  /** Needed for turns between projects. Left out: entries are applied in stream order. */
  readonly fetch?: FetchEntry;
  /** True when no more entries come: the loop ends once all are applied. Left out: never. */
  readonly ended?: boolean;
  /** True while nothing is to be applied, deferred entries included: a build beside it catches up. Left out: never. */
  readonly isPaused?: () => boolean;
  /** Aborted when the source closes; ends the wait of a pause. Left out: the wait takes its time. */
  readonly closing?: AbortSignal;
}

export interface IntakeOptions {
  readonly source: EntrySource;
  /** `sequence`: sequence of the entry. */
  readonly decode: (bytes: Uint8Array, sequence: number) => readonly RecordedRequest[];
  readonly inWork: InWork;
  /** Left out: projects take no turns. */
  readonly fairShare: FairShare | undefined;
  readonly size: Pick<BatchSize, 'work' | 'newWork' | 'noteSender'>;
  /** Without turns, a batch takes no further entry once it has this many messages. */
  readonly enoughMessages: number;
  /** Most stream entries in a batch, and their most bytes, inflated; a single entry may have more. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly waitMs: number;
}

/** The entries of a batch. Deferred ones come first, then those from the end of the stream, in stream order. */
export interface Taken extends Turn {
  /** Entries that cannot be decoded or must not be processed, with the reason. */
  readonly broken: readonly { readonly entry: Delivered; readonly reason: string }[];
  /** The last entry from the end of the stream; null if there is none. */
  readonly last: Delivered | null;
  /** True if nothing was taken because of a pause: entries may wait. */
  readonly isPaused?: boolean;
}

const NONE: ReadonlySet<number> = new Set();
/** Bytes of the stream, inflated, that a batch reads on for messages of instances without a backlog. */
const LOOKED_THROUGH_BYTES = 16 * 2 ** 20;
/** Most deferred parts; beyond that, the worker reads no further, as each takes memory. */
const MOST_WAITING = 200_000;

/** Decides which entries the next batch applies. */
export class Intake {
  readonly #options: IntakeOptions;
  /** Entries that were read and left for later batches. */
  #waiting: readonly Delivered[] = [];

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  async next(): Promise<Taken> {
    const { source, fairShare, inWork, size, waitMs } = this.#options;
    if (source.isPaused?.() === true) {
      const { closing } = source;
      await sleep(waitMs, undefined, closing && { signal: closing }).catch(() => undefined);
      return { delivered: [], entries: [], broken: [], last: null, isPaused: true };
    }
    if (fairShare === undefined) return this.#fromStream(waitMs);
    const suspected = inWork.deferred;
    if (suspected !== null) return this.#suspected(fairShare, suspected);
    const isBehind = inWork.limit === Infinity && fairShare.waiting > 0;
    if (!isBehind) return this.#fromStream(waitMs);
    // `since` takes new entries later, right before this batch is applied.
    return this.#begun(await fairShare.next(size.work));
  }

  /**
   * Takes the entries that arrived since a batch was taken, while an instance is behind; null if there are none, or no
   * instance is behind. Instances with a turn in that batch are deferred: these entries may be applied before the turn.
   */
  async since({ entries, last }: Pick<Taken, 'entries' | 'last'>): Promise<Taken | null> {
    const { source, fairShare, inWork } = this.#options;
    const isTurn = last === null && entries.length > 0;
    if (source.isPaused?.() === true) return null;
    if (fairShare === undefined || inWork.limit < Infinity || !(isTurn || fairShare.waiting > 0)) return null;
    const held = entries.flatMap(({ deferral }) => deferral?.taken ?? []);
    const taken = await this.#fromStream(0, new Set(held.map(({ instanceId }) => instanceId)));
    return taken.last === null ? null : taken;
  }

  /** Takes deferred entries that the last process may have died of, in small parts. */
  async #suspected(
    fairShare: FairShare,
    { instanceId, until }: { readonly instanceId: string; readonly until: number },
  ): Promise<Taken> {
    const { inWork, size } = this.#options;
    const count = fairShare.countUntil(instanceId, until);
    if (count === 0) {
      inWork.passed(instanceId);
      return this.next();
    }
    const entries = Math.min(count, inWork.limit);
    const turn = this.#begun(await fairShare.nextOf(instanceId, size.work, entries));
    const [sequence] = turn.entries.map((entry) => entry.sequence);
    const reason = entries === 1 && sequence !== undefined ? inWork.verdict(sequence) : null;
    if (reason === null || sequence === undefined) return turn;
    // The messages of the entry are skipped, deferred ones included.
    fairShare.drop(instanceId, sequence);
    const [entry] = turn.delivered;
    const taken = [{ instanceId, sequence }];
    return {
      ...turn,
      entries: [{ sequence, requests: [], leftOut: NONE, places: [], deferral: { taken, left: [] } }],
      broken: entry === undefined ? [] : [{ entry, reason }],
    };
  }

  #begun(turn: Turn): Taken {
    this.#options.inWork.begin(turn.entries.flatMap(({ deferral }) => deferral?.taken ?? []));
    return { ...turn, broken: [], last: null };
  }

  /**
   * Takes entries from the end of the stream; waits up to `waitMs` for the first. `held`: instances that are deferred.
   */
  async #fromStream(waitMs: number, held?: ReadonlySet<string>): Promise<Taken> {
    const { decode, fairShare, inWork, size, enoughMessages } = this.#options;
    const taken: { delivered: Delivered[]; entries: Entry[]; broken: Taken['broken'][number][] } = {
      delivered: [],
      entries: [],
      broken: [],
    };
    const room = new Room(size.newWork);
    let [messages, bytes] = [0, 0];
    // With turns, every entry that is read is either applied or deferred.
    const isEnough = (): boolean => fairShare === undefined && messages >= enoughMessages;
    const mayRead = (): boolean => (fairShare?.waiting ?? 0) < MOST_WAITING || inWork.limit < Infinity;
    while (!isEnough() && mayRead()) {
      const isFirst = taken.delivered.length === 0;
      const delivered = await this.#take(isFirst ? waitMs : 0);
      inWork.begin(delivered.map(({ sequence }) => ({ sequence })));
      for (const [place, entry] of delivered.entries()) {
        if (isEnough()) {
          const rest = delivered.slice(place);
          inWork.leave(rest.map(({ sequence }) => sequence));
          this.#waiting = [...rest, ...this.#waiting];
          break;
        }
        taken.delivered.push(entry);
        bytes += inflatedSizeOf(entry.bytes);
        const { sequence } = entry;
        const reason = inWork.verdict(sequence);
        if (reason !== null) {
          taken.broken.push({ entry, reason });
          continue;
        }
        try {
          const requests = decode(entry.bytes, sequence);
          const divided = fairShare?.divide(entry, requests, room, held) ?? {
            sequence,
            requests,
            leftOut: NONE,
          };
          for (const request of divided.requests) messages += request.messages.length;
          taken.entries.push(divided);
        } catch (error) {
          taken.broken.push({ entry, reason: reasonOf(error) });
        }
      }
      // The batch reads on only while it defers; otherwise it ends with the first read.
      const isDeferring = fairShare !== undefined && fairShare.waiting > 0;
      if (delivered.length === 0 || !isDeferring || bytes >= LOOKED_THROUGH_BYTES || inWork.limit < Infinity)
        break;
    }
    // True if a message of an instance without a backlog came while others have one.
    const isNews = ({ requests }: Entry): boolean =>
      requests.some(({ instanceId }) => fairShare?.isBehind(instanceId) === false);
    if ((fairShare?.waiting ?? 0) > 0 && taken.entries.some(isNews)) size.noteSender(performance.now());
    return { ...taken, last: taken.delivered.at(-1) ?? null };
  }

  /**
   * Takes at most as many entries as a batch may have. `maxBytes` bounds their inflated size: compressed entries may
   * inflate to many times their size.
   */
  async #take(waitMs: number): Promise<readonly Delivered[]> {
    const { source, maxEntries, maxBytes, inWork } = this.#options;
    const maxMessages = Math.min(maxEntries, inWork.limit);
    if (this.#waiting.length === 0) this.#waiting = await source.next({ maxMessages, maxBytes, waitMs });
    let taken = 0;
    let bytes = 0;
    for (const entry of this.#waiting.slice(0, maxMessages)) {
      bytes += inflatedSizeOf(entry.bytes);
      if (taken > 0 && bytes > maxBytes) break;
      taken += 1;
    }
    const entries = this.#waiting.slice(0, taken);
    this.#waiting = this.#waiting.slice(taken);
    return entries;
  }
}
