/** Covered by test/traces/assembly/assembly.test.ts and laws.test.ts. */
import type { Observation } from '../observation.ts';
import type { NewMessage } from './known-turns.ts';
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
  /** The spans that count, in the order in which they speak. */
  readonly chosen: readonly PlacedSpan[];
  /** Where spans went, by span id. */
  readonly conversations: Map<string, ConversationName>;
  /** The conversation of spans without an id of one; null: it is not known yet. */
  own: ConversationName | null;
  /** So many of the chosen spans are merged. */
  done = 0;
  /** Messages that do not count: the trace is full. */
  leftOut = 0;
  /** How many messages its spans added, and all together. */
  readonly #added: Map<string, number>;
  #all: number;
  /** What arrived may still add so many. */
  #mayAdd = 0;
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
    this.#added = new Map(record.added);
    this.#all = [...this.#added.values()].reduce((sum, count) => sum + count, 0);
    for (const { asked, answered, mayAdd } of trace.observations)
      this.#mayAdd += mayAdd ?? asked.length + answered.length;
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

  /**
   * Of the messages of a span that were not found, those that count. What is beyond the door's count repeats others.
   * Keeps the invariant that a trace adds at most `perTrace`, and what arrived no more than the door counted.
   */
  admit(digest: string, found: readonly NewMessage[], perTrace: number): readonly NewMessage[] {
    // A process that ended may have noted it before the messages were stored.
    const name = `${this.trace.until} ${digest}`;
    this.#all -= this.#added.get(name) ?? 0;
    const admitted = found.slice(Math.max(0, found.length - this.#mayAdd));
    if (this.#all + admitted.length > perTrace) this.leftOut += admitted.splice(0).length;
    this.#added.set(name, admitted.length);
    this.#all += admitted.length;
    this.#mayAdd -= admitted.length;
    return admitted;
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
    return boundedTrace(
      { ids: this.#ids, conversations: this.conversations, spans, added: this.#added },
      kept,
    );
  }
}
