/**
 * How the fields of a record are written to a state row and read from it: one list of fields for both directions.
 * Covered by test/conversations/session-text.test.ts.
 */
import type { ByteReader, ByteWriter } from './byte-codec.ts';

export interface Codec<Value> {
  readonly write: (writer: ByteWriter, value: Value) => unknown;
  readonly read: (reader: ByteReader) => Value;
}

export const TEXT: Codec<string> = {
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
};
/** A whole number from −1. */
export const NUMBER: Codec<number> = {
  write: (writer, value) => writer.link(value),
  read: (reader) => reader.link(),
};
export const FLAG: Codec<boolean> = {
  write: (writer, value) => writer.byte(value ? 1 : 0),
  read: (reader) => reader.byte() === 1,
};

/** One of at most 256 values, by its place among them. */
export function oneOf<Value>(values: readonly Value[]): Codec<Value> {
  return {
    write: (writer, value) => writer.byte(values.indexOf(value)),
    read: (reader) => values[reader.byte()]!,
  };
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

/** All fields of a record, in the order of this list. */
export function recordOf<Fields extends object>(fields: {
  readonly [Name in keyof Fields]: Codec<Fields[Name]>;
}): Codec<Fields> {
  const names = Object.keys(fields) as (keyof Fields)[];
  return {
    write: (writer, values) => names.forEach((name) => fields[name].write(writer, values[name])),
    read: (reader) => Object.fromEntries(names.map((name) => [name, fields[name].read(reader)])) as Fields,
  };
}
