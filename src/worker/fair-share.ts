import { MAX_WHOLE_MESSAGES } from '../domain/limits.ts';
import type { RecordedRequest } from '../domain/records.ts';
import type { DeferredPart } from '../store/live/batch.ts';
import type { Delivered } from '../stream/log/consumer.ts';
import type { Entry, RequestPlace } from './batch.ts';

/** Reads an entry of the stream once more; null when the stream no longer holds it. */
export type FetchEntry = (sequence: number) => Promise<Delivered | null>;

export interface FairShareOptions {
  /** What is deferred when the work begins, in stream order. */
  readonly parts: readonly DeferredPart[];
  readonly fetch: FetchEntry;
  readonly decode: (bytes: Uint8Array) => readonly RecordedRequest[];
  /** Requests of up to so many messages are never divided. Default MAX_WHOLE_MESSAGES. */
  readonly wholeUpTo?: number;
  /** Called for an entry that the stream no longer holds. */
  readonly onGone?: (part: DeferredPart) => void;
}

/** Entries taken up of what was deferred. */
export interface Turn {
  readonly delivered: readonly Delivered[];
  readonly entries: readonly Entry[];
}

/** At most so many instances have a turn in one batch. */
export const INSTANCES_A_TURN = 8;
/** So many entries are read at a time. */
const FETCHED_AT_ONCE = 16;
/** Decoded entries that are kept, because the next turn goes on in them. */
const KEPT_ENTRIES = INSTANCES_A_TURN;

/** The parts of one instance, in stream order. */
interface Queue {
  parts: DeferredPart[];
  /** Place of the first part that waits. */
  first: number;
}

interface Fetched {
  readonly delivered: Delivered;
  readonly requests: readonly RecordedRequest[];
}

/**
 * Lets instances take turns, so that none waits for another's backlog. The worker reads the stream to its end. Of an
 * instance that has more in a batch than its share, it applies the share and defers the rest: it notes where the rest
 * begins, commits that with the batch, and reads the entry again when the instance has its next turn. While something
 * of an instance is deferred, whatever else comes of it is deferred, too, so its messages are applied in stream order.
 * Covered by test/worker/fair-share.test.ts.
 */
export class FairShare {
  readonly #options: FairShareOptions;
  /** By instance; the one whose turn is next comes first. */
  readonly #queues = new Map<string, Queue>();
  readonly #kept = new Map<number, Fetched>();
  readonly #wholeUpTo: number;
  #parts = 0;

  constructor(options: FairShareOptions) {
    this.#options = options;
    this.#wholeUpTo = options.wholeUpTo ?? MAX_WHOLE_MESSAGES;
    for (const part of options.parts) this.#add(part);
  }

  /** Parts of entries that wait. */
  get waiting(): number {
    return this.#parts;
  }

  /** When the stream stored the oldest of them, microseconds since 1970-01-01 UTC; null when none waits. */
  get oldestAt(): number | null {
    let oldest: number | null = null;
    for (const { parts, first } of this.#queues.values())
      oldest = Math.min(oldest ?? Infinity, (parts[first] as DeferredPart).storedAt);
    return oldest;
  }

  /** Whether anything of an instance (UUID) waits. */
  isBehind(instanceId: string): boolean {
    return this.#queues.has(instanceId);
  }

  /**
   * An entry as it is taken up now: without what exceeds the share of an instance, which waits from here on, and
   * without all of those who are held. `used` counts the messages of each instance in the batch, about `share` each.
   */
  divide(
    delivered: Delivered,
    requests: readonly RecordedRequest[],
    {
      used,
      share,
      held,
    }: {
      readonly used: Map<string, number>;
      readonly share: number;
      readonly held?: ReadonlySet<string>;
    },
  ): Entry {
    const { sequence, timestamp } = delivered;
    const taken: RecordedRequest[] = [];
    const places: RequestPlace[] = [];
    const left = new Map<string, DeferredPart>();
    let index = 0;
    for (const [place, request] of requests.entries()) {
      const { instanceId } = request;
      const size = Math.max(1, request.messages.length);
      const before = used.get(instanceId) ?? 0;
      const isLater = left.has(instanceId) || this.isBehind(instanceId) || held?.has(instanceId) === true;
      const room = isLater ? 0 : this.#roomFor(size, share - before);
      used.set(instanceId, before + room);
      if (room > 0) {
        taken.push(room < size ? { ...request, messages: request.messages.slice(0, room) } : request);
        places.push({ place, index, from: 0 });
      }
      if (room < size && !left.has(instanceId))
        left.set(instanceId, { instanceId, sequence, place, message: room, storedAt: timestamp });
      index += request.messages.length;
    }
    for (const part of left.values()) this.#add(part);
    if (left.size === 0) return { sequence, requests, leftOut: NONE };
    return {
      sequence,
      requests: taken,
      leftOut: NONE,
      places,
      deferral: { taken: [], left: [...left.values()] },
    };
  }

  /** About `messages` of what waits, of several instances in turn, the one that had none for longest first. */
  async next(messages: number): Promise<Turn> {
    const instances = [...this.#queues.keys()].slice(0, INSTANCES_A_TURN);
    const share = Math.max(1, Math.ceil(messages / Math.max(1, instances.length)));
    const turn: { delivered: Delivered[]; entries: Entry[] } = { delivered: [], entries: [] };
    for (const instanceId of instances) {
      const { delivered, entries } = await this.nextOf(instanceId, share, Infinity);
      turn.delivered.push(...delivered);
      turn.entries.push(...entries);
    }
    return turn;
  }

  /** About `messages` of what waits of one instance, of at most so many entries. Its next turn comes after all others'. */
  async nextOf(instanceId: string, messages: number, entries: number): Promise<Turn> {
    const turn: { delivered: Delivered[]; entries: Entry[] } = { delivered: [], entries: [] };
    let room = messages;
    for (;;) {
      const queue = this.#queues.get(instanceId);
      const wanted = Math.min(FETCHED_AT_ONCE, entries - turn.entries.length);
      if (queue === undefined || room <= 0 || wanted <= 0) break;
      const parts = queue.parts.slice(queue.first, queue.first + wanted);
      const fetched = await this.#fetchAll(parts, room);
      for (const [number, found] of fetched.entries()) {
        const part = parts[number] as DeferredPart;
        if (room <= 0) break;
        const entry = found === null ? this.#gone(part) : this.#take(part, found, room);
        room -= entry.requests.reduce((sum, request) => sum + Math.max(1, request.messages.length), 0);
        turn.entries.push(entry);
        if (found !== null) turn.delivered.push(found.delivered);
      }
    }
    const rest = this.#queues.get(instanceId);
    if (rest !== undefined) {
      this.#queues.delete(instanceId);
      this.#queues.set(instanceId, rest);
    }
    return turn;
  }

  /** Sequences of an instance's parts that wait, up to one. */
  countUntil(instanceId: string, sequence: number): number {
    const queue = this.#queues.get(instanceId);
    if (queue === undefined) return 0;
    return queue.parts.slice(queue.first).filter((part) => part.sequence <= sequence).length;
  }

  /** Gives up what waits of an entry for an instance; the part, null when nothing does. */
  drop(instanceId: string, sequence: number): DeferredPart | null {
    const queue = this.#queues.get(instanceId);
    const part = queue?.parts[queue.first];
    if (part === undefined || part.sequence !== sequence) return null;
    this.#shift(instanceId);
    return part;
  }

  /** How many of a request's messages are taken up when so many are free. */
  #roomFor(size: number, free: number): number {
    if (free <= 0) return 0;
    return size <= this.#wholeUpTo ? size : Math.min(size, free);
  }

  #add(part: DeferredPart): void {
    const queue = this.#queues.get(part.instanceId);
    if (queue === undefined) this.#queues.set(part.instanceId, { parts: [part], first: 0 });
    else queue.parts.push(part);
    this.#parts += 1;
  }

