import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Field, FieldKind, Message } from './schema.ts';

/** A message as OTLP/JSON would hold it, but for ids, times and values: see `FieldKind`. */
export type Fields = Record<string, unknown>;

/** The bytes are not what the schema says. */
export class WireError extends Error {}

/**
 * Reads a message by its schema. Unknown fields are skipped, and so are known ones of another wire type.
 * `tick` is called for each message inside, and may throw. Throws WireError.
 */
export function readMessage(bytes: Uint8Array, schema: Message, tick: () => void): Fields {
  const reader = readerOf(bytes);
  try {
    return fieldsOf(reader, reader.len, schema, tick);
  } catch (error) {
    throw wireErrorOf(error);
  }
}

/** A reader whose texts are decoded by Node, which is faster than a TextDecoder for short ones. */
export function readerOf(bytes: Uint8Array): BinaryReader {
  return new BinaryReader(bytes, (text) =>
    Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'),
  );
}

/** The end of the length-delimited field that begins here. */
export function endOfField(reader: BinaryReader, limit: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > limit) throw new WireError('a field ends after the message that holds it');
  return end;
}

/** Skips a field of no interest. */
export function skipField(reader: BinaryReader, number: number, wire: WireType, limit: number): void {
  reader.skip(wire, number);
  if (reader.pos > limit) throw new WireError('a field ends after the message that holds it');
}

/** What the reader throws is a RangeError or an Error without a type of its own; others pass. */
export function wireErrorOf(error: unknown): unknown {
  if (error instanceof WireError || !(error instanceof Error)) return error;
  const isReaders = error.constructor === Error || error instanceof RangeError;
  return isReaders ? new WireError(error.message, { cause: error }) : error;
}

function fieldsOf(reader: BinaryReader, end: number, schema: Message, tick: () => void): Fields {
  const fields: Fields = {};
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    const field = schema.get(number);
    if (field === undefined || wire !== wireTypeOf(field.kind)) skipField(reader, number, wire, end);
    else readField(reader, end, field, fields, tick);
  }
  if (reader.pos !== end) throw new WireError('a field ends after the message that holds it');
  return fields;
}

function wireTypeOf(kind: FieldKind): WireType {
  return kind === 'time' ? WireType.Bit64 : WireType.LengthDelimited;
}

function readField(
  reader: BinaryReader,
  limit: number,
  { name, kind, isRepeated = false }: Field,
  fields: Fields,
  tick: () => void,
): void {
  if (typeof kind !== 'string') {
    tick();
    const member = fieldsOf(reader, endOfField(reader, limit), kind, tick);
    if (!isRepeated) fields[name] = member;
    else if (Array.isArray(fields[name])) fields[name].push(member);
    else fields[name] = [member];
    return;
  }
  fields[name] =
    kind === 'time'
      ? BigInt(reader.fixed64())
      : kind === 'string'
        ? reader.string()
        : kind === 'id'
          ? Buffer.from(reader.bytes()).toString('hex')
          : reader.bytes();
}
