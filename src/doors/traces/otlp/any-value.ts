/**
 * Values of attributes. Keeps the invariant that a value is the same whether it came in protobuf or in JSON, and no
 * deeper than 32. Test: test/doors/traces/otlp/decode.test.ts.
 */
import type { AttributeValue } from '../span.ts';
import { isObject } from '../values.ts';
import { readMessage } from './protobuf.ts';
import { ANY_VALUE } from './schema.ts';

/** Lists and maps inside each other deeper than this are null. */
const MAX_DEPTH = 32;

/** The AnyValue in protobuf bytes. `tick` is called for each value inside, and may throw. Throws WireError. */
export function valueOfProtobuf(bytes: Uint8Array, tick: () => void): AttributeValue {
  tick();
  return valueOfJson(readMessage(bytes, ANY_VALUE, tick), () => undefined);
}

/** The AnyValue in OTLP/JSON; int64 may be a string. What is none is null. */
export function valueOfJson(value: unknown, tick: () => void, depth = 0): AttributeValue {
  tick();
  if (!isObject(value)) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  const number = numberOf(intValue ?? doubleValue);
  if (number !== null) return number;
  if (depth >= MAX_DEPTH) return null;
  if (isObject(arrayValue))
    return membersOf(arrayValue).map((member) => valueOfJson(member, tick, depth + 1));
  if (!isObject(kvlistValue)) return null;
  return Object.fromEntries(
    membersOf(kvlistValue)
      .filter(isObject)
      .map(({ key, value: inner }) => [
        typeof key === 'string' ? key : '',
        valueOfJson(inner, tick, depth + 1),
      ]),
  );
}

/** An empty list may be left out. */
function membersOf({ values }: Record<string, unknown>): readonly unknown[] {
  return Array.isArray(values) ? values : [];
}

/** Of protobuf's JSON: a number, or a text that is one. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}
