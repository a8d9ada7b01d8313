/** A text as the rules of redaction read it, and what they ask of a place in it. */
import { CUE, type Cue } from './cues.ts';
import { piecesOf, type Piece } from './pieces.ts';
import type { PersonalKind, Span } from './spans.ts';
import { COPULAS, NUMBER_WORDS } from './vocabulary.ts';

const MARKERS: ReadonlySet<string> = new Set(':：=#№-–"“„«\'(‘`');
/** Longest phrases have so many pieces; the search from one word ends there. */
const LONGEST = 8;

const NO_NAMES: number[] = [];

export class Reading {
  readonly text: string;
  readonly pieces: readonly Piece[];
  /** Every phrase that stands in the pieces, in order of its first piece, the longer one last. */
  readonly cues: readonly Cue[];
  /** Most of its words begin with a capital, or all letters are capitals: capitals tell nothing. */
  readonly flat: boolean;
  /** Holds a digit. */
  readonly numbers: boolean;
  /** Holds letters of a script without spaces. */
  readonly unspaced: boolean;
  /** Bits of `WORD`, of all pieces together. */
  readonly words: number;
  /** The kinds of all cues together. */
  readonly kinds: number;
  #callEnds: ReadonlySet<number> | null = null;
  readonly spans: Span[] = [];
  /** The places of names that are hidden: from, to, from, to. */
  names: number[] = NO_NAMES;

  constructor(text: string) {
    this.text = text;
    const pieces = piecesOf(text);
    const cues: Cue[] = [];
    let [cased, capitals, unspaced, numbers, words, kinds] = [0, 0, false, false, 0, 0];
    for (let place = 0; place < pieces.length; place += 1) {
      const piece = pieces[place]!;
      words |= piece.bits;
      if (piece.phrases !== undefined) kinds |= addCues(cues, pieces, place);
      const { kind } = piece;
      if (kind === 'word') {
        if (!piece.cased || piece.end - piece.start < 2) continue;
        cased += 1;
        if (piece.capital) capitals += 1;
      } else if (kind === 'unspaced') unspaced = true;
      else if (kind !== 'mark') numbers = true;
    }
    this.pieces = pieces;
    this.cues = cues;
    this.words = words;
    this.kinds = kinds;
    this.flat = cased > 3 && capitals * 4 > cased * 3;
    this.unspaced = unspaced;
    this.numbers = numbers;
  }

  /** Places behind words for calling. */
  get callEnds(): ReadonlySet<number> {
    this.#callEnds ??= new Set(this.cues.flatMap(({ kinds, to }) => ((kinds & CUE.calls) === 0 ? [] : [to])));
    return this.#callEnds;
  }

  /** Whether a piece is a word of `WORD`. */
  isWord(place: number, bit: number): boolean {
    return (this.words & bit) !== 0 && (this.pieces[place]!.bits & bit) !== 0;
  }

  /** Marks the pieces from `from` up to `to` as personal. */
  hide(from: number, to: number, kind: PersonalKind): void {
    const [first, last] = [this.pieces[from], this.pieces[to - 1]];
    if (first === undefined || last === undefined || to <= from) return;
    this.spans.push({ start: first.start, end: last.end, kind });
    if (kind !== 'name') return;
    if (this.names === NO_NAMES) this.names = [from, to];
    else this.names.push(from, to);
  }

  /**
   * The place behind what may stand between the name of a value and the value: "number", "is", ":". `marked`: a colon,
   * number sign or quote was among it; `told`: a word was.
   */
  valueAt(from: number): { at: number; marked: boolean; told: boolean; numbered: boolean } {
    let [marked, told, numbered] = [false, false, false];
    let at = from;
    for (; at < from + 6; at += 1) {
      const piece = this.pieces[at];
      if (piece === undefined || (piece.line && !marked)) break;
      if (piece.kind === 'mark' && MARKERS.has(piece.text))
        marked ||= piece.text !== '-' && piece.text !== '(';
      else if (piece.kind === 'word' && NUMBER_WORDS.has(piece.lower)) {
        if (piece.text.length < 3 && !this.#leadsNumber(at + 1)) break;
        [told, numbered] = [true, true];
      } else if (piece.kind === 'word' && COPULAS.has(piece.lower)) told = true;
      else if (!(piece.text === '.' && this.pieces[at - 1]?.kind === 'word' && numbered)) break;
    }
    return { at, marked, told, numbered };
  }

  /** "no" is a number word before a number or a mark alone. */
  #leadsNumber(at: number): boolean {
    const next = this.pieces[at];
    return next !== undefined && (next.kind !== 'word' || /^\p{Lu}{2}/u.test(next.text));
  }

  /** The end of a run of pieces without blanks between them, quotes and closing marks left out. */
  chunkEnd(at: number): number {
    let end = at + 1;
    for (let next = at + 1; next < this.pieces.length && next < at + 40; next += 1) {
      const piece = this.pieces[next]!;
      if (piece.spaced || piece.kind === 'unspaced') break;
      if (piece.kind !== 'mark') end = next + 1;
    }
    return end;
  }

  /** No further word of a name or number can follow here: a mark, a new line or the end. */
  endsAt(at: number): boolean {
    const piece = this.pieces[at];
    return piece === undefined || piece.line || piece.kind === 'mark';
  }
}

/** Adds the phrases that begin at a place; returns their kinds together. */
function addCues(cues: Cue[], pieces: readonly Piece[], from: number): number {
  let kinds = 0;
  let node = pieces[from]!.phrases;
  for (let to = from + 1; node !== undefined; to += 1) {
    if (node.kinds !== 0) {
      cues.push({ from, to, kinds: node.kinds });
      kinds |= node.kinds;
    }
    if (node.next === null || to - from >= LONGEST) break;
    const following = pieces[to];
    if (following === undefined) break;
    node = node.next.get(following.lower);
  }
  return kinds;
}
