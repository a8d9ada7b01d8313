/**
 * Reads `lexicon/names/`: names of people by region, and words that look like names.
 *
 * Test: test/reader/personal/names-lexicon.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { once } from '../document/once.ts';

/**
 * Sections of a file. `given`: given names without another meaning. `family`: family names, which count after a given
 * name or a word such as "for". `words`: names of both kinds that are words or places as well. `things`: brands, places
 * and products.
 */
const SECTIONS = ['given', 'family', 'words', 'things'] as const;
export type NameSection = (typeof SECTIONS)[number];

const DIRECTORY = join(LEXICON_DIRECTORY, 'names');

/**
 * Names of all regions, in lower case, loaded on first use. The files are plain text, because ten thousand entries make
 * a long JSON file. Throws SetupError if a file is faulty.
 */
export const personNames = once((): Readonly<Record<NameSection, ReadonlySet<string>>> => readNames());

function readNames(): Record<NameSection, Set<string>> {
  const names = Object.fromEntries(SECTIONS.map((section) => [section, new Set<string>()])) as Record<
    NameSection,
    Set<string>
  >;
  for (const file of readdirSync(DIRECTORY).toSorted()) addNames(file, names);
  return names;
}

function addNames(file: string, names: Readonly<Record<NameSection, Set<string>>>): void {
  let section: NameSection | undefined;
  for (const word of readFileSync(join(DIRECTORY, file), 'utf8').split(/\s+/u)) {
    if (word === '') continue;
    const head = SECTIONS.find((one) => word === `[${one}]`);
    if (head !== undefined) section = head;
    else if (section === undefined || word.startsWith('['))
      throw new SetupError(
        `lexicon/names/${file} has "${word}" below none of [${SECTIONS.join('], [')}]: correct it`,
      );
    else names[section].add(word);
  }
}
