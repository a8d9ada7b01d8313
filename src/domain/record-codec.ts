/**
 * Codecs of state rows. One declaration serves writing and reading, so both keep the same fields in the same order.
 *
 * Test: test/reader/topics/state-codec.test.ts, test/reader/conversations/session-text.test.ts.
 */
import { ByteWriter, type ByteReader } from './byte-codec.ts';

export interface Codec<Value> {
  readonly write: (writer: ByteWriter, value: Value) => void;
  readonly read: (reader: ByteReader) => Value;
}

export const COUNT: Codec<number> = {
  write: (writer, value) => void writer.count(value),
  read: (reader) => reader.count(),
};
/** A whole number from −1, which stands for none. */
export const LINK: Codec<number> = {
  write: (writer, value) => void writer.link(value),
  read: (reader) => reader.link(),
};
/** Any number, stored as decimal digits. */
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

/** Stores one of at most 256 values as its index. */
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

/** Stores the fields of an object in their declared order. */
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
