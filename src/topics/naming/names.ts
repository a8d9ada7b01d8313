/**
 * Names for groups of requests, as good intent labels are: phrases of two to five words that the requests share and
 * that set the group apart. A name is made of the requests' own words, in their language, and of nothing else.
 */
import { coreWords } from '../../language/core-words.ts';
import { isUnspaced, type Word } from '../../language/words.ts';
import { MOST_WORDS, nameFrom } from './phrases.ts';
import {
  mostDistinctStem,
  readSample,
  scoredNames,
  type DocumentFrequencies,
  type GroupPhrases,
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
  readonly phrases?: GroupPhrases;
}

/** A phrase that fewer requests hold is worth this much less. */
const LEAST_SHARE = 0.1;
const RARE_FACTOR = 0.5;
/** The same for a single word: it stands for all, or it is one request's. */
const LEAST_SHARE_OF_WORD = 0.35;
/** What a name gains with the word that sets the group apart most. */
const DISTINCT_GAIN = 1.5;
const MOST_NAMES = 12;

/** Names for a group, best first. At least one, unless no sample has a word. */
export function namesOf(
  group: GroupWords,
  frequencies: DocumentFrequencies,
  kind: NameKind = 'topic',
): string[] {
  return rankedNames(group, frequencies, kind)
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

/** As `namesOf`, all of them and with what is known of each. */
export function rankedNames(
  { samples, ...group }: GroupWords,
  frequencies: DocumentFrequencies,
  kind: NameKind = 'topic',
): ScoredName[] {
  const scored = scoredNames(samples.map(readSample), group, frequencies, kind);
  const distinct = kind === 'topic' ? mostDistinctStem(scored, group.shares, frequencies) : '';
  const valueOf = ({ score, stems, share }: ScoredName): number =>
    score *
    (stems.includes(distinct) ? DISTINCT_GAIN : 1) *
    (share < (stems.length > 1 ? LEAST_SHARE : LEAST_SHARE_OF_WORD) ? RARE_FACTOR : 1);
  scored.sort((x, y) => valueOf(y) - valueOf(x) || (x.key < y.key ? -1 : 1));
  return scored.length > 0 ? scored : wholeRequests(samples);
}

/** Where requests share no word: each of them, the shortest first. */
function wholeRequests(samples: readonly Sample[]): ScoredName[] {
  const names = new Set(samples.map(({ text }) => requestName(text)).filter((name) => name !== ''));
  return [...names]
    .sort((x, y) => x.length - y.length || (x < y ? -1 : 1))
    .map((name) => ({ name, score: 0, stems: [], key: name, share: 0 }));
}

/** A short name for one request: its first five words from the first content word on. '' when it has no word. */
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
