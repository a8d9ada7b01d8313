/**
 * The meanings of the phrases in a language's lexicon.
 *
 * Test: test/reader/document/request-parts.test.ts.
 */
import { ACTION_CLASSES, type ActionClass, type Language } from './lexicon.ts';

/**
 * The way in which a phrase names its action: a verb or its noun, a question about a state, a trouble, or a hint that
 * counts only if nothing else names one.
 */
export type Manner = 'action' | 'question' | 'trouble' | 'hint';

/** The meaning of a phrase; a word such as "order" names an action and a thing. */
export interface Meaning {
  readonly action: ActionClass | null;
  /** Null if there is no action. */
  readonly manner: Manner | null;
  /** A key of `things`. */
  readonly thing: string | null;
}

/** Neither action nor thing: "find out". */
export const LIGHT: Meaning = { action: null, manner: null, thing: null };

/** The phrases of a language as the lexicon writes them, each once, with their meanings. */
export function meaningsOf(language: Language): ReadonlyMap<string, Meaning> {
  const meanings = new Map<string, Meaning>();
  const add = (phrases: readonly string[], given: Partial<Meaning>): void => {
    for (const phrase of phrases) {
      const before = meanings.get(phrase) ?? LIGHT;
      if (given.action !== undefined && before.action !== null) continue;
      if (given.thing !== undefined && before.thing !== null) continue;
      meanings.set(phrase, { ...before, ...given });
    }
  };
  add(language.lightWords, {});
  for (const action of ACTION_CLASSES) {
    add(language.troubles[action] ?? [], { action, manner: 'trouble' });
    add(language.questions[action] ?? [], { action, manner: 'question' });
    add(language.actions[action], { action, manner: 'action' });
  }
  for (const action of ACTION_CLASSES) add(language.hints[action] ?? [], { action, manner: 'hint' });
  for (const [thing, phrases] of Object.entries(language.things)) add(phrases, { thing });
  return meanings;
}

/** The kind of a piece of a request. */
export type PieceKind = 'phrase' | 'determiner' | 'connector' | 'stop' | 'value' | 'word';

/** A phrase of the lexicon, or a word that the lexicon lacks. */
export interface Piece {
  /** Its text, as written. */
  readonly text: string;
  /** Its words that name the thing: "account" of "close my account". */
  readonly noun: string;
  readonly kind: PieceKind;
  /** `LIGHT` unless the piece is a phrase. */
  readonly meaning: Meaning;
  /** Its range in the request: in words, or in letters where no spaces separate words. The end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** True if a comma or the like stands before it. */
  readonly afterBreak: boolean;
  /** Stem of a word that the lexicon lacks; else ''. */
  readonly stem: string;
}
