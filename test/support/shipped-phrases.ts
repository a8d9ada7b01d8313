import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEXICON_DIRECTORY } from '../../src/reader/document/lexicon.ts';
import { loadPhraseFiles, type PhraseFile } from '../../src/reader/phrases/phrase-files.ts';

/** All files of phrases that ship, by purpose; their kinds are taken as they are. */
export function shippedPhraseFiles(): Map<string, PhraseFile<string>[]> {
  const files = readdirSync(LEXICON_DIRECTORY, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^[a-z]{2}\/(?!words|grammar|personal|texts)[a-z]+\.json$/.test(file))
    .toSorted();
  const byPurpose = Map.groupBy(files, (file) => file.slice(3, -'.json'.length));
  return new Map(
    [...byPurpose].map(([purpose, of]) => [purpose, loadPhraseFiles({ purpose, kinds: kindsIn(of) })]),
  );
}

function kindsIn(files: readonly string[]): string[] {
  const kinds = files.flatMap((file) => {
    const content = JSON.parse(readFileSync(join(LEXICON_DIRECTORY, file), 'utf8')) as { kinds: object };
    return Object.keys(content.kinds);
  });
  return [...new Set(kinds)];
}
