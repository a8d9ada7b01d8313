/**
 * Holds the spans of a trace until all their parents have arrived or the wait is over. Then the trace is ready, and
 * projects take turns with their ready traces. Keeps the invariant that a trace stands once in its lane: it waits, or
 * it is ready. Test: test/doors/traces/assembly/trace-buffer.test.ts, turns.test.ts.
 */
import { Shares } from '../../../domain/shares.ts';
import { FairQueue } from '../../../domain/turns.ts';
import type { Observation } from '../observation.ts';
import type { TraceEntry } from '../trace-entry.ts';
import { isComplete, Tree, type SeenSpan } from './spoken-spans.ts';
import type { ArrivedTrace } from './trace-plan.ts';

export interface TraceBufferOptions {
  /** A trace waits for missing parents of its spans until its last span arrived this long ago. */
  readonly waitMs: number;
  /** Waiting spans of all projects take about this much memory at most. */
  readonly maxBytes: number;
  /** Returns milliseconds that never go back. */
  readonly now: () => number;
}

/** Names a trace. */
type TraceName = Pick<ArrivedTrace, 'projectId' | 'traceId'>;

/** A trace that waits for the rest of it, or to be assembled. */
interface Held extends ArrivedTrace {
  readonly observations: Observation[];
  since: number;
  until: number;
  /** When its first span came, and the last one for which it waits longer. */
  readonly heldAt: number;
  changedAt: number;
  /** When the first of its spans began, microseconds. */
  startedAt: number;
  bytes: number;
  /** Its spans that were let go before; null: nobody has looked them up. */
  seen: ReadonlyMap<string, SeenSpan> | null;
}

/** The traces of one project. */
interface Lane {
  /** By trace id, those that are ready as well; not those that were given back. */
  readonly held: Map<string, Held>;
  /** In the order in which they last got a span. */
  readonly waiting: Set<Held>;
  /** Of those that became ready at once, what began first comes first. */
  readonly ready: Set<Held>;
  /** They come before all others: the last one first. */
  readonly givenBack: Held[];
  bytes: number;
  /** Spans and log records. */
  spans: number;
}

/** A parsed span with a trace of its own, and each of its messages, take this much memory besides their texts. */
const [OBSERVATION_BYTES, MESSAGE_BYTES] = [1500, 60];
/**
 * A trace that keeps getting spans waits at most this many times `waitMs`, because the stream keeps all later entries
 * meanwhile.
 */
export const LONGEST_WAITS = 4;
/** The buffer remembers at most so many spans that were let go before. */
const SEEN_KEPT = 50_000;
const NOTHING_SEEN: ReadonlyMap<string, SeenSpan> = new Map();

export class TraceBuffer {
  readonly #options: TraceBufferOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #room: Shares;
  /** Each trace that becomes ready gives its project one turn. */
  readonly #turns = new FairQueue<Lane>();
  /** The traces that have got spans, or parents, since `#look` looked at them. */
  readonly #fresh = new Set<Held>();
  /** The assembler has yet to look these traces up, which lack parents of their spans. */
  readonly #lacking = new FairQueue<Held>();
  /** The traces with spans that were let go before, and how many spans these are. */
  readonly #recalled = new Set<Held>();
  #seen = 0;
  /** The stream holds more entries of these projects. Their traces wait for those as long as memory allows it. */
  readonly #behind = new Set<string>();

  constructor(options: TraceBufferOptions) {
    this.#options = options;
    this.#room = new Shares(options.maxBytes);
  }

