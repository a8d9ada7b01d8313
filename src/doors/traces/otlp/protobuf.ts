/**
 * Reads messages of protobuf by a schema. Keeps the invariant that broken bytes throw WireError, and that a message
 * inside another one is counted before it is read. Test: test/doors/traces/otlp/decode.test.ts.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Field, FieldKind, Message } from './schema.ts';

/** A message as OTLP/JSON would hold it, but for ids, times and values: see `FieldKind`. */
export type Fields = Record<string, unknown>;

/** The bytes are not what the schema says. */
export class WireError extends Error {}

/** Messages inside each other deeper than this are skipped. */
const MAX_DEPTH = 128;

/** How each kind of field is written, and read. */
const SCALARS: Readonly<
  Record<
    Exclude<FieldKind, Message>,
    { readonly wire: WireType; readonly read: (reader: BinaryReader) => unknown }
  >
> = {
  string: { wire: WireType.LengthDelimited, read: (reader) => reader.string() },
  value: { wire: WireType.LengthDelimited, read: (reader) => reader.bytes() },
  id: { wire: WireType.LengthDelimited, read: (reader) => Buffer.from(reader.bytes()).toString('hex') },
  time: { wire: WireType.Bit64, read: (reader) => BigInt(reader.fixed64()) },
  bool: { wire: WireType.Varint, read: (reader) => reader.bool() },
  int: { wire: WireType.Varint, read: (reader) => Number(reader.int64()) },
  double: { wire: WireType.Bit64, read: (reader) => reader.double() },
};

/**
 * Reads a message by its schema. Unknown fields are skipped, and so are known ones of another wire type.
 * `tick` is called for each message inside, and may throw. Throws WireError.
 */
export function readMessage(bytes: Uint8Array, schema: Message, tick: () => void): Fields {
  // Node decodes short texts faster than a TextDecoder.
  const reader = new BinaryReader(bytes, (text) =>
    Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'),
  );
  try {
    return fieldsOf({ reader, tick, depth: 0 }, reader.len, schema);
  } catch (error) {
    // What the reader throws is a RangeError or an Error without a type of its own.
    const isReaders = error instanceof RangeError || (error instanceof Error && error.constructor === Error);
    throw isReaders ? new WireError(error.message, { cause: error }) : error;
  }
}

/** What is being read. */
interface Reading {
  readonly reader: BinaryReader;
  readonly tick: () => void;
  depth: number;
}

function fieldsOf(reading: Reading, end: number, schema: Message): Fields {
  const { reader } = reading;
  const fields: Fields = {};
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    const field = schema.get(number);
    if (field === undefined || !isReadable(reading, field, wire)) reader.skip(wire, number);
    else if (typeof field.kind === 'string') fields[field.name] = SCALARS[field.kind].read(reader);
    else addMember(fields, field, memberOf(reading, end, field.kind));
    if (reader.pos > end) throw new WireError('a field ends after the message that holds it');
  }
  return fields;
}

function isReadable({ depth }: Reading, { kind }: Field, wire: WireType): boolean {
  if (typeof kind === 'string') return wire === SCALARS[kind].wire;
  return wire === WireType.LengthDelimited && depth < MAX_DEPTH;
}

function memberOf(reading: Reading, limit: number, schema: Message): Fields {
  reading.tick();
  const length = reading.reader.uint32();
  const end = reading.reader.pos + length;
  if (end > limit) throw new WireError('a field ends after the message that holds it');
  reading.depth += 1;
  const fields = fieldsOf(reading, end, schema);
  reading.depth -= 1;
  return fields;
}

function addMember(fields: Fields, { name, isRepeated = false }: Field, member: Fields): void {
  const list = fields[name];
  if (!isRepeated) fields[name] = member;
  else if (Array.isArray(list)) list.push(member);
  else fields[name] = [member];
}
