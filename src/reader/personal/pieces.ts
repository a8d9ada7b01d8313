/**
 * Cuts a text into pieces, each with the facts about its word on its own. Caches those facts by word.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { memoise } from '../document/word-cache.ts';
import { firstWords, WORD, type Node } from './cues.ts';
import { eachRun, type RunKind } from './runs.ts';
import {
  isGiven,
  isSmallPerson,
  isSpelledAsName,
  lowerOf,
  mayHeadName,
  type Spelling,
} from './vocabulary.ts';

/** A run with the facts that do not depend on its place. */
interface Word extends Spelling {
  /** True if its spelling allows it to be part of a name. */
  readonly nameLike: boolean;
  /** Bits of `WORD`. */
  readonly bits: number;
  /** The phrases that begin with it. */
  readonly phrases: Node | undefined;
}

/** A run of a text. Its word's facts are shared between equal words. */
export class Piece implements Word {
  readonly start: number;
  readonly end: number;
  /** True if blanks stand before it, or it begins the text. */
  readonly spaced: boolean;
  /** True if it begins a line. */
  readonly line: boolean;
  readonly text: string;
  readonly lower: string;
  readonly kind: RunKind;
  private readonly word: Word;

  constructor(word: Word, start: number, end: number, spaced: boolean, line: boolean) {
    this.start = start;
    this.end = end;
    this.spaced = spaced;
    this.line = line;
    this.text = word.text;
    this.lower = word.lower;
    this.kind = word.kind;
    this.word = word;
  }

  get capital(): boolean {
    return this.word.capital;
  }

  get cased(): boolean {
    return this.word.cased;
  }

  get nameLike(): boolean {
    return this.word.nameLike;
  }

  get bits(): number {
    return this.word.bits;
  }

  get phrases(): Node | undefined {
    return this.word.phrases;
  }
}

const cachedWord = memoise((text: string): Word => wordOf(text, 'word'));

function wordOf(text: string, kind: RunKind): Word {
  const lower = lowerOf(text);
  const capital = text.charCodeAt(0) !== lower.charCodeAt(0);
  const cased = capital || text[0]!.toUpperCase() !== text[0];
  const phrases = firstWords().get(lower);
  const word = { text, lower, kind, capital, cased, nameLike: false, bits: phrases?.words ?? 0, phrases };
  if (kind !== 'word') return word;
  if (capital || !cased) {
    word.nameLike = isSpelledAsName(word);
    if (isGiven(lower)) word.bits |= WORD.given | WORD.mayName;
    if (word.nameLike || mayHeadName(lower)) word.bits |= WORD.mayName;
  } else if (isSmallPerson(word)) word.bits |= WORD.smallName;
  return word;
}

/** The facts about a mark, a number, or a run of letters without spaces. */
function uncasedOf(text: string, kind: RunKind): Word {
  const phrases = kind === 'unspaced' || text === '@' ? firstWords().get(text) : undefined;
  const bits = phrases?.words ?? 0;
  return { text, lower: text, kind, capital: false, cased: false, nameLike: false, bits, phrases };
}

const cachedMark = memoise((text: string): Word => uncasedOf(text, 'mark'));

function wordAs(text: string, kind: RunKind): Word {
  if (kind === 'word') return cachedWord(text);
  if (kind === 'mark') return cachedMark(text);
  return kind === 'mixed' ? wordOf(text, kind) : uncasedOf(text, kind);
}

/** Returns the pieces of a text, in order. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  eachRun(text, (start, end, kind, spaced, line) => {
    pieces.push(new Piece(wordAs(text.slice(start, end), kind), start, end, spaced, line));
  });
  return pieces;
}
