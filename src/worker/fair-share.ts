/**
 * Divides the entries of a shard fairly between projects and instances. Messages of one instance are always applied in
 * stream order, whatever is deferred.
 *
 * Test: test/worker/fair-share.test.ts.
 */
import { LRUCache } from 'lru-cache';
import { MAX_WHOLE_CHARACTERS, MAX_WHOLE_MESSAGES } from '../domain/limits.ts';
import type { RecordedMessage, RecordedRequest } from '../domain/records.ts';
import type { DeferredPart } from '../store/live/batch.ts';
import type { Delivered } from '../stream/log/consumer.ts';
import type { Entry, RequestPlace } from './batch.ts';
import { workOf, workOfMessage } from './work.ts';

/** Reads an entry of the stream again; null if the stream no longer holds it. */
export type FetchEntry = (sequence: number) => Promise<Delivered | null>;

export interface FairShareOptions {
  /** The parts deferred at the start, in stream order. */
  readonly parts: readonly DeferredPart[];
  readonly fetch: FetchEntry;
  readonly decode: (bytes: Uint8Array) => readonly RecordedRequest[];
  /** Requests of up to this many messages are never divided. Default MAX_WHOLE_MESSAGES. */
  readonly wholeUpTo?: number | undefined;
  /** Called for an entry that the stream no longer holds. */
  readonly onGone?: (part: DeferredPart) => void;
}

/** Deferred entries that are applied now. */
export interface Turn {
  readonly delivered: readonly Delivered[];
  readonly entries: readonly Entry[];
}

/** Most projects that have a turn in one batch, and most instances of each. */
export const MOST_A_TURN = 8;
/** Deferred entries that are read at a time. */
const FETCHED_AT_ONCE = 16;
/** Decoded entries that are cached, because the next turn continues in them. */
const KEPT_ENTRIES = MOST_A_TURN;

/** The parts of one instance, in stream order. */
interface Queue {
  parts: DeferredPart[];
  /** Index of the first part that waits. */
  first: number;
}

interface Fetched {
  readonly delivered: Delivered;
  readonly requests: readonly RecordedRequest[];
}

/** The share that new requests of each project may use in one batch. */
export class Room {
  readonly #size: number;
  readonly #used = new Map<string, number>();
  #total = 0;

