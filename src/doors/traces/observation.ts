/** What the conventions of tracing (OpenTelemetry GenAI, OpenInference, AI SDK …) have in common. It has types only. */

/** A text that a person or the assistant said. System prompts and the calls and results of tools are none. */
export interface ObservedMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * What a span says about a conversation.
 * - `agent`: everything that an application did for one message of a person, or a workflow or chain of such steps
 * - `chat`: one call of a model
 * - `event`: messages that arrived apart from their span (log records, which name their span). Those of a span are one
 *   observation if they arrive in one request, in the order in which they were written; the next request may bring more
 * - `other`: no messages (HTTP, tools, retrieval, embeddings, guardrails …), but a place in the tree of its trace, and
 *   perhaps the ids of conversation and user
 */
export type ObservationKind = 'agent' | 'chat' | 'event' | 'other';

/** One span, or log records that belong to a span. */
export interface Observation {
  /** 32 hex digits, lower case. */
  readonly traceId: string;
  /** 16 hex digits, lower case; of an event: its span's. */
  readonly spanId: string;
  /** Absent: nothing is above it in its trace. Of an event: unknown, so absent. */
  readonly parentSpanId?: string;
  readonly kind: ObservationKind;
  /** Microseconds since 1970-01-01 UTC. Of an event: of the first and of the last record. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Any text: the caller's name of the conversation (`gen_ai.conversation.id`, `session.id`, …). */
  readonly conversationId?: string;
  /** Any text: the caller's name of the end user. */
  readonly userId?: string;
  /** A UUID, when the application names its instance. */
  readonly instanceId?: string;
  /** What the span took in, in the order in which it was given: the history first, the last question last. */
  readonly asked: readonly ObservedMessage[];
  /**
   * What it took in ends with the call or result of a tool: it goes on with a question that an earlier call was asked.
   * Tells the second call of an agent from somebody else who asks the same.
   */
  readonly continues?: boolean;
  /** What came out: the assistant alone. */
  readonly answered: readonly ObservedMessage[];
  /**
   * It is a call of a model, but has no content: the opt-in is off, or the messages are in events of the
   * same span. An event whose messages have no content says that the opt-in is off.
   */
  readonly lacksContent: boolean;
  /** So many messages of it may be new in its trace, as the door counted; absent: all of them. */
  readonly mayAdd?: number;
}
