/**
 * Reads `lexicon/names/`: names of persons by region, and words that look like them. Covered by
 * test/reader/personal/names-lexicon.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { once } from '../document/once.ts';

/**
 * `given`: given names that are no words of another meaning. `family`: names of families, which a given name or a word
 * such as "for" announces. `words`: names of both kinds that are words or places as well. `things`: brands, places and
 * products.
 */
const SECTIONS = ['given', 'family', 'words', 'things'] as const;
export type NameSection = (typeof SECTIONS)[number];

const DIRECTORY = join(LEXICON_DIRECTORY, 'names');

/**
 * Of all regions together, in lower case; read when a text first asks. Files are text: ten thousand entries are long as
 * JSON.
 */
export const personNames = once((): Readonly<Record<NameSection, ReadonlySet<string>>> => readNames());

function readNames(): Record<NameSection, Set<string>> {
  const names = Object.fromEntries(SECTIONS.map((section) => [section, new Set<string>()])) as Record<
    NameSection,
    Set<string>
  >;
  for (const file of readdirSync(DIRECTORY).toSorted()) {
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
  return names;
}
