/** Spans and log records as traces hold them, whatever they were written in. It has types only. */

/** A value of an attribute. What is nested too deep, and bytes, are null. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };

export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

export interface Span {
  /** 32 hex digits, lower case. */
  readonly traceId: string;
  /** 16 hex digits, lower case. */
  readonly spanId: string;
  /** Absent: nothing is above it in its trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** Microseconds since 1970-01-01 UTC. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Those that a convention reads; the others are skipped. */
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** Of the process that wrote the span. */
  readonly resource: Attributes;
}

/** A log record that carries an event of a convention. */
export interface EventRecord extends SpanEvent {
  readonly traceId: string;
  readonly spanId: string;
  /** Microseconds since 1970-01-01 UTC. */
  readonly at: number;
  readonly body: AttributeValue;
  readonly resource: Attributes;
}
