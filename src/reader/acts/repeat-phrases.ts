/**
 * What users say when they ask again or go on, and how assistants answer: the phrases of `lexicon/<language>/repeats.json`.
 * Covered by test/reader/conversations/repeat-phrases.test.ts.
 */
import { once } from '../document/once.ts';
import { loadPhraseFiles } from '../phrases/phrase-files.ts';
import { PhraseMatcher } from '../phrases/phrase-matcher.ts';
import { wordsOf, type Word } from '../document/words.ts';

/**
 * Of users: `insists` says that it was asked before or that the answer misses it, `persists` that it is as it was,
 * `presses` comes back to it ("but when?", "so can you?"), `adds` goes on from the answer ("and for children?"),
 * `continues` names something else ("another one"), `accepts` takes the answer, `measures` asks for a number ("how
 * much", "when"), `wonders` for something else ("who", "why"), `polar` for yes or no, `denies` is any negation.
 * Of assistants: `settles` answers yes, no or done, `offers` offers further help, `misses` says that nothing was
 * understood, `evades` speaks in general ("our rooms …", "usually", "on our website").
 */
const REPEAT_PHRASES = [
  'insists',
  'persists',
  'presses',
  'adds',
  'continues',
  'accepts',
  'measures',
  'wonders',
  'polar',
  'settles',
  'offers',
  'misses',
  'evades',
] as const;
export type RepeatPhrase = (typeof REPEAT_PHRASES)[number];

/** UTF-16 units of the beginning and the end of a turn together. */
export const EDGES = 320;

const shipped = once(() => {
  const files = loadPhraseFiles({ purpose: 'repeats', kinds: REPEAT_PHRASES, checked: false });
  const negations = files.flatMap(({ grammar: { negation } }) => [...negation.before, ...negation.after]);
  return { matcher: new PhraseMatcher(files), negations: new Set(negations) };
});

/** The beginning and the end of a turn, which say how it goes on from the turn before and how it closes. */
export function edgesOf(content: string): string {
  if (content.length <= EDGES) return content;
  return `${content.slice(0, EDGES / 2)}\n${content.slice(-EDGES / 2)}`;
}

export interface SaidPhrases {
  readonly kinds: ReadonlySet<RepeatPhrase>;
  /** It holds a negation. */
  readonly denies: boolean;
}

/** A text as repeats are told by. What it says is read when it is first asked for. */
export class SaidText {
  /** Of a long turn, `edgesOf` it. */
  readonly text: string;
  #phrases: SaidPhrases | null = null;
  #words: readonly number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get phrases(): SaidPhrases {
    return (this.#phrases ??= phrasesIn(this.text));
  }

  /** Hashes of its telling words, in order. */
  get words(): readonly number[] {
    return (this.#words ??= tellingWords(this.text).map(({ stem }) => hashOf(stem)));
  }
}

/** Words that are kept of a request, and read of an answer. */
const MOST_WORDS = 24;

/** The words that carry meaning, numbers and names, at most `MOST_WORDS`. */
export function tellingWords(text: string): Word[] {
  return wordsOf(text)
    .filter((word) => word.content || isNumber(word))
    .slice(0, MOST_WORDS);
}

export function isNumber({ text }: Word): boolean {
  return /\p{N}/u.test(text);
}

/** FNV-1a over UTF-16 units, folded to 16 bits; never 0. */
export function hashOf(stem: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stem.length; index += 1)
    hash = Math.imul(hash ^ stem.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 16)) & 0xffff || 1;
}

/** The phrases in a text. Its cost is in proportion to its length: give `edgesOf` a long one. */
export function phrasesIn(text: string): SaidPhrases {
  const { matcher, negations } = shipped();
  const { matches, tokens } = matcher.match(text);
  return {
    kinds: new Set(matches.map(({ kind }) => kind)),
    denies: tokens.some(({ key }) => negations.has(key)),
  };
}
