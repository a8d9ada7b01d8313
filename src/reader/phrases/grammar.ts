/**
 * Reads `lexicon/<language>/grammar.json`: what all phrases of a language share. Covered by
 * test/reader/phrases/phrase-files.test.ts.
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

/** Phrases as a file lists them: in lower case, with single spaces between words, each once. */
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

/** Words by what they do in phrases. */
export const classesOfPhrases = z.record(name, listOfPhrases(1));

const grammarSchema = z.strictObject({
  /** In English, for readers. */
  name: z.string().min(1),
  /** Most words in a gap that gives no number; characters, where spaces part no words. */
  gap: z.int().min(1).max(12),
  /** Words that may stand anywhere within a phrase: "that did (really) not help". */
  skipped: listOfPhrases(0),
  negation: z.strictObject({
    /** Words that deny what follows in the clause, and how many words further they reach. */
    before: listOfPhrases(0),
    reachAfter: z.int().min(0).max(12),
    /** Phrases that deny what precedes them, and how many words back they reach. */
    after: listOfPhrases(0),
    reachBefore: z.int().min(0).max(12),
    /** Phrases whose negations deny nothing: "no thanks", "no, it is". */
    except: listOfPhrases(0).default([]),
  }),
  /** Phrases with which a clause begins that counters what precedes it: "but". */
  contrast: listOfPhrases(0),
  /** How people spell several words as one: "dont". */
  spellings: z.record(phrase, phrase),
  classes: classesOfPhrases,
});

export interface Grammar extends z.infer<typeof grammarSchema> {
  /** Keys of words that texts of the language have, whatever they are about. */
  readonly words: () => ReadonlySet<string>;
}

/** The grammars of a directory. */
export class Grammars {
  readonly #directory: string;
  readonly #read = new Map<string, Grammar>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads it at the first call. Throws SetupError when the language has none, or one that cannot be used. */
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

/** The keys of the words of phrases; a number, which is no word of a language, is left out. */
export function wordsIn(phrases: readonly string[]): Set<string> {
  const words = new Set<string>();
  addKeys(phrases.join('\n'), words);
  words.delete('0');
  return words;
}