  get traces(): number {
    let traces = 0;
    for (const { held, givenBack } of this.#lanes.values()) traces += held.size + givenBack.length;
    return traces;
  }

  /** About how many bytes the waiting spans take. */
  get held(): number {
    return this.#room.held;
  }

  /** The sequence of the oldest entry with a span that waits; Infinity when nothing waits. */
  get oldestSequence(): number {
    let oldest = Infinity;
    for (const { held, givenBack } of this.#lanes.values())
      for (const { since } of [...held.values(), ...givenBack]) oldest = Math.min(oldest, since);
    return oldest;
  }

  /** Milliseconds until the next trace has waited long enough, or 0 when one is ready; null when none waits. */
  get nextMs(): number | null {
    let next: number | null = null;
    for (const [projectId, lane] of this.#lanes) {
      if (isReady(lane)) return 0;
      const [first] = lane.waiting;
      if (first === undefined || this.#behind.has(projectId)) continue;
      const ms = first.changedAt + this.#options.waitMs - this.#options.now();
      next = Math.min(next ?? Infinity, Math.max(0, ms));
    }
    return next;
  }

  /** How many spans and log records of a project wait. */
  spansOf(projectId: string): number {
    return this.#lanes.get(projectId)?.spans ?? 0;
  }

  /** The projects that have waiting spans. */
  get projects(): Iterable<string> {
    return this.#lanes.keys();
  }

  /** Tells whether a project may hold this many bytes more. */
  fits(projectId: string, bytes: number): boolean {
    return this.#room.fits(projectId, bytes);
  }

  /** Notes whether the stream holds more entries of a project than memory has room for. */
  setBehind(projectId: string, isBehind: boolean): void {
    if (isBehind) this.#behind.add(projectId);
    else this.#behind.delete(projectId);
  }

  add(entry: TraceEntry, sequence: number): void {
    const { projectId, instanceId } = entry;
    const unknown = new Set(entry.unknownInstanceIds);
    for (const observation of entry.observations) {
      if (instanceId === null && unknown.has(observation.instanceId ?? '')) continue;
      const lane = this.#laneOf(projectId);
      const held = this.#heldOf(lane, entry, observation, sequence);
      held.observations.push(instanceId === null ? observation : { ...observation, instanceId });
      held.since = Math.min(held.since, sequence);
      held.until = Math.max(held.until, sequence);
      held.startedAt = Math.min(held.startedAt, observation.startedAt);
      const bytes = bytesOf(observation);
      held.bytes += bytes;
      this.#count(lane, projectId, bytes, 1);
      this.#fresh.add(held);
    }
  }

  /** The trace that gets a span: it waits, again and longer. */
  #heldOf(
    lane: Lane,
    { projectId, defaultInstanceId }: TraceEntry,
    { traceId, startedAt }: Observation,
    sequence: number,
  ): Held {
    const now = this.#options.now();
    const held = lane.held.get(traceId) ?? {
      projectId,
      traceId,
      defaultInstanceId,
      observations: [],
      since: sequence,
      until: sequence,
      heldAt: now,
      changedAt: now,
      startedAt,
      bytes: 0,
      seen: null,
    };
    lane.held.set(traceId, held);
    const wasReady = lane.ready.delete(held);
    if (now - held.heldAt <= (LONGEST_WAITS - 1) * this.#options.waitMs) {
      held.changedAt = now;
      lane.waiting.delete(held);
      lane.waiting.add(held);
    } else if (wasReady) lane.waiting.add(held);
    return held;
  }

  /** Returns each trace that lacks parents of its spans once: they may have been let go before. */
  takeLacking(most: number): TraceName[] {
    this.#look();
    const lacking: Held[] = [];
    while (lacking.length < most) {
      const held = this.#lacking.take();
      if (held === undefined) break;
      if (this.#lanes.get(held.projectId)?.waiting.has(held) === true) lacking.push(held);
    }
    return lacking;
  }

  /** Notes which spans of a trace were let go before. */
  recall({ projectId, traceId }: TraceName, spans: readonly SeenSpan[]): void {
    const held = this.#lanes.get(projectId)?.held.get(traceId);
    if (held === undefined) return;
    this.#forget(held);
    held.seen = new Map(spans.map((span) => [span.spanId, span]));
    this.#seen += held.seen.size;
    this.#recalled.add(held);
    this.#fresh.add(held);
    for (const oldest of this.#recalled) {
      if (this.#seen <= SEEN_KEPT) break;
      this.#forget(oldest);
    }
  }

  #forget(held: Held): void {
    if (!this.#recalled.delete(held)) return;
    this.#seen -= held.seen?.size ?? 0;
    held.seen = NOTHING_SEEN;
  }

  /** Returns at most `most` traces whose turn comes next. */
  upcoming(most: number): readonly ArrivedTrace[] {
    this.#look();
    const lanes = [...this.#lanes.values()].map(({ givenBack, ready }) => [
      ...givenBack.slice(-most).toReversed(),
      ...firstOf(ready, most),
    ]);
    const found: ArrivedTrace[] = [];
    for (let index = 0; found.length < most && lanes.some((lane) => index < lane.length); index += 1)
      for (const lane of lanes) found.push(...lane.slice(index, index + 1));
    return found.slice(0, most);
  }

  /** Takes the first trace of the project whose turn it is. */
  next(): ArrivedTrace | undefined {
    this.#look();
    for (let lane = this.#turns.take(); lane !== undefined; lane = this.#turns.take()) {
      const again = lane.givenBack.pop();
      const [first] = lane.ready;
      const held = again ?? first;
      if (held === undefined) continue;
      if (again === undefined) {
        lane.ready.delete(held);
        lane.held.delete(held.traceId);
        this.#forget(held);
      }
      this.#count(lane, held.projectId, -held.bytes, -held.observations.length);
      if (lane.held.size === 0 && lane.givenBack.length === 0) this.#lanes.delete(held.projectId);
      return held;
    }
    return undefined;
  }

  /** The trace is to come again, before all others of its project. */
  giveBack(trace: ArrivedTrace): void {
    const held = trace as Held;
    const lane = this.#laneOf(held.projectId);
    lane.givenBack.push(held);
    this.#count(lane, held.projectId, held.bytes, held.observations.length);
    this.#turns.push(held.projectId, lane);
  }

  /** Makes room for `bytes`: the oldest traces of the project that holds most wait no longer. */
  press(bytes: number): void {
    const most = [...this.#lanes.values()].reduce<Lane | null>(
      (largest, lane) => (largest === null || lane.bytes > largest.bytes ? lane : largest),
      null,
    );
    // Its ready traces make room as soon as they are assembled.
    if (most === null || isReady(most)) return;
    let pressed = 0;
    for (const held of most.waiting) {
      if (pressed >= bytes) return;
      pressed += held.bytes;
      this.#makeReady(most, held);
    }
  }

  /** Finds out which traces are complete, or have waited long enough. */
  #look(): void {
    const { now, waitMs } = this.#options;
    const found = new Set<Held>();
    for (const held of this.#fresh) {
      if (this.#lanes.get(held.projectId)?.waiting.has(held) !== true) continue;
      const { projectId, observations, seen, heldAt } = held;
      const isOld = heldAt + LONGEST_WAITS * waitMs <= now() && !this.#behind.has(projectId);
      if (isOld || isComplete(new Tree(observations, seen ?? NOTHING_SEEN))) found.add(held);
      else if (seen === null) {
        held.seen = NOTHING_SEEN;
        this.#lacking.push(projectId, held);
      }
    }
    this.#fresh.clear();
    for (const [projectId, { waiting }] of this.#lanes) {
      if (this.#behind.has(projectId)) continue;
      for (const held of waiting) {
        if (held.changedAt + waitMs > now()) break;
        found.add(held);
      }
    }
    for (const held of [...found].toSorted((a, b) => a.startedAt - b.startedAt))
      this.#makeReady(this.#laneOf(held.projectId), held);
  }

  #makeReady(lane: Lane, held: Held): void {
    lane.waiting.delete(held);
    lane.ready.add(held);
    this.#turns.push(held.projectId, lane);
  }

  #count(lane: Lane, projectId: string, bytes: number, spans: number): void {
    lane.bytes += bytes;
    lane.spans += spans;
    this.#room.take(projectId, bytes);
  }

  #laneOf(projectId: string): Lane {
    let lane = this.#lanes.get(projectId);
    if (lane === undefined) {
      lane = { held: new Map(), waiting: new Set(), ready: new Set(), givenBack: [], bytes: 0, spans: 0 };
      this.#lanes.set(projectId, lane);
    }
    return lane;
  }
}

function firstOf<T>(items: Iterable<T>, most: number): T[] {
  const found: T[] = [];
  for (const item of items) {
    if (found.length === most) break;
    found.push(item);
  }
  return found;
}

function isReady({ ready, givenBack }: Lane): boolean {
  return ready.size > 0 || givenBack.length > 0;
}

/** Estimates the bytes that a span takes in memory. */
export function bytesOf({ asked, answered, attributes = {} }: Observation): number {
  let bytes = OBSERVATION_BYTES;
  for (const { content } of asked) bytes += MESSAGE_BYTES + 2 * content.length;
  for (const { content } of answered) bytes += MESSAGE_BYTES + 2 * content.length;
  for (const [name, value] of Object.entries(attributes))
    bytes += MESSAGE_BYTES + 2 * (name.length + String(value).length);
  return bytes;
}
