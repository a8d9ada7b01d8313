import { collect, finished, MOST_WORDS, surfaceOf, type Candidate, type PairUse } from './candidates.ts';
import { coreWords } from '../../language/core-words.ts';
import { isUnspaced, type Word } from '../../language/words.ts';

/** A request of a group, and how much it counts. */
export interface Sample {
  readonly text: string;
  readonly weight: number;
}

/** How common words are in the instance, because a name says what sets a group apart. */
export interface Background {
  /** Groups that hold the stem. */
  readonly groupsWith: (stem: string) => number;
  readonly groups: number;
}

/** How all requests of a group use pairs of words, and how many requests those are. */
interface Pairs {
  readonly uses: ReadonlyMap<string, PairUse>;
  readonly members: number;
}

type Kind = 'topic' | 'cluster';

interface ReadSample extends Sample {
  readonly words: readonly Word[];
}

/** A phrase that fewer requests hold ranks behind the single word that says most. */
const LEAST_SHARE_OF_PHRASE = 0.08;
const MOST_NAMES = 12;

/**
 * Names for a group, best first: phrases of two to five words that its requests share and that set it apart, as good
 * intent labels do. `shares` gives the share of all requests, not only of the samples, that hold a stem. Returns at
 * least one name unless no sample has a word.
 */
export function namesOf(
  samples: readonly Sample[],
  background: Background,
  shares: ReadonlyMap<string, number>,
  kind: Kind = 'topic',
  pairs: Pairs | null = null,
): string[] {
  const read = samples.map((sample) => ({ ...sample, words: coreWords(sample.text) }));
  const scored = scoredCandidates(read, background, shares, kind, pairs);
  scored.sort((x, y) => y.score - x.score || (x.key < y.key ? -1 : 1));
  if (kind === 'topic') {
    const telling = mostTelling(shares, background);
    scored.sort((x, y) => rankOf(x, telling) - rankOf(y, telling));
  }
  const names = scored.map(({ name }) => name).filter((name) => name !== '');
  if (names.length > 0) return names.slice(0, MOST_NAMES);
  const whole = read.map(({ words, text }) => phraseOf(words, text)).filter((name) => name !== '');
  return [...new Set(whole)].sort((x, y) => x.length - y.length || (x < y ? -1 : 1)).slice(0, MOST_NAMES);
}

/** Phrases of enough requests first, then words; each with the most telling word first. Lower ranks are better. */
function rankOf({ phrase, share, key }: Scored, telling: string): number {
  const holds = key.split(' ').includes(telling);
  if (phrase && share >= LEAST_SHARE_OF_PHRASE) return holds ? 0 : 1;
  if (holds) return phrase ? 3 : 2;
  return phrase ? 4 : 5;
}

function scoredCandidates(
  samples: readonly ReadSample[],
  background: Background,
  shares: ReadonlyMap<string, number>,
  kind: Kind,
  pairs: Pairs | null,
): Scored[] {
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const holders = samplesByStem(samples.map(({ words }) => words));
  return [...candidatesOf(samples, pairs)].flatMap(([key, candidate]) => {
    const { stems } = candidate;
    const holding = holdingAll(stems, holders);
    const support = holding.reduce((sum, index) => sum + samples[index]!.weight, 0);
    const use = stems.length === 2 ? pairs?.uses.get(key) : undefined;
    if (holding.length < 2 && samples.length > 1 && (use?.count ?? 0) < 2) return [];
    const share = pairs === null ? support / total : shareOf(stems, support / total, shares, pairs);
    if (share === 0) return [];
    const inSamples = (weight: number): number => (support === 0 ? 0 : weight / support);
    const leading = use === undefined ? inSamples(candidate.leading) : use.leading / use.count;
    let telling = 0;
    for (const stem of stems) telling += (shares.get(stem) ?? 0) * inverseFrequencyOf(stem, background);
    const score =
      share ** 0.2 *
      telling *
      (1 + 0.45 * leading) *
      (0.9 + 0.1 * inSamples(candidate.tight)) *
      (LENGTH_FACTORS[kind][stems.length] ?? 0);
    return [{ name: surfaceOf(candidate), score, key, phrase: stems.length > 1, share }];
  });
}

/** The candidates of the samples. What is known of pairs from all requests replaces what the samples say of them. */
function candidatesOf(samples: readonly ReadSample[], pairs: Pairs | null): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  for (const { words, weight } of samples) collect(words, weight, candidates);
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
  { uses, members }: Pairs,
): number {
  if (stems.length === 1) return shares.get(stems[0]!) ?? 0;
  const pairShares = stems.slice(1).map((stem, index) => {
    const count = uses.get(`${stems[index]!} ${stem}`)?.count ?? 0;
    return count < 2 ? 0 : count / members;
  });
  return stems.length === 2 ? pairShares[0]! : Math.min(shareOfSamples, ...pairShares);
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
