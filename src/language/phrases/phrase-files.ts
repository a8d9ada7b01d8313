/**
 * Reads `lexicon/<language>.grammar.json` (what all phrases of a language share) and the files of phrases beside it,
 * such as `lexicon/<language>.signals.json`. How to add a language or a phrase is in `lexicon/README.md`.
 * Covered by test/language/phrases/phrase-files.test.ts.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';
import { LEXICON_DIRECTORY } from '../lexicon.ts';
import { memberItems, PhraseFault, sequencesOf, type Sequence } from './syntax.ts';
import { readLexiconFile } from '../lexicon-file.ts';

const name = z.string().regex(/^[a-z]+(?:-[a-z]+)*$/, 'is not kebab-case');
const phrase = z
  .string()
  .regex(/^\S+(?: \S+)*$/, 'is empty, or has spaces beside its words')
  .refine((text) => text === text.toLowerCase(), 'is not in lower case');
const phrases = z.array(phrase).superRefine((list, context) => {
  const seen = new Set<string>();
  list.forEach((entry, place) => {
    if (seen.has(entry))
      context.addIssue({ code: 'custom', path: [place], message: `"${entry}" stands twice` });
    seen.add(entry);
  });
});
const classes = z.record(name, phrases.min(1));

const grammarSchema = z.strictObject({
  /** In English, for readers. */
  name: z.string().min(1),
  /** Most words in a gap that gives no number; characters, where spaces part no words. */
  gap: z.int().min(1).max(12),
  /** Words that may stand anywhere within a phrase: "that did (really) not help". */
  skipped: phrases,
  negation: z.strictObject({
    /** Words that deny what follows in the clause, and how many words further they reach. */
    before: phrases,
    reachAfter: z.int().min(0).max(12),
    /** Phrases that deny what precedes them, and how many words back they reach. */
    after: phrases,
    reachBefore: z.int().min(0).max(12),
  }),
  /** Phrases with which a clause begins that counters what precedes it: "but". */
  contrast: phrases,
  /** How people spell several words as one: "dont". */
  spellings: z.record(phrase, phrase),
  /** Words by what they do in phrases. */
  classes,
});

export type Grammar = z.infer<typeof grammarSchema>;

const kindSchema = z.strictObject({
  phrases: phrases.min(1),
  /** A phrase that shares a word with one of these says nothing: "thanks", but not "thanks for nothing". */
  unless: phrases.optional(),
  /** Whole turns: in each of the first the kind is found, in none of the second. */
  examples: z.strictObject({ fires: z.array(z.string()).min(1), silent: z.array(z.string()) }),
});

export type KindOfPhrases = z.infer<typeof kindSchema>;

/** The phrases of one language and one purpose. */
export interface PhraseFile<Kind extends string> {
  /** ISO 639-1. */
  readonly language: string;
  readonly path: string;
  readonly grammar: Grammar;
  /** Those of the grammar and those of the file. */
  readonly classes: ReadonlyMap<string, readonly string[]>;
  readonly kinds: Readonly<Partial<Record<Kind, KindOfPhrases>>>;
  /**
   * What each phrase of the file and the grammar stands for; made at the first call. Throws SetupError, naming file
   * and place, when one cannot be read.
   */
  sequences(): ReadonlyMap<string, readonly Sequence[]>;
}

export interface PhraseFilesOptions<Kind extends string> {
  /** What the files are for: the part of their names before `.json`. */
  readonly purpose: string;
  /** The kinds of phrases that a file may have. */
  readonly kinds: readonly Kind[];
  readonly directory?: string;
  /** Phrases are read now, and not when a text of their language is met first. */
  readonly checked?: boolean;
}

/** The files of a purpose, by language. Throws SetupError, naming file and place, when one cannot be used. */
export function loadPhraseFiles<Kind extends string>({
  purpose,
  kinds,
  directory = LEXICON_DIRECTORY,
  checked = true,
}: PhraseFilesOptions<Kind>): PhraseFile<Kind>[] {
  const ending = `.${purpose}.json`;
  const schema = z.strictObject({
    classes: classes.optional(),
    kinds: z.partialRecord(z.enum(kinds), kindSchema),
  });
  const names = readdirSync(directory).filter((file) => file.endsWith(ending));
  return names.toSorted().map((name) => {
    const language = name.slice(0, -ending.length);
    const path = join(directory, name);
    const grammar = grammarOf(language, directory);
    const content = readLexiconFile(path, schema);
    const all = new Map([...Object.entries(grammar.classes), ...Object.entries(content.classes ?? {})]);
    const kindsOfFile = content.kinds as PhraseFile<Kind>['kinds'];
    const read = { language, path, grammar, classes: all, kinds: kindsOfFile };
    let made: ReadonlyMap<string, readonly Sequence[]> | null = null;
    const file = { ...read, sequences: () => (made ??= sequencesIn(read)) };
    if (checked) file.sequences();
    return file;
  });
}

/** Throws SetupError when the language has no grammar, or one that cannot be used. */
function grammarOf(language: string, directory: string): Grammar {
  const path = join(directory, `${language}.grammar.json`);
  if (!existsSync(path)) throw new SetupError(`${path} is missing: phrases need it`);
  return readLexiconFile(path, grammarSchema);
}

/** Throws SetupError when a phrase cannot be read. */
function sequencesIn(file: Omit<PhraseFile<string>, 'sequences'>): Map<string, readonly Sequence[]> {
  const options = { classes: file.classes, gap: file.grammar.gap };
  const sequences = new Map<string, readonly Sequence[]>();
  const faults: string[] = [];
  const check = (place: string, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof PhraseFault)) throw error;
      faults.push(`${place}: ${error.message}`);
    }
  };
  for (const [name, members] of file.classes)
    members.forEach((member, at) => check(`classes.${name}.${at}`, () => memberItems(member)));
  for (const [kind, { phrases = [], unless = [] } = {}] of Object.entries(file.kinds)) {
    phrases.forEach((text, at) =>
      check(`kinds.${kind}.phrases.${at}`, () => sequences.set(text, sequencesOf(text, options))),
    );
    unless.forEach((text, at) =>
      check(`kinds.${kind}.unless.${at}`, () => sequences.set(text, sequencesOf(text, options))),
    );
  }
  const { negation, contrast, skipped } = file.grammar;
  skipped.forEach((word, at) =>
    check(`grammar skipped.${at}`, () => {
      if (memberItems(word).length > 1) throw new PhraseFault(`"${word}" is more than one word`);
    }),
  );
  for (const [place, list] of Object.entries({ ...negation, contrast })) {
    if (typeof list === 'number') continue;
    list.forEach((text, at) =>
      check(`grammar ${place}.${at}`, () => sequences.set(text, sequencesOf(text, options))),
    );
  }
  if (faults.length > 0)
    throw new SetupError(`${file.path} is not usable (${faults.join('; ')}): correct it`);
  return sequences;
}
