/** Covered by test/traces/assembly/assembly.test.ts and laws.test.ts. */
import type { Observation } from '../observation.ts';
import { boundedTrace, keyOf, type ConversationName, type TraceRecord } from './records.ts';
import {
  chosenOf,
  idsOf,
  placing,
  seenSpans,
  spansOf,
  type PlacedSpan,
  type SeenSpan,
  type SpanIds,
} from './spoken-spans.ts';

/** What arrived of a trace by the time it was let go. */
export interface ArrivedTrace {
  readonly projectId: string;
  readonly traceId: string;
  readonly observations: readonly Observation[];
  /** The instance for what names none. */
  readonly defaultInstanceId: string;
  /** Sequences of the oldest and the newest entry that hold a part of it. */
  readonly since: number;
  readonly until: number;
}

export function traceKey({ projectId, traceId }: Pick<ArrivedTrace, 'projectId' | 'traceId'>): string {
  return keyOf(projectId, traceId);
}

/** A trace in work: which of its spans count, where they go, and how far it has come. */
export class TracePlan {
  readonly trace: ArrivedTrace;
  /** The spans that count, in order of their start. */
  readonly chosen: readonly PlacedSpan[];
  /** Where spans went, by span id. */
  readonly conversations: Map<string, ConversationName>;
  /** The conversation of spans without an id of one; null: it is not known yet. */
  own: ConversationName | null;
  /** So many of the chosen spans are merged. */
  done = 0;
  readonly #seen: ReadonlyMap<string, SeenSpan>;
  readonly #spans: readonly Observation[];
  readonly #ids: SpanIds;

  /** `record`: what is known of the trace. */
  constructor(trace: ArrivedTrace, record: TraceRecord) {
    this.trace = trace;
    this.#seen = new Map(record.spans.map((span) => [span.spanId, span]));
    this.#spans = spansOf(trace.observations);
    this.chosen = chosenOf(this.#spans, this.#seen).map(placing(this.#spans, this.#seen, record.ids));
    this.#ids = { ...record.ids, ...idsOf(this.#spans) };
    this.conversations = new Map(record.conversations);
    this.own = [...this.conversations.values()].find(({ id }) => id === undefined) ?? null;
  }

  /** The conversation that a span of it names, or went to; null: it names none, and that of the trace is not known. */
  nameOf({ spanId, ids }: PlacedSpan): ConversationName | null {
    const known = this.conversations.get(spanId);
    if (known !== undefined) return known;
    return ids.conversationId === undefined
      ? this.own
      : { instanceId: this.instanceOf(ids), id: ids.conversationId };
  }

  instanceOf({ instanceId }: SpanIds): string {
    return instanceId ?? this.trace.defaultInstanceId;
  }

  /** The spans that name no conversation. */
  get nameless(): readonly PlacedSpan[] {
    return this.chosen.filter(({ ids }) => ids.conversationId === undefined);
  }

  /** What is known of the trace now; null: nothing that a later span of it would need. `kept`: spans. */
  recordOf(kept: number): TraceRecord | null {
    const isEmpty = this.chosen.length === 0 && this.#seen.size === 0;
    if (isEmpty && Object.values(this.#ids).every((id) => id === undefined)) return null;
    const spans = seenSpans(this.#seen, this.#spans, this.conversations);
    return boundedTrace({ ids: this.#ids, conversations: this.conversations, spans }, kept);
  }
}
