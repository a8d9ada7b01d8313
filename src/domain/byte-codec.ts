/**
 * Binary encoding of state rows: little-endian, varints for whole numbers, texts in UTF-8 with their length. The reader
 * takes fields in the order in which the writer put them.
 *
 * Test: test/reader/conversations/session-text.test.ts, test/reader/topics/state-codec.test.ts.
 */
import type { StateRow } from './facts.ts';

/** Writes one state row. */
export class ByteWriter {
  #bytes = Buffer.alloc(256);
  #at = 0;

  byte(value: number): this {
    this.#need(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
    return this;
  }

  /** Writes a whole number from 0 to 2^53 − 1. */
  count(value: number): this {
    while (value >= 0x80) {
      this.byte((value % 0x80) | 0x80);
      value = Math.floor(value / 0x80);
    }
    return this.byte(value);
  }

  /** Writes a whole number from −1, which stands for none. */
  link(value: number): this {
    return this.count(value + 1);
  }

  float(value: number): this {
    this.#need(4);
    this.#at = this.#bytes.writeFloatLE(value, this.#at);
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.from(value, 'utf8');
    return this.count(bytes.length).raw(bytes);
  }

  floats(values: Float32Array): this {
    return this.raw(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  raw(bytes: Uint8Array): this {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }

  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#at);
  }

  #need(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#at + more));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** Reads a row that a ByteWriter wrote. Throws a RangeError when the row ends too early. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  count(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
  }

  link(): number {
    return this.count() - 1;
  }

  float(): number {
    return this.#take(4).readFloatLE(0);
  }

  text(): string {
    return this.#take(this.count()).toString('utf8');
  }

  floats(length: number): Float32Array {
    const bytes = this.#take(length * 4);
    const values = new Float32Array(length);
    new Uint8Array(values.buffer).set(bytes);
    return values;
  }

  /** Reads a count, then that many items. */
  list<Item>(readItem: () => Item): Item[] {
    const items: Item[] = [];
    for (let left = this.count(); left > 0; left -= 1) items.push(readItem());
    return items;
  }

  /** Returns a copy of the next `length` bytes. */
  raw(length: number): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#take(length));
  }

  /** Returns a copy of the bytes that are left. */
  rest(): Uint8Array {
    return this.raw(this.#bytes.length - this.#at);
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) {
      throw new RangeError(
        `state row ends after ${this.#bytes.length} bytes, ${this.#at + length} were expected`,
      );
    }
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** Returns readers of the rows of one kind, ascending by key; deleted rows are left out. */
export function readersOf(
  rows: readonly StateRow[],
  kind: string,
): { readonly key: number; readonly read: ByteReader }[] {
  return rows
    .flatMap((row) =>
      row.kind === kind && row.value !== null ? [{ key: row.key, read: new ByteReader(row.value) }] : [],
    )
    .sort((x, y) => x.key - y.key);
}