  #shift(instanceId: string): void {
    const queue = this.#queues.get(instanceId);
    if (queue === undefined) return;
    queue.first += 1;
    this.#parts -= 1;
    if (queue.first === queue.parts.length) this.#queues.delete(instanceId);
    else if (queue.first > 4096) {
      queue.parts = queue.parts.slice(queue.first);
      queue.first = 0;
    }
  }

  /** The entries of parts, as many as it takes for so many messages. */
  async #fetchAll(parts: readonly DeferredPart[], room: number): Promise<(Fetched | null)[]> {
    const first = parts[0] as DeferredPart;
    const found = [await this.#fetch(first.sequence)];
    // One large entry is enough, and the others would be read in vain.
    const size = found[0]?.requests.reduce((sum, { messages }) => sum + messages.length, 0) ?? 0;
    if (size >= room) return found;
    const rest = parts.slice(1, 1 + Math.ceil(room / Math.max(1, size)));
    return [...found, ...(await Promise.all(rest.map(({ sequence }) => this.#fetch(sequence))))];
  }

  async #fetch(sequence: number): Promise<Fetched | null> {
    const kept = this.#kept.get(sequence);
    if (kept !== undefined) return kept;
    const delivered = await this.#options.fetch(sequence);
    return delivered === null ? null : { delivered, requests: this.#options.decode(delivered.bytes) };
  }

  #gone(part: DeferredPart): Entry {
    this.#options.onGone?.(part);
    this.#shift(part.instanceId);
    const { instanceId, sequence } = part;
    return {
      sequence,
      requests: [],
      leftOut: NONE,
      places: [],
      deferral: { taken: [{ instanceId, sequence }], left: [] },
    };
  }

  /** As much of a part as there is room for; the rest stays first in its queue. */
  #take(part: DeferredPart, found: Fetched, room: number): Entry {
    const { instanceId, sequence } = part;
    const requests: RecordedRequest[] = [];
    const places: RequestPlace[] = [];
    let left: DeferredPart | null = null;
    let [index, free] = [0, room];
    for (const [place, request] of found.requests.entries()) {
      const begin = index;
      index += request.messages.length;
      if (request.instanceId !== instanceId || place < part.place) continue;
      const from = place === part.place ? part.message : 0;
      const size = Math.max(1, request.messages.length - from);
      const taken = from > 0 ? Math.min(size, Math.max(0, free)) : this.#roomFor(size, free);
      if (taken > 0) {
        const messages = request.messages.slice(from, from + taken);
        requests.push(messages.length === request.messages.length ? request : { ...request, messages });
        places.push({ place, index: begin + from, from });
      }
      free -= taken;
      if (taken === size) continue;
      left = { ...part, place, message: from + taken };
      break;
    }
    if (left === null) {
      this.#shift(instanceId);
      this.#kept.delete(sequence);
    } else {
      const queue = this.#queues.get(instanceId) as Queue;
      queue.parts[queue.first] = left;
      this.#keep(sequence, found);
    }
    const deferral = { taken: [{ instanceId, sequence }], left: left === null ? [] : [left] };
    return { sequence, requests, leftOut: NONE, places, deferral };
  }

  #keep(sequence: number, found: Fetched): void {
    this.#kept.delete(sequence);
    this.#kept.set(sequence, found);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_ENTRIES && oldest !== undefined) this.#kept.delete(oldest);
  }
}

const NONE: ReadonlySet<number> = new Set();
