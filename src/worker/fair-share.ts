import { LRUCache } from 'lru-cache';
import { MAX_WHOLE_CHARACTERS, MAX_WHOLE_MESSAGES } from '../domain/limits.ts';
import type { RecordedMessage, RecordedRequest } from '../domain/records.ts';
import type { DeferredPart } from '../store/live/batch.ts';
import type { Delivered } from '../stream/log/consumer.ts';
import type { Entry, RequestPlace } from './batch.ts';
import { workOf, workOfMessage } from './work.ts';

/** Reads an entry of the stream once more; null when the stream no longer holds it. */
export type FetchEntry = (sequence: number) => Promise<Delivered | null>;

export interface FairShareOptions {
  /** What is deferred when the work begins, in stream order. */
  readonly parts: readonly DeferredPart[];
  readonly fetch: FetchEntry;
  readonly decode: (bytes: Uint8Array) => readonly RecordedRequest[];
  /** Requests of up to so many messages are never divided. Default MAX_WHOLE_MESSAGES. */
  readonly wholeUpTo?: number | undefined;
  /** Called for an entry that the stream no longer holds. */
  readonly onGone?: (part: DeferredPart) => void;
}

/** Entries taken up of what was deferred. */
export interface Turn {
  readonly delivered: readonly Delivered[];
  readonly entries: readonly Entry[];
}

/** At most so many projects, and instances of each, have a turn in one batch. */
export const MOST_A_TURN = 8;
/** So many entries are read at a time. */
const FETCHED_AT_ONCE = 16;
/** Decoded entries that are kept, because the next turn goes on in them. */
const KEPT_ENTRIES = MOST_A_TURN;

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

/** What is taken up of requests that are new, by project. */
export class Room {
  readonly #size: number;
  readonly #used = new Map<string, number>();
  #total = 0;

  /** `size`: about how much work it holds. */
  constructor(size: number) {
    this.#size = size;
  }

  /**
   * What is left for a project: half of all, so that whoever comes behind the first has room, too. When there is none
   * any more, and for those who are behind already, that half is for all of them together.
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
 * Lets projects take turns, and the instances of each, so that none waits for another's backlog, however that is
 * divided. The worker reads the stream to its end. Of a project that has more in a batch than its share, it applies the
 * share and defers the rest: it notes where the rest of each instance begins, commits that with the batch, and reads
 * the entry again when the instance has its next turn. While something of an instance is deferred, whatever else comes
 * of it is deferred, too, so its messages are applied in stream order. Shares are measured in work (`workOf`).
 * Covered by test/worker/fair-share.test.ts.
 */
export class FairShare {
  readonly #options: FairShareOptions;
  /** Instances by project; the one whose turn is next comes first. */
  readonly #projects = new Map<string, Map<string, Queue>>();
  /** Of each instance that is behind. */
  readonly #projectOf = new Map<string, string>();
  readonly #kept = new LRUCache<number, Fetched>({ max: KEPT_ENTRIES });
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
    for (const instances of this.#projects.values())
      for (const { parts, first } of instances.values())
        oldest = Math.min(oldest ?? Infinity, (parts[first] as DeferredPart).storedAt);
    return oldest;
  }

  /** Whether anything of an instance (UUID) waits. */
  isBehind(instanceId: string): boolean {
    return this.#projectOf.has(instanceId);
  }

  /**
   * An entry as it is taken up now: without what exceeds the share of a project in `room`, which waits from here on,
   * and without all of the instances that are held.
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

  /** About so much work of what waits, of several projects in turn, those first that had none for longest. */
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

  /** About so much work that waits of one instance, in at most so many entries. Its next turn comes after the others'. */
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

  /** Sequences of an instance's parts that wait, up to one. */
  countUntil(instanceId: string, sequence: number): number {
    const { parts, first } = this.#instancesWith(instanceId)?.get(instanceId) ?? NOTHING;
    return parts.filter((part, place) => place >= first && part.sequence <= sequence).length;
  }

  /** Gives up what waits of an entry for an instance. */
  drop(instanceId: string, sequence: number): void {
    const { parts, first } = this.#instancesWith(instanceId)?.get(instanceId) ?? NOTHING;
    if (parts[first]?.sequence === sequence) this.#shift(instanceId);
  }

  /** The instances of its project that are behind; undefined when it is not. */
  #instancesWith(instanceId: string): Map<string, Queue> | undefined {
    return this.#projects.get(this.#projectOf.get(instanceId) ?? '');
  }

  /**
   * What of a request is taken up, from a message on, when so much work is free, and how much that is: the request
   * itself when that is all of it, null when it is nothing.
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

  /** The entries of parts, as many as it takes for so much work. */
  async #fetchAll(parts: readonly DeferredPart[], free: number): Promise<(Fetched | null)[]> {
    const first = parts[0] as DeferredPart;
    const found = [await this.#fetch(first.sequence)];
    // One large entry is enough, and the others would be read in vain.
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

  /** As much of a part as is free; the rest stays first in its queue. `found`: null when its entry is gone. */
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

/** The last of a map in its order, where it is in it. */
function moveToEnd<T>(map: Map<string, T>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
