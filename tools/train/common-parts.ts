/**
 * Measures what unrelated texts of a script have in common in a model's vectors, and writes it beside the weights.
 * Covered by test/reader/embedding/common-parts.test.ts.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { groupFinder, type CommonPart, type TextGroup } from '../../src/reader/embedding/common-parts.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { collect, dataSetPath, readLanguages } from '../eval/data.ts';

/**
 * Scripts and languages in which more than 3 of 100 pairs of unrelated sentences reach the topic threshold, but for
 * those with too few sentences, and those that no letter tells from others (Indonesian, Malay).
 */
const GROUPS: readonly TextGroup[] = [
  // Urdu, Persian and Yiddish: the scripts are those of Arabic and Hebrew.
  { letters: 'ٹڈڑںےہ' },
  { letters: 'پچژگکی' },
  { letters: 'װױײ' },
  { script: 'Arabic' },
  { script: 'Armenian' },
  { script: 'Bengali' },
  { script: 'Devanagari' },
  { script: 'Georgian' },
  { script: 'Greek' },
  { script: 'Hangul' },
  { script: 'Hebrew' },
  { script: 'Khmer' },
  { script: 'Malayalam' },
  { script: 'Tamil' },
  { script: 'Telugu' },
  { script: 'Thai' },
  // Vietnamese and Turkish.
  { letters: 'ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ' },
  { letters: 'ğış' },
];
/** Sentences of a group that are looked at. */
const SENTENCES = 2000;
const DIGITS = 1e4;

/** Writes `common-parts.json` into a model's folder. */
export async function writeCommonParts(folder: string, dataDirectory: string): Promise<void> {
  const file = join(folder, 'common-parts.json');
  rmSync(file, { force: true });
  const embedder = await loadEmbedder({ model: basename(folder), modelsDirectory: dirname(folder) });
  const sentences = await collect(readLanguages(dataSetPath(dataDirectory, 'language/tatoeba-sentences')));
  const groupOf = groupFinder(GROUPS);
  const byGroup = Map.groupBy(sentences, ({ text }) => groupOf(text));
  const parts: CommonPart[] = [];
  for (const [place, group] of GROUPS.entries()) {
    const texts = (byGroup.get(place) ?? []).slice(0, SENTENCES).map(({ text }) => text);
    const vectors = (await embedder.embed(texts)).filter((vector) => vector.some((x) => x !== 0));
    if (vectors.length === 0) continue;
    const sum = new Float64Array(embedder.dimensions);
    for (const vector of vectors) vector.forEach((x, at) => (sum[at]! += x));
    parts.push({
      ...group,
      vector: Array.from(sum, (x) => Math.round((x / vectors.length) * DIGITS) / DIGITS),
    });
  }
  await embedder.close();
  writeFileSync(file, `[\n${parts.map((part) => JSON.stringify(part)).join(',\n')}\n]\n`);
}
