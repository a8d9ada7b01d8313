/**
 * Names groups of requests like good intent labels: phrases of two to five words that the requests share and that set
 * the group apart. A name consists of words of the requests, in their language; only `composed-names.ts` adds a few
 * English ones.
 *
 * Test: test/reader/topics/naming/names.test.ts.
 */
import { coreWords } from '../../document/core-words.ts';
import { isUnspaced, type Word } from '../../document/words.ts';
import { MOST_WORDS, nameFrom } from './phrases.ts';
import type { Sample } from './sample-words.ts';
import { scoredNames, type DocumentFrequencies, type ScoredName } from './scores.ts';
import type { GroupWords } from './wording.ts';

/**
 * A longer name precedes one that it contains if it is true of this share of the same requests and scores this share as
 * high.
 */
const NEARLY_ALL = 0.75;
const AS_GOOD = 0.6;
const MOST_NAMES = 12;

/** Returns names for a group, best first. At least one, unless no sample has a word. */
export function namesOf(group: GroupWords, frequencies: DocumentFrequencies): string[] {
  return rankedNames(group, frequencies)
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

/** Returns all names of `namesOf`, with their scores. */
export function rankedNames(group: GroupWords, frequencies: DocumentFrequencies): ScoredName[] {
  const scored = scoredNames(group, frequencies);
  scored.sort((x, y) => y.score - x.score || (x.key < y.key ? -1 : 1));
  preferWhole(scored);
  return scored.length > 0 ? scored : firstWords(group.samples);
}

/** Moves "Sea salt cookie" before "Sea cookie" if it is true of nearly all the same requests. */
function preferWhole(scored: ScoredName[]): void {
  for (let best = scored[0]; best !== undefined; best = scored[0]) {
    const { stems, share, score } = best;
    const whole = scored.findIndex(
      (longer, at) =>
        at > 0 &&
        longer.stems.length === stems.length + 1 &&
        stems.every((stem) => longer.stems.includes(stem)) &&
        longer.share >= NEARLY_ALL * share &&
        longer.score >= AS_GOOD * score,
    );
    if (whole < 0) return;
    scored.unshift(...scored.splice(whole, 1));
  }
}

/** Names for requests without a common word: one from each, shortest first. */
function firstWords(samples: readonly Sample[]): ScoredName[] {
  const names = new Set(
    samples.map(({ request }) => requestName(request.text)).filter((name) => name !== ''),
  );
  return [...names]
    .sort((x, y) => x.length - y.length || (x < y ? -1 : 1))
    .map((name) => ({ name, score: 0, stems: [], key: name, share: 0 }));
}

/** A short name for one request: its first five words from the first content word on; '' if it has no word. */
function phraseOf(words: readonly Word[], text: string): string {
  const kept: Word[] = [];
  const hasContent = words.some((word) => word.content);
  let content = 0;
  for (const word of words) {
    if (kept.length > 0 && word.afterBreak && content >= 2) break;
    if (word.determiner || (content === 0 && !word.content && hasContent)) continue;
    if (word.content) content += 1;
    kept.push(word);
    if (kept.length === MOST_WORDS) break;
  }
  while (kept.length > 1 && !kept[kept.length - 1]!.content) kept.pop();
  return nameFrom(
    kept.map((word) => word.text),
    isUnspaced(text),
  );
}

/** A short name for one request in its own words; '' if it has no word. */
export function requestName(text: string): string {
  return phraseOf(coreWords(text), text);
}

/** The first name that is not in `taken`; else the first one with a number. */
export function uniqueName(names: readonly string[], taken: ReadonlySet<string>): string {
  const base = names[0] ?? 'Unnamed';
  const free = [...names, base].find((name) => !taken.has(name));
  if (free !== undefined) return free;
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`;
    if (!taken.has(name)) return name;
  }
}
