/**
 * Codecs of state rows, declared once for writing and reading: what a record holds, field by field, in this order.
 * Covered by test/reader/topics/state-codec.test.ts and test/reader/conversations/session-text.test.ts.
 */
import { ByteWriter, type ByteReader } from './byte-codec.ts';

export interface Codec<Value> {
  readonly write: (writer: ByteWriter, value: Value) => void;
  readonly read: (reader: ByteReader) => Value;
}

/** A whole number from 0. */
export const COUNT: Codec<number> = {
  write: (writer, value) => void writer.count(value),
  read: (reader) => reader.count(),
};
/** A whole number from −1; −1 stands for none. */
export const LINK: Codec<number> = {
  write: (writer, value) => void writer.link(value),
  read: (reader) => reader.link(),
};
/** Any number, as its decimal digits. */
export const NUMBER: Codec<number> = {
  write: (writer, value) => void writer.text(String(value)),
  read: (reader) => Number(reader.text()),
};
export const TEXT: Codec<string> = {
  write: (writer, value) => void writer.text(value),
  read: (reader) => reader.text(),
};
export const FLAG: Codec<boolean> = {
  write: (writer, value) => void writer.byte(value ? 1 : 0),
  read: (reader) => reader.byte() === 1,
};

/** One of at most 256 values, by its place among them. */
export function oneOf<Value>(values: readonly Value[]): Codec<Value> {
  return {
    write: (writer, value) => void writer.byte(values.indexOf(value)),
    read: (reader) => values[reader.byte()]!,
  };
}

export function floatsOf(length: number): Codec<Float32Array> {
  return { write: (writer, values) => void writer.floats(values), read: (reader) => reader.floats(length) };
}

export function listOf<Item>(item: Codec<Item>): Codec<Item[]> {
  return {
    write: (writer, items) => {
      writer.count(items.length);
      for (const one of items) item.write(writer, one);
    },
    read: (reader) => reader.list(() => item.read(reader)),
  };
}

export function mapOf<Value>(value: Codec<Value>): Codec<Map<string, Value>> {
  return {
    write: (writer, map) => {
      writer.count(map.size);
      for (const [key, one] of map) value.write(writer.text(key), one);
    },
    read: (reader) => new Map(reader.list(() => [reader.text(), value.read(reader)] as const)),
  };
}

/** The fields of an object in the order in which they are declared. */
export function record<Value>(fields: { readonly [Key in keyof Value]: Codec<Value[Key]> }): Codec<Value> {
  const keys = Object.keys(fields) as (keyof Value)[];
  return {
    write: (writer, value) => {
      for (const key of keys) fields[key].write(writer, value[key]);
    },
    read: (reader) => Object.fromEntries(keys.map((key) => [key, fields[key].read(reader)])) as Value,
  };
}

export function bytesOf<Value>(codec: Codec<Value>, value: Value): Uint8Array {
  const writer = new ByteWriter();
  codec.write(writer, value);
  return writer.finish();
}
