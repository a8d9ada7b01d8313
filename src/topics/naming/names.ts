/**
 * Names for groups of requests, as good intent labels are: phrases of two to five words that the requests share and
 * that set the group apart. A name is made of the requests' own words, in their language, and of nothing else.
 */
import { coreWords } from '../../language/core-words.ts';
import { isUnspaced, type Word } from '../../language/words.ts';
import { MOST_WORDS, nameFrom } from './candidates.ts';
import {
  mostDistinctStem,
  scoredNames,
  type DocumentFrequencies,
  type GroupPairs,
  type NameKind,
  type ScoredName,
} from './scores.ts';

/** A request of a group, and how much it counts. */
export interface Sample {
  readonly text: string;
  readonly weight: number;
}

/** What the requests of a group say. */
export interface GroupWords {
  readonly samples: readonly Sample[];
  /** Share of all requests, not only of the samples, that hold a stem. */
  readonly shares: ReadonlyMap<string, number>;
  /** Left out where only the samples are known. */
  readonly pairs?: GroupPairs;
}

/** A phrase that fewer requests hold ranks behind the single word that says most. */
const LEAST_SHARE_OF_PHRASE = 0.08;
const MOST_NAMES = 12;

/** Names for a group, best first. At least one, unless no sample has a word. */
export function namesOf(
  { samples, ...group }: GroupWords,
  frequencies: DocumentFrequencies,
  kind: NameKind = 'topic',
): string[] {
  const read = samples.map((sample) => ({ ...sample, words: coreWords(sample.text) }));
  const scored = scoredNames(read, group, frequencies, kind);
  scored.sort((x, y) => y.score - x.score || (x.key < y.key ? -1 : 1));
  if (kind === 'topic') {
    const distinct = mostDistinctStem(group.shares, frequencies);
    scored.sort((x, y) => rankOf(x, distinct) - rankOf(y, distinct));
  }
  const names = scored.map(({ name }) => name).filter((name) => name !== '');
  if (names.length > 0) return names.slice(0, MOST_NAMES);
  const whole = read.map(({ words, text }) => phraseOf(words, text)).filter((name) => name !== '');
  return [...new Set(whole)].sort((x, y) => x.length - y.length || (x < y ? -1 : 1)).slice(0, MOST_NAMES);
}

/** Phrases of enough requests first, then words; each with the most distinct word first. Lower ranks are better. */
function rankOf({ stems, share }: ScoredName, distinct: string): number {
  const isPhrase = stems.length > 1;
  const holds = stems.includes(distinct);
  if (isPhrase && share >= LEAST_SHARE_OF_PHRASE) return holds ? 0 : 1;
  if (holds) return isPhrase ? 3 : 2;
  return isPhrase ? 4 : 5;
}

/** A short name for one request: its first five words from the first content word on. '' when it has no word. */
export function phraseOf(words: readonly Word[], text: string): string {
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

/** A short name for one request as it was made. '' when it has no word. */
export function requestName(text: string): string {
  return phraseOf(coreWords(text), text);
}

/** The first name not in `taken`; else the first with a number. */
export function uniqueName(names: readonly string[], taken: ReadonlySet<string>): string {
  const base = names[0] ?? 'Unnamed';
  const free = [...names, base].find((name) => !taken.has(name));
  if (free !== undefined) return free;
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`;
    if (!taken.has(name)) return name;
  }
}
