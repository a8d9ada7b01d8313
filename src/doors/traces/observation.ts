/**
 * Types that all tracing conventions (OpenTelemetry GenAI, OpenInference, AI SDK …) are converted to.
 *
 * Test: test/doors/traces/otlp/read.test.ts.
 */
import type { Usage } from '../../domain/usage.ts';

/** A message of a user or the assistant; never a system prompt, tool call or tool result. */
export interface ObservedMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * Kinds of observations by their span:
 * - `agent`: all that an application did for one message of a user, or a workflow or chain of such steps
 * - `chat`: one call of a model
 * - `event`: messages that arrived apart from their span, in log records that name it. Those of one request are one
 *   observation in the order of writing; the next request may bring more
 * - `other`: no messages (HTTP, tools, retrieval, embeddings, guardrails …), but a place in the tree of its trace, and
 *   perhaps the ids of conversation and user
 */
export type ObservationKind = 'agent' | 'chat' | 'event' | 'other';

/** A value of a conversation's attribute, as sent. */
export type ObservedValue = string | number | boolean;

/** What tells conversations apart, by name: bounded in number, and in length as attributes are. */
export type ObservedAttributes = Readonly<Record<string, ObservedValue>>;

/** A thumb of an end user on what a span, or what is above it, answered. */
export interface ObservedFeedback {
  readonly value: 1 | -1;
  /** When it was given, microseconds since 1970. */
  readonly at: number;
}

/** What a span names. */
export interface SpanIds {
  /** The caller's name of the conversation (`gen_ai.conversation.id`, `session.id`, …), any text. */
  readonly conversationId?: string | undefined;
  /** The caller's name of the end user, any text. */
  readonly userId?: string | undefined;
  /** UUID, if the application names its instance. */
  readonly instanceId?: string | undefined;
}

/** One span, or the log records of a span. */
export interface Observation extends SpanIds {
  /** 32 hex digits, lower case. */
  readonly traceId: string;
  /** 16 hex digits, lower case; of an event: its span's. */
  readonly spanId: string;
  /** Absent for the root of the trace, and for events. */
  readonly parentSpanId?: string;
  readonly kind: ObservationKind;
  /** Microseconds since 1970. Of an event: the times of its first and last record. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Attributes of the conversation that the span or its resource names. */
  readonly attributes?: ObservedAttributes;
  /** What a call took; of an agent, mostly the sum of its calls. */
  readonly usage?: Usage;
  readonly feedback?: readonly ObservedFeedback[];
  /** Input of the span in order: history first, the last question last. */
  readonly asked: readonly ObservedMessage[];
  /**
   * True if the input ends with a tool call or result: the span continues with the question of an earlier call. It
   * distinguishes an agent's second call from another user with the same question.
   */
  readonly continues?: boolean;
  /** Output of the span: messages of the assistant. */
  readonly answered: readonly ObservedMessage[];
  /**
   * True for a model call without content: the opt-in is off, or events of the same span hold the messages. For an
   * event without content: the opt-in is off.
   */
  readonly lacksContent: boolean;
  /** Maximum of messages that may be new in the trace, as the intake counted; absent: all. */
  readonly mayAdd?: number;
}
