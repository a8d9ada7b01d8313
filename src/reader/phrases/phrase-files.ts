/**
 * Reads the phrase files of each language, such as `lexicon/<language>/signals.json`. `lexicon/README.md` explains how
 * to add a language or a phrase.
 *
 * Test: test/reader/phrases/phrase-files.test.ts.
 */
import { z } from 'zod';
import { SetupError } from '../../errors.ts';
import { languageFiles, listOf, readLexiconFile } from '../document/lexicon-file.ts';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { classesOfPhrases, Grammars, listOfPhrases, type Grammar } from './grammar.ts';
import { memberItems, PhraseFault, PhraseSyntax, type ReadPhrase } from './syntax.ts';

const kindSchema = z.strictObject({
  phrases: listOfPhrases(1),
  /**
   * Phrases that veto: a phrase that shares a word with one of them does not count. "Thanks" in "thanks for nothing".
   */
  unless: listOfPhrases(0).optional(),
  /** A kind of the same file whose `unless` holds for this kind too, in place of a list of its own. */
  unlessOf: z.string().optional(),
  /** Whole turns: the kind is found in each of the first and in none of the second. */
  examples: z.strictObject({ fires: listOf(undefined, 1), silent: listOf() }),
});

type WrittenKind = z.infer<typeof kindSchema>;
export type KindOfPhrases = Omit<WrittenKind, 'unlessOf'>;

/** The phrases of one language for one purpose. */
export interface PhraseFile<Kind extends string> {
  /** ISO 639-1. */
  readonly language: string;
  readonly path: string;
  readonly grammar: Grammar;
  /** Classes of the grammar and of the file. */
  readonly classes: ReadonlyMap<string, readonly string[]>;
  readonly kinds: Readonly<Partial<Record<Kind, KindOfPhrases>>>;
  /** Names of kinds that users see, in the file's language. */
  readonly names: Readonly<Record<string, string>>;
  /** Parses a phrase of the file or its grammar. Throws SetupError, naming the file, if it is faulty. */
  read(phrase: string): ReadPhrase;
}

export interface PhraseFilesOptions<Kind extends string> {
  /** The purpose: the files' name before `.json`. */
  readonly purpose: string;
  /** The kinds of phrases that a file may have. */
  readonly kinds: readonly Kind[];
  readonly directory?: string;
  /**
   * True parses every phrase now, to report all faults; false parses one when a text first needs its language. Default
   * true.
   */
  readonly checked?: boolean;
}

/** The shipped grammars, read once for all purposes. */
const SHIPPED_GRAMMARS = new Grammars(LEXICON_DIRECTORY);

/** Loads the files of a purpose, one per language. Throws SetupError, naming file and place, if one is faulty. */
export function loadPhraseFiles<Kind extends string>({
  purpose,
  kinds,
  directory = LEXICON_DIRECTORY,
  checked = true,
}: PhraseFilesOptions<Kind>): PhraseFile<Kind>[] {
  const schema = z.strictObject({
    names: z.partialRecord(z.enum(kinds), z.string().min(1)).optional(),
    classes: classesOfPhrases.optional(),
    kinds: z.partialRecord(z.enum(kinds), kindSchema),
  });
  const grammars = directory === LEXICON_DIRECTORY ? SHIPPED_GRAMMARS : new Grammars(directory);
  return languageFiles(directory, purpose).map(({ language, path }) => {
    const grammar = grammars.of(language);
    const content = readLexiconFile(path, schema);
    const all = new Map([...Object.entries(grammar.classes), ...Object.entries(content.classes ?? {})]);
    const syntax = new PhraseSyntax({ classes: all, gap: grammar.gap });
    const file: PhraseFile<Kind> = {
      language,
      path,
      grammar,
      classes: all,
      kinds: withSharedUnless(path, content.kinds) as PhraseFile<Kind>['kinds'],
      names: (content.names ?? {}) as Readonly<Record<string, string>>,
      read: (phrase) => {
        try {
          return syntax.read(phrase);
        } catch (error) {
          throw error instanceof PhraseFault ? unusable(path, [error.message]) : error;
        }
      },
    };
    if (checked) check(file, syntax);
    return file;
  });
}

/** Gives each kind that names another one under `unlessOf` the other's `unless`. Throws SetupError if it has none. */
function withSharedUnless(
  path: string,
  kinds: Readonly<Record<string, WrittenKind | undefined>>,
): Record<string, KindOfPhrases | undefined> {
  const entries = Object.entries(kinds).map(([kind, written]) => {
    if (written?.unlessOf === undefined) return [kind, written] as const;
    const { unlessOf, ...own } = written;
    const unless = kinds[unlessOf]?.unless;
    if (unless === undefined || own.unless !== undefined)
      throw unusable(path, [`kinds.${kind}.unlessOf: needs a kind with "unless", and no "unless" beside it`]);
    return [kind, { ...own, unless }] as const;
  });
  return Object.fromEntries(entries);
}

function unusable(path: string, faults: readonly string[]): SetupError {
  return new SetupError(`${path} is not usable (${faults.join('; ')}): correct it`);
}

/** Throws SetupError if a phrase cannot be parsed. */
function check(file: PhraseFile<string>, syntax: PhraseSyntax): void {
  const faults: string[] = [];
  const tryTo = (place: string, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof PhraseFault)) throw error;
      faults.push(`${place}: ${error.message}`);
    }
  };
  const readAll = (place: string, list: readonly string[]): void =>
    list.forEach((text, at) => tryTo(`${place}.${at}`, () => syntax.read(text)));
  for (const [name, members] of file.classes)
    members.forEach((member, at) => tryTo(`classes.${name}.${at}`, () => memberItems(member)));
  for (const [kind, { phrases = [], unless = [] } = {}] of Object.entries(file.kinds)) {
    readAll(`kinds.${kind}.phrases`, phrases);
    readAll(`kinds.${kind}.unless`, unless);
  }
  const { negation, contrast, skipped } = file.grammar;
  skipped.forEach((word, at) =>
    tryTo(`grammar skipped.${at}`, () => {
      if (memberItems(word).length > 1) throw new PhraseFault(`"${word}" is more than one word`);
    }),
  );
  for (const [place, list] of Object.entries({ ...negation, contrast }))
    if (typeof list !== 'number') readAll(`grammar ${place}`, list);
  if (faults.length > 0) throw unusable(file.path, faults);
}
