/**
 * Reads `lexicon/lists/naming.json`: the English words that decide whether a sequence of words is a name.
 *
 * Test: test/reader/topics/naming/name-form.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { readLexiconFile } from '../../document/lexicon-file.ts';
import { LEXICON_DIRECTORY } from '../../document/lexicon.ts';

const words = z
  .array(z.string().regex(/^[a-z]+$/))
  .min(1)
  .transform((list): ReadonlySet<string> => new Set(list));

const schema = z.strictObject({
  negations: words,
  /** Words after which a verb follows its subject: "where does the money come from". */
  asking: words,
  /** Verbs that do not say what is wanted: "get card". */
  emptyVerbs: words,
  /** Nouns that say too little alone: "cost". */
  vagueNouns: words,
});

export const NAMING_WORDS = readLexiconFile(join(LEXICON_DIRECTORY, 'lists/naming.json'), schema);
