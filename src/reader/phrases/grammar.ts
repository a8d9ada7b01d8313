/**
 * Reads `lexicon/<language>/grammar.json`: the rules that all phrases of a language share.
 *
 * Test: test/reader/phrases/phrase-files.test.ts.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';
import { LANGUAGES } from '../document/lexicon.ts';
import { listOf, readLexiconFile } from '../document/lexicon-file.ts';
import { once } from '../document/once.ts';
import { addKeys } from './read-text.ts';

const name = z.string().regex(/^[a-z]+(?:-[a-z]+)*$/, 'is not kebab-case');

/** Schema of a list of phrases: lower case, single spaces between words, no duplicates. `least`: fewest entries. */
export function listOfPhrases(least: number): z.ZodType<readonly string[]> {
  return listOf((list, tell) => {
    const seen = new Set<string>();
    list.forEach((entry, place) => {
      const fault = seen.has(entry) ? 'stands twice' : faultOf(entry);
      if (fault !== null) tell(place, `"${entry}" ${fault}`);
      seen.add(entry);
    });
  }, least);
}

const SPACED = /^\S+(?: \S+)*$/;

function faultOf(phrase: string): string | null {
  if (!SPACED.test(phrase)) return 'is empty, or has spaces beside its words';
  return phrase === phrase.toLowerCase() ? null : 'is not in lower case';
}

const phrase = z.string().superRefine((text, context) => {
  const fault = faultOf(text);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

/** Schema of word classes by name. */
export const classesOfPhrases = z.record(name, listOfPhrases(1));

const grammarSchema = z.strictObject({
  /** Name of the language in English, for people. */
  name: z.string().min(1),
  /** Most words in a gap without a number; most characters, in a script without spaces. */
  gap: z.int().min(1).max(12),
  /** Words that may stand anywhere inside a phrase: "that did (really) not help". */
  skipped: listOfPhrases(0),
  negation: z.strictObject({
    /** Words that deny the rest of the clause, and the number of words that they reach over. */
    before: listOfPhrases(0),
    reachAfter: z.int().min(0).max(12),
    /** Phrases that deny the words before them, and the number of words that they reach back over. */
    after: listOfPhrases(0),
    reachBefore: z.int().min(0).max(12),
    /** Phrases whose negations deny nothing: "no thanks", "no, it is". */
    except: listOfPhrases(0).default([]),
  }),
  /** Phrases that begin a contrasting clause: "but". */
  contrast: listOfPhrases(0),
  /** Spellings of several words as one: "dont". */
  spellings: z.record(phrase, phrase),
  classes: classesOfPhrases,
});

export interface Grammar extends z.infer<typeof grammarSchema> {
  /** Returns the keys of words that texts of the language contain on any subject. */
  readonly words: () => ReadonlySet<string>;
}

/** The grammars of a directory, each read once. */
export class Grammars {
  readonly #directory: string;
  readonly #read = new Map<string, Grammar>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads a grammar on first use. Throws SetupError if it is missing or faulty. */
  of(language: string): Grammar {
    const known = this.#read.get(language);
    if (known !== undefined) return known;
    const path = join(this.#directory, language, 'grammar.json');
    if (!existsSync(path)) throw new SetupError(`${path} is missing: phrases need it`);
    const content = readLexiconFile(path, grammarSchema);
    const grammar = { ...content, words: once(() => wordsOf(language, content)) };
    this.#read.set(language, grammar);
    return grammar;
  }
}

function wordsOf(code: string, grammar: z.infer<typeof grammarSchema>): ReadonlySet<string> {
  const { classes, skipped, negation, contrast, spellings } = grammar;
  const own = [...Object.values(classes).flat(), ...skipped, ...contrast, ...Object.keys(spellings)];
  const language = LANGUAGES.get(code);
  const listed =
    language === undefined
      ? []
      : [
          language.stopWords,
          language.stopWordsInTurns,
          language.determiners,
          language.connectors,
          language.subjects,
          language.auxiliaries,
          language.verbs,
        ];
  return wordsIn([...own, ...negation.before, ...negation.after, ...listed.flat()]);
}

/** The keys of the words in phrases, without numbers, which belong to no language. */
export function wordsIn(phrases: readonly string[]): Set<string> {
  const words = new Set<string>();
  addKeys(phrases.join('\n'), words);
  words.delete('0');
  return words;
}
