/**
 * Words known of the people in a session: of their ids and the names that they gave. Keeps the invariant that a session
 * stores hashes, never the words.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import type { Reading } from './reading.ts';
import { textHash } from '../document/text-hash.ts';
import { piecesOf, type Piece } from './pieces.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import { NOT_NAMES, STOP_WORDS } from './vocabulary.ts';

/** Labels that callers send as ids and that name no person. */
const LABELS = PERSONAL_WORDS.labels;
const MOST = 32;
const SHORTEST = 3;

/** Hashes of words, 32 bits each, oldest first; at most 32. */
export type KnownWords = readonly number[];

/** Hashes of the words of an id that would identify its owner in a text. */
export function wordsOfId(id: string): number[] {
  const pieces = piecesOf(id.slice(0, 200));
  const hashes = pieces.filter((piece) => isTelling(piece)).map(({ lower }) => textHash(lower));
  return [...new Set(hashes)];
}

function isTelling({ kind, lower }: Piece): boolean {
  if (kind === 'mark' || lower.length < (kind === 'unspaced' ? 2 : SHORTEST)) return false;
  return !LABELS.has(lower) && !STOP_WORDS.has(lower) && !NOT_NAMES.has(lower);
}

/**
 * Hashes of the words of a bare answer to a question for a name, an address or the like: words written as names are,
 * and numbers.
 */
export function wordsOfAnswer(answer: string): number[] {
  const pieces = piecesOf(answer).filter(
    (piece) => isTelling(piece) && (piece.kind !== 'word' || piece.capital || !piece.cased),
  );
  return [...new Set(pieces.map(({ lower }) => textHash(lower)))];
}

/** Adds words to the known ones; drops the oldest above the bound. */
export function withKnown(known: KnownWords, more: readonly number[]): KnownWords {
  const fresh = more.filter((word) => !known.includes(word));
  return fresh.length === 0 ? known : [...known, ...fresh].slice(-MOST);
}

/** Hashes of the words of names in a text, to be known from now on. */
export function namesIn(reading: Reading): number[] {
  const names: number[] = [];
  for (const { start, end, kind } of reading.spans) {
    if (kind !== 'name') continue;
    for (const piece of piecesOf(reading.text.slice(start, end)))
      if (isTelling(piece)) names.push(textHash(piece.lower));
  }
  return names;
}

/** Hides the known words in a text. */
export function findKnown(reading: Reading, known: KnownWords): void {
  if (known.length === 0) return;
  const words = new Set(known);
  for (const [place, piece] of reading.pieces.entries()) {
    if (mayBeKnown(piece) && words.has(hashOfBare(piece))) reading.hide(place, place + 1, 'known');
  }
}

/** Hashes of the words of a text that could be known. */
export function wordHashes({ pieces }: Reading): number[] {
  return pieces.filter(mayBeKnown).map(hashOfBare);
}

function mayBeKnown({ kind, lower }: Piece): boolean {
  return kind !== 'mark' && lower.length > 1;
}

function hashOfBare({ lower }: Piece): number {
  return textHash(lower.endsWith("'s") ? lower.slice(0, -2) : lower);
}
