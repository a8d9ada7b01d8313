/**
 * A text as the rules of redaction read it: its pieces, its cues, and the spans that the rules have found so far.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { CUE, type Cue } from './cues.ts';
import { piecesOf, type Piece } from './pieces.ts';
import type { PersonalKind, Span } from './spans.ts';
import { COPULAS, NUMBER_WORDS } from './vocabulary.ts';

const MARKERS: ReadonlySet<string> = new Set(':：=#№-–"“„«\'(‘`');
/** Most pieces of a phrase; bounds the search from each word. */
const LONGEST = 8;

const NO_NAMES: number[] = [];

/** One text under redaction. The rules add to `spans`; everything else is fixed. */
export class Reading {
  readonly text: string;
  readonly pieces: readonly Piece[];
  /** All cues in the text, in order of their first piece, longer ones last. */
  readonly cues: readonly Cue[];
  /** True if most words begin with a capital, so that capitals mean nothing. */
  readonly flat: boolean;
  /** True if the text contains a digit. */
  readonly numbers: boolean;
  /** True if the text contains letters of a script without spaces. */
  readonly unspaced: boolean;
  /** Bits of `WORD` of all pieces together. */
  readonly words: number;
  /** Bits of all cues together. */
  readonly kinds: number;
  #callEnds: ReadonlySet<number> | null = null;
  readonly spans: Span[] = [];
  /** Ranges of the hidden names, flat: from, to, from, to. */
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

  /** Indices of the pieces after words for calling. */
  get callEnds(): ReadonlySet<number> {
    this.#callEnds ??= new Set(this.cues.flatMap(({ kinds, to }) => ((kinds & CUE.calls) === 0 ? [] : [to])));
    return this.#callEnds;
  }

  /** True if a piece has a bit of `WORD`. */
  isWord(place: number, bit: number): boolean {
    return (this.words & bit) !== 0 && (this.pieces[place]!.bits & bit) !== 0;
  }

  /** Marks the pieces from `from` to `to` (exclusive) as personal. */
  hide(from: number, to: number, kind: PersonalKind): void {
    const [first, last] = [this.pieces[from], this.pieces[to - 1]];
    if (first === undefined || last === undefined || to <= from) return;
    this.spans.push({ start: first.start, end: last.end, kind });
    if (kind !== 'name') return;
    if (this.names === NO_NAMES) this.names = [from, to];
    else this.names.push(from, to);
  }

  /**
   * Skips what may stand between the name of a value and the value ("number", "is", ":") and returns the index after
   * it. `marked`: a colon, number sign or quote was among it. `worded`: a word was. `numbered`: a word for "number" was.
   */
  valueAt(from: number): { at: number; marked: boolean; worded: boolean; numbered: boolean } {
    let [marked, worded, numbered] = [false, false, false];
    let at = from;
    for (; at < from + 6; at += 1) {
      const piece = this.pieces[at];
      if (piece === undefined || (piece.line && !marked)) break;
      if (piece.kind === 'mark' && MARKERS.has(piece.text))
        marked ||= piece.text !== '-' && piece.text !== '(';
      else if (piece.kind === 'word' && NUMBER_WORDS.has(piece.lower)) {
        if (piece.text.length < 3 && !this.#leadsNumber(at + 1)) break;
        [worded, numbered] = [true, true];
      } else if (piece.kind === 'word' && COPULAS.has(piece.lower)) worded = true;
      else if (!(piece.text === '.' && this.pieces[at - 1]?.kind === 'word' && numbered)) break;
    }
    return { at, marked, worded, numbered };
  }

  /** True if "no" means "number": only before a number or a mark. */
  #leadsNumber(at: number): boolean {
    const next = this.pieces[at];
    return next !== undefined && (next.kind !== 'word' || /^\p{Lu}{2}/u.test(next.text));
  }

  /** The end of a run of pieces without blanks, without trailing quotes and marks. */
  chunkEnd(at: number): number {
    let end = at + 1;
    for (let next = at + 1; next < this.pieces.length && next < at + 40; next += 1) {
      const piece = this.pieces[next]!;
      if (piece.spaced || piece.kind === 'unspaced') break;
      if (piece.kind !== 'mark') end = next + 1;
    }
    return end;
  }

  /** True if no further word of a name or number can follow: at a mark, a new line or the end. */
  endsAt(at: number): boolean {
    const piece = this.pieces[at];
    return piece === undefined || piece.line || piece.kind === 'mark';
  }
}

/** Adds the cues that begin at a piece; returns their kinds together. */
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
