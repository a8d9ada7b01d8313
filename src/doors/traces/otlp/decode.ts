/**
 * Spans and log records in requests of exporters. Keeps the invariant that a span that cannot be used is rejected
 * alone, with its place. Test: test/doors/traces/otlp/decode.test.ts.
 */
import { AppError } from '../../../errors.ts';
import type { Attributes, AttributeValue, EventRecord, Span, SpanEvent } from '../span.ts';
import { isObject } from '../values.ts';
import { valueOfJson, valueOfProtobuf } from './any-value.ts';
import { readMessage, WireError, type Fields } from './protobuf.ts';
import { EXPORT_LOGS, EXPORT_TRACES, type Message } from './schema.ts';

export type Encoding = 'protobuf' | 'json';

/** A span or log record that cannot be used, and why. */
export interface Rejection {
  /** A dotted path such as `resourceSpans.0.scopeSpans.0.spans.7`. */
  readonly place: string;
  readonly reason: string;
}

export interface Decoded<T> {
  readonly items: readonly T[];
  /** How many spans or log records the request has, rejected and skipped ones included. */
  readonly count: number;
  readonly rejected: readonly Rejection[];
}

/** Which attributes are read. */
export type Wanted = (key: string) => boolean;

/** A request has at most so many messages and values inside; exporters send some hundred spans at a time. */
const MAX_PARTS = 2_000_000;
const MAX_ITEMS = 100_000;

/** Throws AppError where the whole request cannot be read; a span that cannot be used is rejected alone. */
export function decodeTraces(bytes: Uint8Array, encoding: Encoding, wanted: Wanted): Decoded<Span> {
  const reading = new Reading(encoding, wanted, 'ExportTraceServiceRequest');
  const request = reading.request(bytes, EXPORT_TRACES);
  return reading.items(request, ['resourceSpans', 'scopeSpans', 'spans'], (fields, resource) =>
    spanOf(reading, fields, resource),
  );
}

/** `isEvent`: whether a record with this event name and these attributes is read; all others are skipped. */
export function decodeLogs(
  bytes: Uint8Array,
  encoding: Encoding,
  wanted: Wanted,
  isEvent: (name: string, attributes: Attributes) => boolean,
): Decoded<EventRecord> {
  const isWanted: Wanted = (key) => EVENT_NAMES.includes(key) || wanted(key);
  const reading = new Reading(encoding, isWanted, 'ExportLogsServiceRequest');
  const request = reading.request(bytes, EXPORT_LOGS);
  return reading.items(request, ['resourceLogs', 'scopeLogs', 'logRecords'], (fields, resource) =>
    recordOf(reading, fields, resource, isEvent),
  );
}

/** Where the name of an event was before log records had a field for it, and where LiteLLM writes it. */
const EVENT_NAMES = ['event.name', 'event_name'];

/** Why an item is rejected. */
class ItemError extends Error {}

/** Reads one request. */
class Reading {
  readonly #encoding: Encoding;
  readonly #wanted: Wanted;
  readonly #name: string;
  #parts = 0;

  constructor(encoding: Encoding, wanted: Wanted, name: string) {
    this.#encoding = encoding;
    this.#wanted = wanted;
    this.#name = name;
  }

  request(bytes: Uint8Array, schema: Message): Fields {
    return this.#encoding === 'protobuf' ? this.#protobuf(bytes, schema) : this.#json(bytes);
  }

