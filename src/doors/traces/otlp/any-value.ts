import { WireType, type BinaryReader } from '@bufbuild/protobuf/wire';
import type { AttributeValue } from '../span.ts';
import { isObject } from '../values.ts';
import { endOfField, readerOf, skipField, wireErrorOf, WireError } from './protobuf.ts';

/** Lists and maps inside each other deeper than this are null. */
const MAX_DEPTH = 32;

// common.proto: the members of AnyValue, ArrayValue, KeyValueList and KeyValue.
const STRING = 1;
const BOOL = 2;
const INT = 3;
const DOUBLE = 4;
const ARRAY = 5;
const MAP = 6;
const MEMBERS = 1;
const KEY = 1;
const VALUE = 2;

/** The AnyValue in protobuf bytes. `tick` is called for each value inside, and may throw. Throws WireError. */
export function valueOfProtobuf(bytes: Uint8Array, tick: () => void): AttributeValue {
  const reader = readerOf(bytes);
  try {
    return readValue(reader, reader.len, 0, tick);
  } catch (error) {
    throw wireErrorOf(error);
  }
}

function readValue(reader: BinaryReader, end: number, depth: number, tick: () => void): AttributeValue {
  tick();
  let value: AttributeValue = null;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === STRING && wire === WireType.LengthDelimited) value = reader.string();
    else if (number === BOOL && wire === WireType.Varint) value = reader.bool();
    else if (number === INT && wire === WireType.Varint) value = Number(reader.int64());
    else if (number === DOUBLE && wire === WireType.Bit64) value = reader.double();
    else if ((number === ARRAY || number === MAP) && wire === WireType.LengthDelimited && depth < MAX_DEPTH) {
      const inner = endOfField(reader, end);
      value =
        number === ARRAY
          ? readList(reader, inner, depth + 1, tick)
          : Object.fromEntries(readEntries(reader, inner, depth + 1, tick));
    } else {
      skipField(reader, number, wire, end);
      value = null;
    }
  }
  checkEnd(reader, end);
  return value;
}

function readList(reader: BinaryReader, end: number, depth: number, tick: () => void): AttributeValue[] {
  const values: AttributeValue[] = [];
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === MEMBERS && wire === WireType.LengthDelimited)
      values.push(readValue(reader, endOfField(reader, end), depth, tick));
    else skipField(reader, number, wire, end);
  }
  checkEnd(reader, end);
  return values;
}

function readEntries(
  reader: BinaryReader,
  end: number,
  depth: number,
  tick: () => void,
): [string, AttributeValue][] {
  const entries: [string, AttributeValue][] = [];
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === MEMBERS && wire === WireType.LengthDelimited)
      entries.push(readEntry(reader, endOfField(reader, end), depth, tick));
    else skipField(reader, number, wire, end);
  }
  checkEnd(reader, end);
  return entries;
}

function readEntry(
  reader: BinaryReader,
  end: number,
  depth: number,
  tick: () => void,
): [string, AttributeValue] {
  let key = '';
  let value: AttributeValue = null;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === KEY && wire === WireType.LengthDelimited) key = reader.string();
    else if (number === VALUE && wire === WireType.LengthDelimited)
      value = readValue(reader, endOfField(reader, end), depth, tick);
    else skipField(reader, number, wire, end);
  }
  checkEnd(reader, end);
  return [key, value];
}

function checkEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new WireError('a field ends after the message that holds it');
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
