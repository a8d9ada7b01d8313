/**
 * A trace in work: which of its spans count, where they go, and how far it has come. Keeps the invariant that a trace
 * adds no more messages than it may, and what arrived no more than the door counted.
 * Test: test/doors/traces/assembly/assembly.test.ts, test/doors/traces/bounds.test.ts.
 */
import type { Observation, ObservedAttributes, ObservedFeedback, SpanIds } from '../observation.ts';
import { replyTargets } from './reply-targets.ts';
import { ToldAttributes } from './told-attributes.ts';
import { usageOfTrace, type SpanUsage, type TraceUsage } from './trace-usage.ts';
import type { NewMessage } from './merge-span.ts';
import { boundedTrace, keyOf, type ConversationName, type TraceRecord } from './records.ts';
import {
  chosenOf,
  idsOf,
  inheriting,
  placing,
  seenSpans,
  spansOf,
  Tree,
  type PlacedSpan,
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

/** The key of what is known of a trace, in a sealed bucket: who does not have the trace's id cannot read it. */
export function traceKey({ projectId, traceId }: Pick<ArrivedTrace, 'projectId' | 'traceId'>): string {
  return `${keyOf(projectId, traceId)}.${keyOf('seal', projectId, traceId)}`;
}

/** A span that counts, with the usage that lies on its messages. */
export interface SpeakingSpan extends PlacedSpan {
  readonly usages: readonly SpanUsage[];
}

/** Feedback on a span. */
export interface SpanFeedback extends ObservedFeedback {
  readonly spanId: string;
}

export class TracePlan {
  readonly trace: ArrivedTrace;
  /**
   * The spans that count, in the order in which they speak. Before them, without messages, are those that counted
   * earlier and get usage now.
   */
  readonly chosen: readonly SpeakingSpan[];
  /** Where spans went, by span id. */
  readonly conversations: Map<string, ConversationName>;
  /** So many of the chosen spans are merged. */
  done = 0;
  /** Feedback on spans of the trace, in the order in which it was given, and how much of it is done. */
  readonly feedback: readonly SpanFeedback[];
  feedbackDone = 0;
  /** Event times of the replies that spans brought, by span id. */
  readonly replies: Map<string, number>;
  /** Messages that do not count, because the trace is full. */
  leftOut = 0;
  /** How many messages each span added, and how many all together. */
  readonly #added: Map<string, number>;
  #all: number;
  /** What arrived may still add so many. */
  #mayAdd = 0;
  readonly #tree: Tree;
  readonly #ids: SpanIds;
  readonly #told: ToldAttributes;
  readonly #usage: TraceUsage;
  #targetOf: ((spanId: string) => string | undefined) | null = null;

  /** `record`: what is known of the trace. */
  constructor(trace: ArrivedTrace, record: TraceRecord) {
    this.trace = trace;
    const spans = spansOf(trace.observations);
    const tree = new Tree(spans, new Map(record.spans.map((span) => [span.spanId, span])));
    this.#tree = tree;
    const chosen = chosenOf(tree).map(placing(tree, record.ids));
    this.#usage = usageOfTrace(tree, {
      known: record.usage,
      chosen: chosen.map(({ spanId }) => spanId),
      counted: [...record.conversations.keys()],
    });
    this.chosen = withUsage(chosen, this.#usage.placed);
    this.#told = new ToldAttributes(record.attributes);
    const idsAbove = inheriting(tree);
    for (const { spanId, attributes } of spans)
      if (attributes !== undefined) this.#told.add(idsAbove(spanId).conversationId ?? '', attributes);
    this.#ids = { ...record.ids, ...idsOf(spans) };
    this.conversations = new Map(record.conversations);
    this.replies = new Map(record.replies);
    this.feedback = trace.observations
      .flatMap(({ spanId, feedback = [] }) => feedback.map((given) => ({ spanId, ...given })))
      .toSorted((a, b) => a.at - b.at || a.value - b.value || (a.spanId < b.spanId ? -1 : 1));
    this.#added = new Map(record.added);
    this.#all = [...this.#added.values()].reduce((sum, count) => sum + count, 0);
    for (const { asked, answered, mayAdd } of trace.observations)
      this.#mayAdd += mayAdd ?? asked.length + answered.length;
  }

  /**
   * The conversation to which a span went, else the one that it names; without an id, the trace is the conversation.
   */
  nameOf({ spanId, ids }: PlacedSpan): ConversationName {
    const known = this.conversations.get(spanId);
    if (known !== undefined) return known;
    const instanceId = ids.instanceId ?? this.trace.defaultInstanceId;
    const { conversationId: id } = ids;
    return id === undefined ? { instanceId, trace: this.trace.traceId } : { instanceId, id };
  }

  get isDone(): boolean {
    return this.done === this.chosen.length && this.feedbackDone === this.feedback.length;
  }

  /** The conversation and the event time of the reply that feedback is on; null: there is none. Once all are merged. */
  replyOf({ spanId }: SpanFeedback): { readonly name: ConversationName; readonly at: number } | null {
    this.#targetOf ??= replyTargets(this.#tree, new Set(this.replies.keys()));
    const target = this.#targetOf(spanId) ?? '';
    const [name, at] = [this.conversations.get(target), this.replies.get(target)];
    return name === undefined || at === undefined ? null : { name, at };
  }

  /** What the trace tells of a conversation. */
  attributesOf({ id = '' }: ConversationName): ObservedAttributes {
    return this.#told.of(id);
  }

  /** Of the new messages of a span, those that count. What is beyond the door's count repeats others. */
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

  /** What is known of the trace now; null: nothing that a later span of it would need. `kept`: spans. */
  recordOf(kept: number): TraceRecord | null {
    const isEmpty = this.chosen.length === 0 && this.#tree.seen.size === 0;
    const { stored } = this.#told;
    const { spent, unplaced: usage } = this.#usage;
    const isUntold = stored.size === 0 && usage.size === 0;
    if (isEmpty && isUntold && Object.values(this.#ids).every((id) => id === undefined)) return null;
    const { conversations, replies } = this;
    const spans = seenSpans(this.#tree, conversations, spent);
    return boundedTrace(
      { ids: this.#ids, conversations, spans, attributes: stored, usage, replies, added: this.#added },
      kept,
    );
  }
}

/** Gives spans the usage that lies on them, and puts those before them that do not speak now. */
function withUsage(
  chosen: readonly PlacedSpan[],
  placed: ReadonlyMap<string, readonly SpanUsage[]>,
): SpeakingSpan[] {
  const speaking = chosen.map((span) => ({ ...span, usages: placed.get(span.spanId) ?? [] }));
  const ids = new Set(chosen.map(({ spanId }) => spanId));
  const silent = [...placed].filter(([spanId]) => !ids.has(spanId));
  return [...silent.map(([spanId, usages]) => ({ ...SILENT, spanId, usages })), ...speaking];
}

const SILENT = { startedAt: 0, endedAt: 0, asked: [], answered: [], ids: {} };