  #protobuf(bytes: Uint8Array, schema: Message): Fields {
    try {
      return readMessage(bytes, schema, this.#tick);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      throw new AppError('BAD_REQUEST', `The body is not an ${this.#name} in protobuf: ${error.message}.`, {
        cause: error,
      });
    }
  }

  #json(bytes: Uint8Array): Fields {
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder('utf-8').decode(bytes));
    } catch (error) {
      throw new AppError('BAD_REQUEST', `The body is not an ${this.#name}: it is not valid JSON.`, {
        cause: error,
      });
    }
    if (isObject(value)) return value;
    throw new AppError('VALIDATION_ERROR', `The body is not an ${this.#name}: it must be a JSON object.`);
  }

  readonly #tick = (): void => {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) throw tooLarge(`${MAX_PARTS} values`);
  };

  /** The items in three lists inside each other, each with its resource's attributes. */
  items<T>(
    request: Fields,
    names: readonly [groups: string, scopes: string, leaves: string],
    itemOf: (fields: Fields, resource: Attributes) => T | null,
  ): Decoded<T> {
    const scopes = this.#scopes(request, names);
    const count = scopes.reduce((sum, { leaves }) => sum + leaves.length, 0);
    if (count > MAX_ITEMS) throw tooLarge(`${MAX_ITEMS} ${names[2]}`);
    const items: T[] = [];
    const rejected: Rejection[] = [];
    for (const { leaves, path, resource } of scopes)
      for (const [index, leaf] of leaves.entries()) {
        try {
          if (!isObject(leaf)) throw new ItemError('is not an object');
          const item = itemOf(leaf, resource);
          if (item !== null) items.push(item);
        } catch (error) {
          if (!(error instanceof ItemError)) throw error;
          rejected.push({ place: `${path}.${index}`, reason: error.message });
        }
      }
    return { items, count, rejected };
  }

  #scopes(
    request: Fields,
    [groups, scopes, leaves]: readonly [string, string, string],
  ): { leaves: readonly unknown[]; path: string; resource: Attributes }[] {
    return this.#list(request[groups], groups).flatMap((group, g) => {
      const resource = this.#resource(group['resource'], `${groups}.${g}.resource`);
      return this.#list(group[scopes], `${groups}.${g}.${scopes}`).map((scope, s) => {
        const path = `${groups}.${g}.${scopes}.${s}.${leaves}`;
        return { leaves: listOf(scope[leaves], path), path, resource };
      });
    });
  }

  #list(value: unknown, path: string): Fields[] {
    return listOf(value, path).map((member, index) => {
      if (isObject(member)) return member;
      throw invalid(`${path}.${index}`, 'must be an object');
    });
  }

  #resource(value: unknown, path: string): Attributes {
    if (value === undefined || value === null) return new Map();
    if (!isObject(value)) throw invalid(path, 'must be an object');
    try {
      return this.attributes(value['attributes']);
    } catch (error) {
      if (error instanceof ItemError) throw invalid(path, error.message);
      throw error;
    }
  }

  /** Throws ItemError. */
  attributes(value: unknown, wanted = this.#wanted): Attributes {
    const attributes = new Map<string, AttributeValue>();
    if (value === undefined || value === null) return attributes;
    if (!Array.isArray(value)) throw new ItemError('attributes must be a list');
    for (const entry of value as readonly unknown[]) {
      if (!isObject(entry)) throw new ItemError('attributes must be a list of objects');
      const key = entry['key'];
      if (typeof key === 'string' && wanted(key)) attributes.set(key, this.value(entry['value']));
    }
    return attributes;
  }

  /** Throws ItemError. */
  value(value: unknown): AttributeValue {
    if (!(value instanceof Uint8Array)) return valueOfJson(value, this.#tick);
    try {
      return valueOfProtobuf(value, this.#tick);
    } catch (error) {
      if (error instanceof WireError) throw new ItemError(`has a value that is broken: ${error.message}`);
      throw error;
    }
  }
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalid(path, 'must be a list');
}

function invalid(path: string, message: string): AppError {
  return new AppError('VALIDATION_ERROR', `${path} ${message}.`, { details: [{ path, message }] });
}

function tooLarge(what: string): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `A request has at most ${what}. Send fewer spans or log records at a time.`,
  );
}

function spanOf(reading: Reading, fields: Fields, resource: Attributes): Span {
  const startedAt = microsOf(fields['startTimeUnixNano'], 'startTimeUnixNano');
  if (startedAt === 0) throw new ItemError('has no startTimeUnixNano');
  const endedAt = microsOf(fields['endTimeUnixNano'], 'endTimeUnixNano');
  const parentSpanId = idOf(fields['parentSpanId'], 16, 'parentSpanId');
  return {
    traceId: required(idOf(fields['traceId'], 32, 'traceId'), 'traceId'),
    spanId: required(idOf(fields['spanId'], 16, 'spanId'), 'spanId'),
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name: nameOf(fields['name']),
    startedAt,
    endedAt: Math.max(startedAt, endedAt),
    attributes: reading.attributes(fields['attributes']),
    events: eventsOf(reading, fields['events']),
    resource,
  };
}

function eventsOf(reading: Reading, value: unknown): SpanEvent[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ItemError('events must be a list');
  return (value as readonly unknown[]).filter(isObject).map((event) => ({
    name: nameOf(event['name']),
    attributes: reading.attributes(event['attributes'], () => true),
  }));
}

function recordOf(
  reading: Reading,
  fields: Fields,
  resource: Attributes,
  isEvent: (name: string, attributes: Attributes) => boolean,
): EventRecord | null {
  const attributes = reading.attributes(fields['attributes']);
  const name =
    [fields['eventName'], ...EVENT_NAMES.map((key) => attributes.get(key))].map(nameOf).find(Boolean) ?? '';
  if (!isEvent(name, attributes)) return null;
  const traceId = idOf(fields['traceId'], 32, 'traceId');
  const spanId = idOf(fields['spanId'], 16, 'spanId');
  if (traceId === null || spanId === null) throw new ItemError('names no span');
  const at =
    microsOf(fields['timeUnixNano'], 'timeUnixNano') ||
    microsOf(fields['observedTimeUnixNano'], 'observedTimeUnixNano');
  if (at === 0) throw new ItemError('has no timeUnixNano');
  return { traceId, spanId, at, name, attributes, body: reading.value(fields['body']), resource };
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Lower-case hex digits; null where the id is missing or, which means the same, zero. */
function idOf(value: unknown, length: 16 | 32, name: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  const id = typeof value === 'string' ? value.toLowerCase() : '';
  if (id.length !== length || !/^[0-9a-f]+$/.test(id))
    throw new ItemError(`${name} must have ${length} hex digits`);
  return /^0+$/.test(id) ? null : id;
}

function required(id: string | null, name: string): string {
  if (id === null) throw new ItemError(`has no ${name}`);
  return id;
}

/** Nanoseconds, of protobuf or of JSON (a text or a number), as microseconds; 0: not known. */
function microsOf(value: unknown, name: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'bigint') return Number(value / 1000n);
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return Number(BigInt(value) / 1000n);
  if (typeof value === 'number' && value >= 0 && value < 2 ** 64) return Math.floor(value / 1000);
  throw new ItemError(`${name} must be nanoseconds since 1970`);
}
