/**
 * How well each candidate names a group: by the share of requests that hold it, by how much its words set the group
 * apart (inverse document frequency; a document is a topic or waiting group), and by its shape.
 * Covered by test/topics/naming/names.test.ts.
 */
import { collectCandidates, surfaceOf, type Candidate } from './candidates.ts';
import type { GroupWords } from './names.ts';
import type { Word } from '../../language/words.ts';
import type { PairUse } from './word-pairs.ts';

/** In how many groups of the instance a stem occurs. */
export interface DocumentFrequencies {
  readonly groupsWith: (stem: string) => number;
  readonly groups: number;
}

/** A topic is best named by two or three content words, a topic cluster by one or two. */
export type NameKind = 'topic' | 'cluster';
/** By the number of content words. */
const LENGTH_FACTORS = { topic: [0, 0.35, 1, 1, 0.7], cluster: [0, 0.85, 1, 0.6, 0.3] } as const;

/** How all requests of a group use pairs of words, and how many requests those are. */
export interface GroupPairs {
  readonly uses: ReadonlyMap<string, PairUse>;
  readonly requests: number;
}

/** A request of a group, its words and how much it counts. */
export interface ReadSample {
  readonly text: string;
  readonly weight: number;
  readonly words: readonly Word[];
}

export interface ScoredName {
  readonly name: string;
  readonly score: number;
  readonly stems: readonly string[];
  /** The stems, joined with a space. */
  readonly key: string;
  /** Share of the requests that hold it. */
  readonly share: number;
}

/** The candidates that at least two requests hold, in no order. */
export function scoredNames(
  samples: readonly ReadSample[],
  { shares, pairs }: Omit<GroupWords, 'samples'>,
  frequencies: DocumentFrequencies,
  kind: NameKind,
): ScoredName[] {
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const holders = samplesByStem(samples);
  return [...candidatesOf(samples, pairs)].flatMap(([key, candidate]) => {
    const { stems } = candidate;
    const holding = samplesWithAll(stems, holders);
    const support = holding.reduce((sum, index) => sum + samples[index]!.weight, 0);
    const use = stems.length === 2 ? pairs?.uses.get(key) : undefined;
    if (holding.length < 2 && samples.length > 1 && (use?.count ?? 0) < 2) return [];
    const share = pairs === undefined ? support / total : shareOf(stems, support / total, shares, pairs);
    if (share === 0) return [];
    const inSamples = (weight: number): number => (support === 0 ? 0 : weight / support);
    const leading = use === undefined ? inSamples(candidate.leading) : use.leading / use.count;
    let distinctness = 0;
    for (const stem of stems) distinctness += (shares.get(stem) ?? 0) * inverseFrequencyOf(stem, frequencies);
    const score =
      share ** 0.2 *
      distinctness *
      (1 + 0.45 * leading) *
      (0.9 + 0.1 * inSamples(candidate.tight)) *
      (LENGTH_FACTORS[kind][stems.length] ?? 0);
    return [{ name: surfaceOf(candidate), score, stems, key, share }];
  });
}

/** The stem that many requests of the group and few other groups hold; ties go to the first by code point. */
export function mostDistinctStem(
  shares: ReadonlyMap<string, number>,
  frequencies: DocumentFrequencies,
): string {
  let best = '';
  let most = -1;
  for (const [stem, share] of shares) {
    const weight = share * inverseFrequencyOf(stem, frequencies);
    if (weight < most || (weight === most && stem > best)) continue;
    best = stem;
    most = weight;
  }
  return best;
}

/** Inverse document frequency, dampened. */
function inverseFrequencyOf(stem: string, { groups, groupsWith }: DocumentFrequencies): number {
  return Math.log(1 + groups / Math.max(1, groupsWith(stem))) ** 0.25;
}

/** The candidates of the samples. What is known of pairs from all requests replaces what the samples say of them. */
function candidatesOf(samples: readonly ReadSample[], pairs: GroupPairs | undefined): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  for (const { words, weight } of samples) collectCandidates(words, weight, candidates);
  for (const [key, { surface }] of pairs?.uses ?? []) {
    const tight = candidates.get(key)?.tight ?? 0;
    candidates.set(key, { stems: key.split(' '), leading: 0, tight, surfaces: new Map([[surface, 1]]) });
  }
  return candidates;
}

/** Share of all requests that hold these stems, as far as the counts of words and pairs tell. */
function shareOf(
  stems: readonly string[],
  shareOfSamples: number,
  shares: ReadonlyMap<string, number>,
  { uses, requests }: GroupPairs,
): number {
  if (stems.length === 1) return shares.get(stems[0]!) ?? 0;
  const pairShares = stems.slice(1).map((stem, index) => {
    const count = uses.get(`${stems[index]!} ${stem}`)?.count ?? 0;
    return count < 2 ? 0 : count / requests;
  });
  return stems.length === 2 ? pairShares[0]! : Math.min(shareOfSamples, ...pairShares);
}

/** For each stem the samples that hold it, ascending. */
function samplesByStem(samples: readonly ReadSample[]): Map<string, number[]> {
  const holders = new Map<string, number[]>();
  for (const [index, { words }] of samples.entries()) {
    for (const { stem } of words) {
      const known = holders.get(stem);
      if (known === undefined) holders.set(stem, [index]);
      else if (known.at(-1) !== index) known.push(index);
    }
  }
  return holders;
}

/** The samples that hold all of some stems, ascending. */
function samplesWithAll(
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
