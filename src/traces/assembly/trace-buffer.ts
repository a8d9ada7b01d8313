import type { Observation } from '../observation.ts';
import type { TraceEntry } from '../trace-entry.ts';
import type { ArrivedTrace } from './assembly.ts';
import { isComplete, type SeenSpan } from './spoken-spans.ts';

export interface TraceBufferOptions {
  /** How long a trace waits for what is above its spans, after the last one of them arrived. */
  readonly waitMs: number;
  /** Of the text that waits, about; then the oldest traces wait no longer. */
  readonly maxBytes: number;
  /** Milliseconds, never going back. */
  readonly now: () => number;
  /** Spans that are remembered of all traces that were let go. Default 200,000. */
  readonly linksKept?: number;
}

interface Held {
  readonly projectId: string;
  readonly traceId: string;
  readonly defaultInstanceId: string;
  readonly observations: Observation[];
  readonly since: number;
  until: number;
  /** When the first of its spans came. */
  readonly heldAt: number;
  bytes: number;
  changedAt: number;
  /** When the first of its spans began, microseconds. */
  startedAt: number;
  /** It has got spans since it was looked at. */
  isFresh: boolean;
  /** Its record was asked for. */
  isRecalled: boolean;
  isComplete: boolean;
}

interface LinkedSpan {
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
}

/** Besides its texts. */
const OBSERVATION_BYTES = 400;
const LINKS_KEPT = 200_000;
/**
 * So many times the wait, a trace is held that gets spans all the time: it may never end, and what it came with stays
 * on the stream as long, with all that came after it.
 */
const LONGEST_WAITS = 4;

/** Holds the spans of a trace until all that is above them is there, or has been waited for long enough. */
export class TraceBuffer {
  readonly #options: TraceBufferOptions;
  /** In the order in which they last got a span. */
  readonly #held = new Map<string, Held>();
  /** Spans of traces that were let go; only what saves waiting. */
  readonly #links = new Map<string, Map<string, SeenSpan>>();
  #linked = 0;
  #bytes = 0;

  constructor(options: TraceBufferOptions) {
    this.#options = options;
  }

  /** Spans that are remembered of traces that were let go. */
  get linked(): number {
    return this.#linked;
  }

  get traces(): number {
    return this.#held.size;
  }

  /** The oldest entry of which something waits; null when nothing does. */
  get oldestSequence(): number | null {
    let oldest: number | null = null;
    for (const { since } of this.#held.values()) oldest = Math.min(oldest ?? since, since);
    return oldest;
  }

  /** Milliseconds until the next trace has waited long enough; null when none waits. */
  get nextMs(): number | null {
    const [first] = this.#held.values();
    if (first === undefined) return null;
    return Math.max(0, first.changedAt + this.#options.waitMs - this.#options.now());
  }

  add(entry: TraceEntry, sequence: number): void {
    const { projectId, instanceId, defaultInstanceId } = entry;
    const unknown = new Set(entry.unknownInstanceIds);
    for (const observation of entry.observations) {
      if (instanceId === null && unknown.has(observation.instanceId ?? '')) continue;
      const key = `${projectId} ${observation.traceId}`;
      const held = this.#held.get(key) ?? {
        projectId,
        traceId: observation.traceId,
        defaultInstanceId,
        observations: [],
        since: sequence,
        until: sequence,
        heldAt: this.#options.now(),
        bytes: 0,
        changedAt: 0,
        startedAt: Infinity,
        isFresh: true,
        isRecalled: false,
        isComplete: false,
      };
      this.#held.delete(key);
      this.#held.set(key, held);
      held.observations.push(instanceId === null ? observation : { ...observation, instanceId });
      held.until = sequence;
      const bytes = sizeOf(observation);
      held.bytes += bytes;
      this.#bytes += bytes;
      held.changedAt = this.#options.now();
      held.startedAt = Math.min(held.startedAt, observation.startedAt);
      held.isFresh = true;
      held.isComplete = false;
    }
  }

  #look(key: string, held: Held): void {
    if (held.isFresh && isComplete(held.observations, this.#links.get(key) ?? NONE)) held.isComplete = true;
    held.isFresh = false;
  }

  /** Traces that lack something above their spans, each once: another process may have let it go. */
  takeLacking(): Pick<ArrivedTrace, 'projectId' | 'traceId'>[] {
    const lacking: Held[] = [];
    for (const [key, held] of this.#held) {
      if (held.isRecalled) continue;
      this.#look(key, held);
      if (held.isComplete) continue;
      held.isRecalled = true;
      lacking.push(held);
    }
    return lacking;
  }

  /** Spans of a trace that were let go before. */
  recall(
    { projectId, traceId }: Pick<ArrivedTrace, 'projectId' | 'traceId'>,
    spans: readonly SeenSpan[],
  ): void {
    const key = `${projectId} ${traceId}`;
    this.#link(key, spans);
    const held = this.#held.get(key);
    if (held !== undefined) held.isFresh = true;
  }

  /** Lets go of what is complete, has waited long enough, or is too much, at most so many; what began first, first. */
  takeReady(most: number): ArrivedTrace[] {
    const { waitMs } = this.#options;
    const before = this.#options.now() - waitMs;
    const longBefore = this.#options.now() - LONGEST_WAITS * waitMs;
    let surplus = this.#bytes - this.#options.maxBytes;
    const ready: [key: string, held: Held][] = [];
    for (const [key, held] of this.#held) {
      this.#look(key, held);
      const mayWait = held.changedAt > before && held.heldAt > longBefore;
      if (!held.isComplete && mayWait && surplus <= 0) continue;
      surplus -= held.bytes;
      ready.push([key, held]);
    }
    const first = ready.toSorted(([, a], [, b]) => a.startedAt - b.startedAt).slice(0, most);
    for (const [key, held] of first) {
      this.#held.delete(key);
      this.#bytes -= held.bytes;
      this.#link(
        key,
        held.observations.filter(({ kind }) => kind !== 'event'),
      );
    }
    return first.map(([, held]) => held);
  }

  #link(key: string, spans: readonly LinkedSpan[]): void {
    const links = this.#links.get(key) ?? new Map<string, SeenSpan>();
    const before = links.size;
    for (const { spanId, parentSpanId } of spans) links.set(spanId, { spanId, parentSpanId, counted: false });
    this.#linked += links.size - before;
    this.#links.delete(key);
    this.#links.set(key, links);
    for (const [oldest, { size }] of this.#links) {
      if (this.#linked <= (this.#options.linksKept ?? LINKS_KEPT)) break;
      this.#links.delete(oldest);
      this.#linked -= size;
    }
  }
}

const NONE: ReadonlyMap<string, SeenSpan> = new Map();

function sizeOf({ asked, answered }: Observation): number {
  let bytes = OBSERVATION_BYTES;
  for (const { content } of asked) bytes += 2 * content.length;
  for (const { content } of answered) bytes += 2 * content.length;
  return bytes;
}
