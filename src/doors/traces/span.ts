/**
 * Types of spans and log records, independent of their encoding.
 *
 * Test: test/doors/traces/otlp/decode.test.ts.
 */

/** Value of an attribute. Values nested too deep, and bytes, are null. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };

export type Attributes = ReadonlyMap<string, AttributeValue>;

export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

export interface Span {
  /** 32 hex digits, lower case. */
  readonly traceId: string;
  /** 16 hex digits, lower case. */
  readonly spanId: string;
  /** Absent for the root of the trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** Microseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Only attributes that a convention reads. */
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** Attributes of the process that wrote the span. */
  readonly resource: Attributes;
}

/** A log record with an event of a convention. */
export interface EventRecord extends SpanEvent {
  readonly traceId: string;
  readonly spanId: string;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly body: AttributeValue;
  readonly resource: Attributes;
}
