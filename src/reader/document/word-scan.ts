/**
 * Finds the words of a text one after the other, without an object per word. A word is letters and digits with their
 * marks, and signs between two of them.
 *
 * Test: test/reader/document/word-scan.test.ts.
 */

/** Bits of a UTF-16 unit. */
const BIT = { known: 1, letter: 2, mark: 4, apostrophe: 8, sign: 16, half: 32 } as const;

const BITS = new Uint8Array(0x10000);
const LETTER = /[\p{L}\p{N}]/u;
const MARK = /\p{M}/u;
const ZERO_WIDTH_NON_JOINER = 0x200c;

function tell(unit: number): number {
  const sign = String.fromCharCode(unit);
  let bits: number = BIT.known;
  if (LETTER.test(sign)) bits |= BIT.letter;
  if (MARK.test(sign)) bits |= BIT.mark;
  if (sign === "'" || sign === '’') bits |= BIT.apostrophe;
  if ('-.@_'.includes(sign)) bits |= BIT.sign;
  if (unit >= 0xd800 && unit <= 0xdfff) bits |= BIT.half;
  return (BITS[unit] = bits);
}

export interface WordScanOptions {
  /** True if hyphens, dots, @ and _ between letters belong to a word: "e-mail", "a.b@c.de". */
  readonly signs: boolean;
  /** True if the joiner of Persian belongs to a word. */
  readonly joiner: boolean;
}

export class WordScan {
  /** Range of the last word found, UTF-16 units. */
  start = 0;
  end = 0;
  readonly #joins: number;
  readonly #joiner: number;
  #text = '';

  constructor({ signs, joiner }: WordScanOptions) {
    this.#joins = BIT.apostrophe | (signs ? BIT.sign : 0);
    this.#joiner = joiner ? ZERO_WIDTH_NON_JOINER : -1;
  }

  /** Begins a text. */
  begin(text: string): this {
    this.#text = text;
    this.start = 0;
    this.end = 0;
    return this;
  }

  /** Moves to the next word; false if there is none. */
  next(): boolean {
    const text = this.#text;
    const { length } = text;
    let at = this.end;
    while (at < length && this.#widthAt(at, BIT.letter) === 0) at += 1;
    if (at >= length) return false;
    this.start = at;
    for (;;) {
      for (let width = 1; width > 0; at += width) {
        width = this.#widthAt(at, BIT.letter | BIT.mark);
        if (width === 0 && at < length && text.charCodeAt(at) === this.#joiner) width = 1;
      }
      if ((bitsAt(text, at) & this.#joins) === 0 || this.#widthAt(at + 1, BIT.letter) === 0) break;
      at += 1;
    }
    this.end = at;
    return true;
  }

  /** Length of the character at an index, UTF-16 units, if it is of a wanted class; else 0. */
  #widthAt(at: number, wanted: number): number {
    const bits = bitsAt(this.#text, at);
    if ((bits & wanted) !== 0) return 1;
    if ((bits & BIT.half) === 0) return 0;
    const character = String.fromCodePoint(this.#text.codePointAt(at)!);
    const isWanted = LETTER.test(character) || ((wanted & BIT.mark) !== 0 && MARK.test(character));
    return character.length === 2 && isWanted ? 2 : 0;
  }
}

function bitsAt(text: string, at: number): number {
  // A read after the end would give NaN, and make each read one of floating-point numbers.
  if (at >= text.length) return 0;
  const unit = text.charCodeAt(at);
  return BITS[unit]! || tell(unit);
}
