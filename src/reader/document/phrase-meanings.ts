/** What the phrases of a language's lexicon mean. Covered by test/reader/document/request-parts.test.ts. */
import { ACTION_CLASSES, type ActionClass, type Language } from './lexicon.ts';

/**
 * How a phrase says its action: a verb or its noun, a question after a state, something that went wrong, or a
 * hint that counts where nothing else is said.
 */
export type Manner = 'action' | 'question' | 'trouble' | 'hint';

/** What a phrase of the lexicon says; a word such as "order" names an action and a thing. */
export interface Meaning {
  readonly action: ActionClass | null;
  /** null without an action. */
  readonly manner: Manner | null;
  /** A key of `things`. */
  readonly thing: string | null;
}

/** Neither action nor thing: "find out". */
export const LIGHT: Meaning = { action: null, manner: null, thing: null };

/** The phrases of a language as the lexicon writes them, each once. */
export function meaningsOf(language: Language): ReadonlyMap<string, Meaning> {
  const meanings = new Map<string, Meaning>();
  const add = (phrases: readonly string[], said: Partial<Meaning>): void => {
    for (const phrase of phrases) {
      const before = meanings.get(phrase) ?? LIGHT;
      if (said.action !== undefined && before.action !== null) continue;
      if (said.thing !== undefined && before.thing !== null) continue;
      meanings.set(phrase, { ...before, ...said });
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

/** What stands at a place of a request. */
export type PieceKind = 'phrase' | 'determiner' | 'connector' | 'stop' | 'value' | 'word';

/** A phrase of the lexicon, or a word that it does not hold. */
export interface Piece {
  /** As written. */
  readonly text: string;
  /** Those of its words that name the thing: "account" of "close my account". */
  readonly noun: string;
  readonly kind: PieceKind;
  /** `LIGHT` unless the piece is a phrase. */
  readonly meaning: Meaning;
  /** Place in the request, and the place after it: in words, or in letters where no spaces part words. */
  readonly start: number;
  readonly end: number;
  /** A comma or the like stands before it. */
  readonly afterBreak: boolean;
  /** Of a word that the lexicon does not hold; else ''. */
  readonly stem: string;
}
