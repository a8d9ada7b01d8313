/**
 * The messages of OTLP (opentelemetry-proto 1.x) that a trace is read from, as data. Keeps the invariant that names are
 * those of OTLP/JSON; other fields are skipped. Test: test/doors/traces/otlp/decode.test.ts.
 */

/**
 * How a field is read.
 * - `id`: bytes, read as lower-case hex digits
 * - `time`: fixed64 nanoseconds since 1970, read as bigint
 * - `value`: an AnyValue, read when it is asked for
 */
export type FieldKind = 'string' | 'bool' | 'int' | 'double' | 'id' | 'time' | 'value' | Message;

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRepeated?: boolean;
}

/** Fields by number. Names are those of OTLP/JSON. */
export type Message = ReadonlyMap<number, Field>;

const message = (fields: Readonly<Record<number, Field>>): Message =>
  new Map(Object.entries(fields).map(([number, field]) => [Number(number), field]));

const one = (name: string, kind: FieldKind): Field => ({ name, kind });
const many = (name: string, kind: FieldKind): Field => ({ name, kind, isRepeated: true });

// common.proto, resource.proto
const KEY_VALUE = message({ 1: one('key', 'string'), 2: one('value', 'value') });
/** A value holds lists and maps of values. */
export const ANY_VALUE = new Map<number, Field>([
  [1, one('stringValue', 'string')],
  [2, one('boolValue', 'bool')],
  [3, one('intValue', 'int')],
  [4, one('doubleValue', 'double')],
]);
const MEMBER = message({ 1: one('key', 'string'), 2: one('value', ANY_VALUE) });
ANY_VALUE.set(5, one('arrayValue', message({ 1: many('values', ANY_VALUE) })));
ANY_VALUE.set(6, one('kvlistValue', message({ 1: many('values', MEMBER) })));
const RESOURCE = message({ 1: many('attributes', KEY_VALUE) });

// trace.proto
const EVENT = message({ 2: one('name', 'string'), 3: many('attributes', KEY_VALUE) });
const SPAN = message({
  1: one('traceId', 'id'),
  2: one('spanId', 'id'),
  4: one('parentSpanId', 'id'),
  5: one('name', 'string'),
  7: one('startTimeUnixNano', 'time'),
  8: one('endTimeUnixNano', 'time'),
  9: many('attributes', KEY_VALUE),
  11: many('events', EVENT),
});
const SCOPE_SPANS = message({ 2: many('spans', SPAN) });
const RESOURCE_SPANS = message({ 1: one('resource', RESOURCE), 2: many('scopeSpans', SCOPE_SPANS) });

// logs.proto
const LOG_RECORD = message({
  1: one('timeUnixNano', 'time'),
  5: one('body', 'value'),
  6: many('attributes', KEY_VALUE),
  9: one('traceId', 'id'),
  10: one('spanId', 'id'),
  11: one('observedTimeUnixNano', 'time'),
  12: one('eventName', 'string'),
});
const SCOPE_LOGS = message({ 2: many('logRecords', LOG_RECORD) });
const RESOURCE_LOGS = message({ 1: one('resource', RESOURCE), 2: many('scopeLogs', SCOPE_LOGS) });

// trace_service.proto, logs_service.proto
export const EXPORT_TRACES = message({ 1: many('resourceSpans', RESOURCE_SPANS) });
export const EXPORT_LOGS = message({ 1: many('resourceLogs', RESOURCE_LOGS) });
