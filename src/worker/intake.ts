import type { RecordedRequest } from '../domain/records.ts';
import { inflatedSizeOf } from '../stream/log/codec.ts';
import type { Delivered, StreamConsumer } from '../stream/log/consumer.ts';
import type { BatchSize } from './batch-size.ts';
import type { Entry } from './batch.ts';
import { reasonOf } from './dead-letter-decision.ts';
import { Room, type FairShare, type FetchEntry, type Turn } from './fair-share.ts';
import type { InWork } from './in-work.ts';

/** The ordered source of a shard's entries, from the position that the views are at. */
export interface EntrySource extends Pick<StreamConsumer, 'next'> {
  /** Lets projects take turns. Left out: everything is taken up in the order of the stream. */
  readonly fetch?: FetchEntry;
  /** Nothing more will come: the loop ends when all that came is applied. Left out: never. */
  readonly ended?: boolean;
}

export interface IntakeOptions {
  readonly source: EntrySource;
  /** `sequence`: of the entry. */
  readonly decode: (bytes: Uint8Array, sequence: number) => readonly RecordedRequest[];
  readonly inWork: InWork;
  /** Left out: none take turns. */
  readonly fairShare: FairShare | undefined;
  readonly size: Pick<BatchSize, 'work' | 'newWork' | 'heard'>;
  /** Where none take turns, a batch takes no further entry once it has so many messages. */
  readonly enoughMessages: number;
  /** Most stream entries in a batch, and their most bytes, inflated; one entry may have more. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly waitMs: number;
}

/** What a batch takes up: in stream order what comes from the end of the stream, behind what had been deferred. */
export interface Taken extends Turn {
  /** Entries that could not be decoded, or must not be taken up, with the reason. */
  readonly broken: readonly { readonly entry: Delivered; readonly reason: string }[];
  /** Of the last entry from the end of the stream; null: there is none among them. */
  readonly last: Delivered | null;
}

const NONE: ReadonlySet<number> = new Set();
/** A batch looks through so much of the stream, bytes inflated, for those who have no backlog. */
const LOOKED_THROUGH_BYTES = 16 * 2 ** 20;
/** When so many parts of entries wait, the worker reads no further: each takes memory. */
const MOST_WAITING = 200_000;

/** Decides what the next batch takes up. Covered by test/worker/fair-share.test.ts and loop.test.ts. */
export class Intake {
  readonly #options: IntakeOptions;
  /** Read, and left for the next batches. */
  #waiting: readonly Delivered[] = [];

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  async next(): Promise<Taken> {
    const { fairShare, inWork, size, waitMs } = this.#options;
    if (fairShare === undefined) return this.#fromStream(waitMs);
    const suspected = inWork.deferred;
    if (suspected !== null) return this.#suspected(fairShare, suspected);
    const isBehind = inWork.limit === Infinity && fairShare.waiting > 0;
    if (!isBehind) return this.#fromStream(waitMs);
    // Whoever is behind: what is new is taken up by `since`, right before this is applied.
    return this.#begun(await fairShare.next(size.work));
  }

  /**
   * What has come since a batch was taken up, while somebody is behind; null: nothing, or nobody is. Of an instance
   * that has a turn in the batch it is deferred: it may be applied before that turn.
   */
  async since({ entries, last }: Pick<Taken, 'entries' | 'last'>): Promise<Taken | null> {
    const { fairShare, inWork } = this.#options;
    const isTurn = last === null && entries.length > 0;
    if (fairShare === undefined || inWork.limit < Infinity || !(isTurn || fairShare.waiting > 0)) return null;
    const held = entries.flatMap(({ deferral }) => deferral?.taken ?? []);
    const taken = await this.#fromStream(0, new Set(held.map(({ instanceId }) => instanceId)));
    return taken.last === null ? null : taken;
  }

  /** What the last process may have died of and had been deferred, in small parts. */
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
    // Its messages are passed over, those that wait as well.
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
   * Entries from the end of the stream; waits so many milliseconds for the first. `held`: instances of which everything
   * waits.
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
    // Where projects take turns all that is read is either taken up or put off.
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
      // Only what was put off is read on for: a batch otherwise holds what one look at the stream brings.
      const isDeferring = fairShare !== undefined && fairShare.waiting > 0;
      if (delivered.length === 0 || !isDeferring || bytes >= LOOKED_THROUGH_BYTES || inWork.limit < Infinity)
        break;
    }
    // Somebody without a backlog sends something beside one who has one.
    const isNews = ({ requests }: Entry): boolean =>
      requests.some(({ instanceId }) => fairShare?.isBehind(instanceId) === false);
    if ((fairShare?.waiting ?? 0) > 0 && taken.entries.some(isNews)) size.heard(performance.now());
    return { ...taken, last: taken.delivered.at(-1) ?? null };
  }

  /** As many entries as a batch may have: what a few megabytes inflate to is no few megabytes. */
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
