/**
 * The phrases with which users ask again or continue, and with which assistants answer:
 * `lexicon/<language>/repeats.json`.
 *
 * Test: test/reader/acts/repeat-phrases.test.ts.
 */
import { once } from '../document/once.ts';
import { loadPhraseFiles } from '../phrases/phrase-files.ts';
import { PhraseMatcher } from '../phrases/phrase-matcher.ts';
import { textHash } from '../document/text-hash.ts';
import { wordsOf, type Word } from '../document/words.ts';

/**
 * Kinds of phrases. Of users: `insists` says that it was asked before or that the answer misses it, `persists` that
 * nothing has changed, `presses` comes back to it ("but when?", "so can you?"), `adds` continues from the answer ("and
 * for children?"), `continues` names something else ("another one"), `accepts` takes the answer, `measures` asks for a
 * number ("how much", "when"), `wonders` for something else ("who", "why"), `polar` for yes or no; `denies` is any
 * negation. Of assistants: `settles` answers yes, no or done, `offers` offers further help, `misses` says that it
 * understood nothing, `evades` speaks in general ("our rooms …", "usually", "on our website").
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

/** Length of a turn's beginning and end together, UTF-16 units. */
export const EDGES = 320;

const shipped = once(() => {
  const files = loadPhraseFiles({ purpose: 'repeats', kinds: REPEAT_PHRASES, checked: false });
  const negations = files.flatMap(({ grammar: { negation } }) => [...negation.before, ...negation.after]);
  return { matcher: new PhraseMatcher(files), negations: new Set(negations) };
});

/** The beginning and the end of a turn: how it picks up the turn before, and how it closes. */
export function edgesOf(content: string): string {
  if (content.length <= EDGES) return content;
  return `${content.slice(0, EDGES / 2)}\n${content.slice(-EDGES / 2)}`;
}

export interface PhrasesInText {
  readonly kinds: ReadonlySet<RepeatPhrase>;
  /** True if the text holds a negation. */
  readonly denies: boolean;
}

/** A text for the detection of repeats. Its phrases and words are read on first use. */
export class RepeatText {
  /** The text; `edgesOf` it for a long turn. */
  readonly text: string;
  #phrases: PhrasesInText | null = null;
  #words: readonly number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get phrases(): PhrasesInText {
    return (this.#phrases ??= phrasesIn(this.text));
  }

  /** Hashes of its content words, in order. */
  get words(): readonly number[] {
    return (this.#words ??= tellingWords(this.text).map(({ stem }) => hashOf(stem)));
  }
}

/** Most words that are kept of a request and read in an answer. */
const MOST_WORDS = 24;

/** The content words, numbers and names, at most `MOST_WORDS`. */
export function tellingWords(text: string): Word[] {
  return wordsOf(text)
    .filter((word) => word.content || isNumber(word))
    .slice(0, MOST_WORDS);
}

export function isNumber({ text }: Word): boolean {
  return /\p{N}/u.test(text);
}

/** `textHash`, folded to 16 bits; never 0. */
export function hashOf(stem: string): number {
  const hash = textHash(stem);
  return (hash ^ (hash >>> 16)) & 0xffff || 1;
}

/** The phrases in a text. Takes time linear in its length: pass `edgesOf` a long text. */
export function phrasesIn(text: string): PhrasesInText {
  const { matcher, negations } = shipped();
  const { matches, tokens } = matcher.match(text);
  return {
    kinds: new Set(matches.map(({ kind }) => kind)),
    denies: tokens.some(({ key }) => negations.has(key)),
  };
}
