import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEXICON_DIRECTORY } from '../../src/text/lexicon.ts';
import { loadPhraseFiles, type PhraseFile } from '../../src/text/phrases/phrase-files.ts';

/** All files of phrases that ship, by purpose; their kinds are taken as they are. */
export function shippedPhraseFiles(): Map<string, PhraseFile<string>[]> {
  const files = readdirSync(LEXICON_DIRECTORY).filter((file) =>
    /^[^.]+\.(?!grammar\.)[^.]+\.json$/.test(file),
  );
  const byPurpose = Map.groupBy(files, (file) => file.split('.')[1]!);
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
