/**
 * Recognises words of courtesy as people type them: run together ("okthanks", "thankyousomuch") or with a slip
 * ("helo"). The words come from `lexicon/<language>/turns.json`.
 *
 * Test: test/reader/acts/courtesy-words.test.ts.
 */
import { isLexiconWord } from '../document/lexicon-words.ts';
import { fold } from '../document/normalise.ts';
import type { KindOfPhrases, PhraseFile } from '../phrases/phrase-files.ts';
import type { TurnPhraseKind } from './turn-phrases.ts';

/** Least letters of a word with a slip; a shorter one is as near to too many other words. */
const SHORTEST_SLIP = 4;
const SHORTEST_SPELT: Readonly<Record<string, number>> = { en: 5 };
const SHORTEST_SPELT_ELSEWHERE = 6;
/** Least letters of numbers, days and months with a slip. */
const SHORTEST_SPELT_ANSWER = 6;
const SHORTEST_RUN = 5;
const LONGEST_RUN = 40;
/** A piece with this many letters makes a run a courtesy, whatever its other pieces are. */
const STRONG = 4;

const LETTERS = /^\p{L}+$/u;
const SPACED_LETTERS = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+$/u;
/** The words in a phrase of the lexicon, and the names of its classes. */
const PHRASE_WORDS = /\{?[\p{L}\p{M}]+/gu;
const SINGLE = /^\(?[\p{L}\p{M}'|]+\)?$/u;

/** The pieces of one language. */
interface Pieces {
  /** Words in phrases of courtesy (`all`), and those that are a courtesy alone. */
  readonly all: ReadonlySet<string>;
  readonly alone: ReadonlySet<string>;
  readonly longest: number;
}

/** The words of courtesy of several languages. */
export class CourtesyWords {
  readonly #languages: readonly Pieces[];
  readonly #pieces: ReadonlySet<string>;
  readonly #longest: number;
  /** Words that look like run-together or misspelt courtesies, and are none. */
  readonly #others: ReadonlySet<string>;
  /** Words by spelling: the word itself, and the word without each one of its letters. */
  readonly #spelt = new Map<string, string[]>();

  constructor(files: readonly PhraseFile<TurnPhraseKind>[]) {
    this.#languages = files.map(piecesOf);
    this.#pieces = new Set(this.#languages.flatMap(({ all }) => [...all]));
    this.#longest = Math.max(0, ...this.#languages.map(({ longest }) => longest));
    this.#others = new Set(files.flatMap(({ kinds }) => singlesOf(kinds['no-courtesy'])));
    for (const { language, kinds } of files) {
      // Few long words of one language are short words of another with a slip.
      const shortest = SHORTEST_SPELT[language] ?? SHORTEST_SPELT_ELSEWHERE;
      const answers = language in SHORTEST_SPELT ? singlesOf(kinds['small-answer']) : [];
      const spelt = [
        ...[...singlesOf(kinds.courtesy), ...singlesOf(kinds.filler)].filter(
          (word) => word.length >= shortest,
        ),
        ...answers.filter((word) => word.length >= SHORTEST_SPELT_ANSWER),
      ];
      for (const word of spelt) this.#addSpelt(word);
    }
  }

  #addSpelt(word: string): void {
    for (const short of [word, ...shortenedBy1(word)]) {
      const words = this.#spelt.get(short);
      if (words === undefined) this.#spelt.set(short, [word]);
      else if (!words.includes(word)) words.push(word);
    }
  }

  /** True if a word is nothing but courtesy. `key` is what `phraseKey` returns. */
  has(key: string): boolean {
    if (key.length < SHORTEST_SLIP || key.length > LONGEST_RUN || !SPACED_LETTERS.test(key)) return false;
    if (this.#others.has(key) || isLexiconWord(key)) return false;
    return (this.#mayBeRun(key) && this.#languages.some((pieces) => isRun(key, pieces))) || this.#isSlip(key);
  }

  /** False for most words: they do not both begin and end with a piece of any language. */
  #mayBeRun(key: string): boolean {
    if (key.length < SHORTEST_RUN) return false;
    let begins = false;
    let ends = false;
    for (let length = 2; length < key.length - 1 && length <= this.#longest && !(begins && ends); length++) {
      begins ||= this.#pieces.has(key.slice(0, length));
      ends ||= this.#pieces.has(key.slice(-length));
    }
    return begins && ends;
  }

  /** True for one letter more, less or different, or two swapped; the first letter must be right. */
  #isSlip(key: string): boolean {
    for (const short of [key, ...shortenedBy1(key)])
      for (const word of this.#spelt.get(short) ?? []) if (isOneSlip(key, word)) return true;
    return false;
  }
}

function piecesOf({ kinds }: PhraseFile<TurnPhraseKind>): Pieces {
  const phrases = [kinds.courtesy, kinds.filler, kinds['courtesy-tail']].flatMap(
    (kind) => kind?.phrases ?? [],
  );
  const all = new Set(phrases.flatMap(wordsOf).filter((word) => word.length > 1));
  return {
    all,
    alone: new Set([...singlesOf(kinds.courtesy), ...singlesOf(kinds.filler)]),
    longest: Math.max(0, ...[...all].map((word) => word.length)),
  };
}

/**
 * Ways in which the first letters of a word can be cut into pieces: not at all, with words of no courtesy, only
 * courtesies, or with a strong one.
 */
const WAY = { none: 0, mixed: 1, courtesies: 2, strong: 3 } as const;

/** True if a word consists of several pieces, and one is a courtesy of four letters or more, or all are courtesies. */
function isRun(key: string, { all, alone, longest }: Pieces): boolean {
  const best = new Uint8Array(key.length + 1);
  best[0] = WAY.courtesies;
  for (let end = 2; end <= key.length; end++)
    for (let start = Math.max(0, end - longest); start < end - 1; start++) {
      const before = best[start]!;
      const piece = key.slice(start, end);
      if (before === WAY.none || piece === key || !all.has(piece)) continue;
      const isAlone = alone.has(piece);
      const isStrong = before === WAY.strong || (isAlone && piece.length >= STRONG);
      best[end] = Math.max(best[end]!, isStrong ? WAY.strong : isAlone ? before : WAY.mixed);
    }
  return best[key.length]! >= WAY.courtesies;
}

function wordsOf(phrase: string): string[] {
  return (phrase.match(PHRASE_WORDS) ?? []).filter((word) => !word.startsWith('{')).map(fold);
}

/** The words of one-word phrases, optional words left out. */
function singlesOf(kind: KindOfPhrases | undefined): string[] {
  return (kind?.phrases ?? [])
    .map(withoutOptional)
    .filter((phrase) => SINGLE.test(phrase))
    .flatMap(wordsOf)
    .filter((word) => LETTERS.test(word));
}

function withoutOptional(phrase: string): string {
  const parts = phrase.split(' ').filter((part) => !part.endsWith('?') && !part.endsWith('?}'));
  return parts.join(' ');
}

function shortenedBy1(word: string): string[] {
  return Array.from({ length: word.length }, (_, at) => word.slice(0, at) + word.slice(at + 1));
}

function isOneSlip(typed: string, word: string): boolean {
  if (typed === word || typed[0] !== word[0]) return false;
  let start = 0;
  while (start < Math.min(typed.length, word.length) && typed[start] === word[start]) start += 1;
  let end = 0;
  const most = Math.min(typed.length, word.length) - start;
  while (end < most && typed.at(-1 - end) === word.at(-1 - end)) end += 1;
  const [left, meant] = [typed.slice(start, typed.length - end), word.slice(start, word.length - end)];
  if (left.length + meant.length === 1) return true;
  if (left.length === 1 && meant.length === 1) return true;
  return left.length === 2 && meant.length === 2 && left[0] === meant[1] && left[1] === meant[0];
}
