/**
 * Cuts JSON of any size into its entries and holds no more than one of them.
 *
 * Test: test/doors/import/json.test.ts.
 */

import { PieceBytes, type Piece } from './lines.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Yields the elements of top-level lists; of a top-level object, the elements of its list `member`, or the object
 * itself when `member` is null. Several values may follow each other. Texts are not checked; JSON.parse does that. An
 * entry that is longer than `limit` bytes, or in which the file ends, is a fault.
 */
export async function* jsonEntries(
  chunks: AsyncIterable<Buffer>,
  options: { readonly member: string | null; readonly limit: number },
): AsyncGenerator<Piece> {
  const cutter = new Cutter(options.member, options.limit);
  let first = true;
  for await (const chunk of chunks) {
    const isMarked = first && BYTE_ORDER_MARK.every((byte, index) => chunk[index] === byte);
    first = false;
    yield* cutter.take(isMarked ? chunk.subarray(3) : chunk);
  }
  const rest = cutter.end();
  if (rest !== null) yield rest;
}

class Cutter {
  readonly #member: string | null;
  readonly #bytes: PieceBytes;
  /** Number of open lists and objects. */
  #depth = 0;
  /** Depth of the entries; null while no list of entries is open. */
  #entryDepth: number | null = null;
  #inString = false;
  #escaped = false;
  /** Kind of the open entry. A word is a number, true, false, null or invalid text. */
  #entry: 'none' | 'nested' | 'string' | 'word' = 'none';
  #number = 0;
  /** In a top-level object: the string that may be a member's name; `#named` is set once its colon has come. */
  #name: number[] | null = null;
  #named = false;

  constructor(member: string | null, limit: number) {
    this.#member = member;
    this.#bytes = new PieceBytes(limit);
  }

  *take(chunk: Buffer): Generator<Piece> {
    let from = this.#entry === 'none' ? -1 : 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#inString) {
        if (!this.#stringByte(byte)) continue;
        if (this.#entry !== 'string') continue;
        yield this.#finish(chunk.subarray(from, at + 1));
        from = -1;
        continue;
      }
      if (this.#entry === 'word' && isWordEnd(byte)) {
        yield this.#finish(chunk.subarray(from, at));
        from = -1;
      }
      if (byte <= 0x20) continue;
      if (this.#entry === 'none' && this.#startsEntry(byte)) {
        from = at;
        this.#entry =
          byte === QUOTE ? 'string' : byte === OPEN_LIST || byte === OPEN_OBJECT ? 'nested' : 'word';
      }
      this.#structure(byte);
      if (this.#entry === 'nested' && this.#depth === (this.#entryDepth ?? 0)) {
        yield this.#finish(chunk.subarray(from, at + 1));
        from = -1;
      }
    }
    if (from >= 0) this.#bytes.keep(chunk.subarray(from));
  }

  /** Returns the entry in which the file ends. */
  end(): Piece | null {
    if (this.#entry === 'none') return null;
    if (this.#entry === 'word') return this.#finish(Buffer.alloc(0));
    this.#number += 1;
    return { number: this.#number, text: null, fault: 'the file ends in the middle of it' };
  }

  /** True if this byte ends the string. */
  #stringByte(byte: number): boolean {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      return true;
    }
    if (this.#name !== null && this.#name.length <= 256) this.#name.push(byte);
    return false;
  }

  /**
   * An entry starts at the entry depth. At the top level, an object is one if there is no `member`, and so is any
   * scalar.
   */
  #startsEntry(byte: number): boolean {
    const isSeparator = byte === COMMA || byte === COLON || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (isSeparator) return false;
    if (this.#entryDepth !== null) return this.#depth === this.#entryDepth;
    return this.#depth === 0 && byte !== OPEN_LIST && !(byte === OPEN_OBJECT && this.#member !== null);
  }

  #structure(byte: number): void {
    const isAtTop = this.#depth === 1 && this.#entryDepth === null && this.#entry === 'none';
    if (byte === QUOTE) {
      this.#inString = true;
      if (isAtTop && this.#member !== null && !this.#named) this.#name = [];
    } else if (byte === COLON) {
      if (isAtTop) this.#named = this.#name !== null && Buffer.from(this.#name).toString() === this.#member;
      this.#name = null;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      const holdsEntries =
        this.#entry === 'none' &&
        this.#entryDepth === null &&
        byte === OPEN_LIST &&
        (this.#depth === 0 || (isAtTop && this.#named));
      this.#depth += 1;
      if (holdsEntries) this.#entryDepth = this.#depth;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (this.#entryDepth === this.#depth && this.#entry === 'none') this.#entryDepth = null;
      this.#depth = Math.max(0, this.#depth - 1);
      if (this.#depth === 0) [this.#named, this.#name] = [false, null];
    }
    if (byte === COMMA && isAtTop) [this.#named, this.#name] = [false, null];
  }

  #finish(last: Buffer): Piece {
    this.#bytes.keep(last);
    this.#entry = 'none';
    this.#number += 1;
    return this.#bytes.finish(this.#number);
  }
}

function isWordEnd(byte: number): boolean {
  return byte <= 0x20 || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
}
