import { collect, finished, MOST_WORDS, surfaceOf, type Candidate, type PairUse } from './candidates.ts';
import { coreWords } from './core-words.ts';
import { isUnspaced, type Word } from './words.ts';

/** A member's request and how much it counts. */
export interface Sample {
  readonly text: string;
  readonly weight: number;
}

/** How common words are in the instance: a name says what sets a group apart. */
export interface Background {
  /** Groups whose samples hold the stem. */
  readonly groupsWith: (stem: string) => number;
  readonly groups: number;
}

/** A phrase that fewer of the members hold is no name while a single word is to be had. */
const LEAST_SHARE_OF_PHRASE = 0.08;

/**
 * Names for a group, best first: phrases of two to five words that its members share and that set it
 * apart, after the rule of good intent labels. `shares` says which share of all members, not only of the
 * samples, holds a stem. At least one unless no sample has a word.
 */
export function namesOf(
  samples: readonly Sample[],
  background: Background,
  shares: ReadonlyMap<string, number>,
  kind: 'topic' | 'cluster' = 'topic',
  pairs: { readonly uses: ReadonlyMap<string, PairUse>; readonly members: number } | null = null,
): string[] {
  const read = samples.map((sample) => ({
    words: coreWords(sample.text),
    weight: sample.weight,
    text: sample.text,
  }));
  const total = read.reduce((sum, { weight }) => sum + weight, 0);
  const candidates = new Map<string, Candidate>();
  for (const { words, weight } of read) collect(words, weight, candidates);
  const holders = samplesByStem(read.map(({ words }) => words));
  for (const [key, { surface }] of pairs?.uses ?? []) {
    const known = candidates.get(key);
    const surfaces = new Map([[surface, 1]]);
    candidates.set(key, {
      stems: key.split(' '),
      support: 0,
      leading: 0,
      tight: known?.tight ?? 0,
      surfaces,
    });
  }
  const pairShare = (first: string, second: string): number => {
    const use = pairs?.uses.get(`${first} ${second}`);
    return pairs === null || use === undefined || use.count < 2 ? 0 : use.count / pairs.members;
  };
  const scored: Scored[] = [];
  for (const [key, candidate] of candidates) {
    const { stems } = candidate;
    let members = 0;
    for (const index of holdingAll(stems, holders)) {
      candidate.support += read[index]!.weight;
      members += 1;
    }
    const use = stems.length === 2 ? pairs?.uses.get(key) : undefined;
    if (members < 2 && read.length > 1 && (use?.count ?? 0) < 2) continue;
    let share = candidate.support / total;
    let leading = candidate.support === 0 ? 0 : candidate.leading / candidate.support;
    if (pairs !== null && stems.length === 1) share = shares.get(stems[0]!) ?? 0;
    if (pairs !== null && stems.length > 1) {
      const known = stems.slice(1).map((stem, index) => pairShare(stems[index]!, stem));
      share = stems.length === 2 ? known[0]! : Math.min(share, ...known);
      if (use !== undefined) leading = use.leading / use.count;
    }
    if (share === 0) continue;
    const tight = candidate.support === 0 ? 0 : candidate.tight / candidate.support;
    let weightOfWords = 0;
    for (const stem of stems) weightOfWords += (shares.get(stem) ?? 0) * inverseFrequencyOf(stem, background);
    const score =
      share ** 0.2 *
      weightOfWords *
      (1 + 0.45 * leading) *
      (0.9 + 0.1 * tight) *
      (LENGTH_FACTORS[kind][stems.length] ?? 0);
    scored.push({ name: surfaceOf(candidate), score, key, phrase: stems.length > 1, share });
  }
  scored.sort((x, y) => y.score - x.score || (x.key < y.key ? -1 : 1));
  // A single word is a name only where no phrase stands for enough members; a phrase should hold the word
  // that tells most about them.
  if (kind === 'topic') {
    const telling = mostTelling(shares, background);
    const rankOf = ({ phrase, share, key }: Scored): number => {
      const holds = key.split(' ').includes(telling);
      if (phrase && share >= LEAST_SHARE_OF_PHRASE) return holds ? 0 : 1;
      if (holds) return phrase ? 3 : 2;
      return phrase ? 4 : 5;
    };
    scored.sort((x, y) => rankOf(x) - rankOf(y));
  }
  const names = scored.map(({ name }) => name).filter((name) => name !== '');
  if (names.length > 0) return names.slice(0, 12);
  const whole = read.map(({ words, text }) => phraseOf(words, text)).filter((name) => name !== '');
  return [...new Set(whole)].sort((x, y) => x.length - y.length || (x < y ? -1 : 1)).slice(0, 12);
}

/** For each stem the samples that hold it, ascending. */
function samplesByStem(samples: readonly (readonly Word[])[]): Map<string, number[]> {
  const holders = new Map<string, number[]>();
  for (const [index, words] of samples.entries()) {
    for (const { stem } of words) {
      const known = holders.get(stem);
      if (known === undefined) holders.set(stem, [index]);
      else if (known[known.length - 1] !== index) known.push(index);
    }
  }
  return holders;
}

/** The samples that hold all of some stems, ascending. */
function holdingAll(
  stems: readonly string[],
  holders: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  let all = holders.get(stems[0] ?? '') ?? [];
  for (const stem of stems.slice(1)) {
    const others = holders.get(stem) ?? [];
    let at = 0;
    all = all.filter((index) => {
      while (at < others.length && others[at]! < index) at += 1;
      return others[at] === index;
    });
  }
  return all;
}

interface Scored {
  readonly name: string;
  readonly score: number;
  readonly key: string;
  readonly phrase: boolean;
  readonly share: number;
}

/** Inverse document frequency, dampened; a document is a group. */
function inverseFrequencyOf(stem: string, background: Background): number {
  return Math.log(1 + background.groups / Math.max(1, background.groupsWith(stem))) ** 0.25;
}

/** The stem that many members hold and few other groups; ties by code point. */
function mostTelling(shares: ReadonlyMap<string, number>, background: Background): string {
  let best = '';
  let most = -1;
  for (const [stem, share] of shares) {
    const weight = share * inverseFrequencyOf(stem, background);
    if (weight < most || (weight === most && stem > best)) continue;
    best = stem;
    most = weight;
  }
  return best;
}

/** A short name for one request: its first five words from the first that tells something. '' when it has no word. */
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
  return finished(
    kept.map((word) => word.text),
    isUnspaced(text),
  );
}

/** A short name for one request as it was made. '' when it has no word. */
export function requestName(text: string): string {
  return phraseOf(coreWords(text), text);
}

/** How good a name of so many content words is: of a topic two or three, of a cluster one or two. */
const LENGTH_FACTORS = { topic: [0, 0.35, 1, 1, 0.7], cluster: [0, 0.85, 1, 0.6, 0.3] } as const;

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