  /** `size`: approximate work for which it has room. */
  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Work left for a project: half of the total, so that a project which comes later has room, too. When the total is
   * used up, and for projects that are behind, all of them share that half.
   */
  leftFor(projectId: string, projectsBehind: number, isBehind: boolean): number {
    const isShared = isBehind || this.#total >= this.#size;
    const many = isShared ? Math.max(1, projectsBehind + this.#used.size) : 1;
    return Math.ceil(this.#size / 2 / many) - (this.#used.get(projectId) ?? 0);
  }

  take(projectId: string, work: number): void {
    if (work === 0) return;
    this.#used.set(projectId, (this.#used.get(projectId) ?? 0) + work);
    this.#total += work;
  }
}

/**
 * Projects take turns, and so do the instances of each, so that none waits for the backlog of another. The worker reads
 * the stream to its end. When a project exceeds its share of a batch, the worker applies the share and defers the rest:
 * it notes for each instance where the rest begins, commits that with the batch, and reads the entry again at the
 * instance's next turn. While a part of an instance is deferred, later messages of the instance are deferred, too.
 * Shares are measured in work (`workOf`).
 */
export class FairShare {
  readonly #options: FairShareOptions;
  /** Instances by project; the next to have a turn comes first. */
  readonly #projects = new Map<string, Map<string, Queue>>();
  /** The project of each instance that is behind. */
  readonly #projectOf = new Map<string, string>();
  readonly #kept = new LRUCache<number, Fetched>({ max: KEPT_ENTRIES });
  readonly #wholeUpTo: number;
  #parts = 0;

  constructor(options: FairShareOptions) {
    this.#options = options;
    this.#wholeUpTo = options.wholeUpTo ?? MAX_WHOLE_MESSAGES;
    for (const part of options.parts) this.#add(part);
  }

  /** Number of deferred parts. */
  get waiting(): number {
    return this.#parts;
  }

  /** When the stream stored the oldest deferred entry, microseconds since 1970-01-01 UTC; null if none is deferred. */
  get oldestAt(): number | null {
    let oldest: number | null = null;
    for (const instances of this.#projects.values())
      for (const { parts, first } of instances.values())
        oldest = Math.min(oldest ?? Infinity, (parts[first] as DeferredPart).storedAt);
    return oldest;
  }

  /** Returns true while a part of the instance (UUID) is deferred. */
  isBehind(instanceId: string): boolean {
    return this.#projectOf.has(instanceId);
  }

  /**
   * Returns the entry as it is applied now. Defers what exceeds the share of a project in `room`, and everything of the
   * instances that are held.
   */
  divide(
    delivered: Delivered,
    requests: readonly RecordedRequest[],
    room: Room,
    held: ReadonlySet<string> = NOBODY,
  ): Entry {
    const { sequence, timestamp } = delivered;
    const taken: RecordedRequest[] = [];
    const places: RequestPlace[] = [];
    const left = new Map<string, DeferredPart>();
    let index = 0;
    for (const [place, request] of requests.entries()) {
      const { instanceId, projectId, messages } = request;
      const isLater = left.has(instanceId) || this.isBehind(instanceId) || held.has(instanceId);
      const free = isLater ? 0 : room.leftFor(projectId, this.#projects.size, this.#projects.has(projectId));
      const [part, work] = this.#partOf(request, 0, free);
      room.take(projectId, work);
      if (part !== null) {
        taken.push(part);
        places.push({ place, index, from: 0 });
      }
      if (part !== request && !left.has(instanceId)) {
        const message = part?.messages.length ?? 0;
        left.set(instanceId, { projectId, instanceId, sequence, place, message, storedAt: timestamp });
      }
      index += messages.length;
    }
    for (const part of left.values()) this.#add(part);
    if (left.size === 0) return { sequence, requests, leftOut: NONE };
    const deferral = { taken: [], left: [...left.values()] };
    return { sequence, requests: taken, leftOut: NONE, places, deferral };
  }

  /**
   * Takes deferred parts of about this much work, from several projects in turn; the one that has waited longest comes
   * first.
   */
  async next(work: number): Promise<Turn> {
    const projects = [...this.#projects].slice(0, MOST_A_TURN);
    const turn: { delivered: Delivered[]; entries: Entry[] } = { delivered: [], entries: [] };
    let used = 0;
    for (const [place, [projectId, instances]] of projects.entries()) {
      if (used >= work) break;
      const share = (work - used) / (projects.length - place);
      const until = used + share;
      const most = Math.ceil(share / Math.min(MOST_A_TURN, instances.size));
      for (const instanceId of [...instances.keys()].slice(0, MOST_A_TURN)) {
        if (used >= until) break;
        const { delivered, entries } = await this.nextOf(instanceId, most, Infinity);
        used += entries.reduce((sum, entry) => sum + workOf(entry.requests), 0);
        turn.delivered.push(...delivered);
        turn.entries.push(...entries);
      }
      moveToEnd(this.#projects, projectId);
    }
    return turn;
  }

  /**
   * Takes deferred parts of one instance: about this much work, in at most `entries` entries. The instance then moves
   * behind the others.
   */
  async nextOf(instanceId: string, work: number, entries: number): Promise<Turn> {
    const turn: { delivered: Delivered[]; entries: Entry[] } = { delivered: [], entries: [] };
    const instances = this.#instancesWith(instanceId);
    let free = work;
    for (;;) {
      const wanted = Math.min(FETCHED_AT_ONCE, entries - turn.entries.length);
      const queue = instances?.get(instanceId);
      if (queue === undefined || free <= 0 || wanted <= 0) break;
      const parts = queue.parts.slice(queue.first, queue.first + wanted);
      const fetched = await this.#fetchAll(parts, free);
      for (const [number, found] of fetched.entries()) {
        const part = parts[number] as DeferredPart;
        if (free <= 0) break;
        if (found === null) this.#options.onGone?.(part);
        else turn.delivered.push(found.delivered);
        const entry = this.#take(part, found, free);
        free -= workOf(entry.requests);
        turn.entries.push(entry);
      }
    }
    if (instances !== undefined) moveToEnd(instances, instanceId);
    return turn;
  }

  /** Number of deferred parts of an instance up to a sequence. */
  countUntil(instanceId: string, sequence: number): number {
    const { parts, first } = this.#instancesWith(instanceId)?.get(instanceId) ?? NOTHING;
    return parts.filter((part, place) => place >= first && part.sequence <= sequence).length;
  }

  /** Drops the deferred part of an entry for an instance, if it is the first. */
  drop(instanceId: string, sequence: number): void {
    const { parts, first } = this.#instancesWith(instanceId)?.get(instanceId) ?? NOTHING;
    if (parts[first]?.sequence === sequence) this.#shift(instanceId);
  }

  /** The queues of the instance's project; undefined when the instance is not behind. */
  #instancesWith(instanceId: string): Map<string, Queue> | undefined {
    return this.#projects.get(this.#projectOf.get(instanceId) ?? '');
  }

  /**
   * The part of a request, from a message on, that fits into the free work, and its work. Returns the request itself if
   * all of it fits, null if nothing does.
   */
  #partOf(request: RecordedRequest, from: number, free: number): readonly [RecordedRequest | null, number] {
    if (free <= 0) return [null, 0];
    const { messages } = request;
    if (from === 0 && messages.length <= this.#wholeUpTo && hasFewCharacters(messages))
      return [request, workOf([request])];
    let [until, work] = [from, 0];
    while (until < messages.length && work < free) {
      work += workOfMessage(messages[until]!);
      until += 1;
    }
    if (from === 0 && until === messages.length) return [request, work];
    return [{ ...request, messages: messages.slice(from, until) }, work];
  }

  #add(part: DeferredPart): void {
    const { instanceId, projectId } = part;
    let instances = this.#projects.get(projectId);
    if (instances === undefined) this.#projects.set(projectId, (instances = new Map()));
    const queue = instances.get(instanceId);
    if (queue === undefined) instances.set(instanceId, { parts: [part], first: 0 });
    else queue.parts.push(part);
    this.#projectOf.set(instanceId, projectId);
    this.#parts += 1;
  }

  #shift(instanceId: string): void {
    const instances = this.#instancesWith(instanceId)!;
    const queue = instances.get(instanceId)!;
    queue.first += 1;
    this.#parts -= 1;
    if (queue.first === queue.parts.length) {
      instances.delete(instanceId);
      if (instances.size === 0) this.#projects.delete(this.#projectOf.get(instanceId)!);
      this.#projectOf.delete(instanceId);
    } else if (queue.first > 4096) {
      queue.parts = queue.parts.slice(queue.first);
      queue.first = 0;
    }
  }

  /** Fetches the entries of as many parts as the free work may need. */
  async #fetchAll(parts: readonly DeferredPart[], free: number): Promise<(Fetched | null)[]> {
    const first = parts[0] as DeferredPart;
    const found = [await this.#fetch(first.sequence)];
    // After one large entry, the others would be read in vain.
    const work = workOf(found[0]?.requests ?? []);
    if (work >= free) return found;
    const rest = parts.slice(1, 1 + Math.ceil(free / Math.max(1, work)));
    return [...found, ...(await Promise.all(rest.map(({ sequence }) => this.#fetch(sequence))))];
  }

  async #fetch(sequence: number): Promise<Fetched | null> {
    const kept = this.#kept.peek(sequence);
    if (kept !== undefined) return kept;
    const delivered = await this.#options.fetch(sequence);
    return delivered === null ? null : { delivered, requests: this.#options.decode(delivered.bytes) };
  }

  /**
   * Takes from a part what fits into the free work; the rest stays first in its queue. `found`: null if the entry is
   * gone.
   */
  #take(part: DeferredPart, found: Fetched | null, free: number): Entry {
    const { instanceId, sequence } = part;
    const requests: RecordedRequest[] = [];
    const places: RequestPlace[] = [];
    let left: DeferredPart | null = null;
    let [index, room] = [0, free];
    for (const [place, request] of (found?.requests ?? []).entries()) {
      const begin = index;
      index += request.messages.length;
      if (request.instanceId !== instanceId || place < part.place) continue;
      const from = place === part.place ? part.message : 0;
      const [taken, work] = this.#partOf(request, from, room);
      room -= work;
      if (taken !== null) {
        requests.push(taken);
        places.push({ place, index: begin + from, from });
      }
      const until = from + (taken?.messages.length ?? 0);
      if (taken !== null && until === request.messages.length) continue;
      left = { ...part, place, message: until };
      break;
    }
    if (found === null || left === null) {
      this.#shift(instanceId);
      this.#kept.delete(sequence);
    } else {
      const queue = this.#instancesWith(instanceId)!.get(instanceId)!;
      queue.parts[queue.first] = left;
      this.#kept.set(sequence, found);
    }
    const deferral = { taken: [{ instanceId, sequence }], left: left === null ? [] : [left] };
    return { sequence, requests, leftOut: NONE, places, deferral };
  }
}

const NONE: ReadonlySet<number> = new Set();
const NOBODY: ReadonlySet<string> = new Set();
const NOTHING: Queue = { parts: [], first: 0 };

function hasFewCharacters(messages: readonly RecordedMessage[]): boolean {
  let characters = 0;
  for (const { content } of messages) characters += content.length;
  return characters <= MAX_WHOLE_CHARACTERS;
}

/** Moves a key to the end of the map's order, if it is present. */
function moveToEnd<T>(map: Map<string, T>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
