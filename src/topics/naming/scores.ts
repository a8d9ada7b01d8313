/**
 * How well each phrase names a group: by the share of requests that hold it, by how much its words set the group apart
 * (inverse document frequency; a document is a topic or waiting group), and by its shape.
 * Covered by test/topics/naming/names.test.ts.
 */
import { LEXICON } from '../../language/lexicon.ts';
import { combinedUse, phraseUsesOf, type PhraseUse } from './phrase-uses.ts';
import { nameFrom } from './phrases.ts';
import { tokensOf, type Tokens } from './tokens.ts';
import { isVerbForm, namingForm } from './verb-forms.ts';
import type { GroupWords, Sample } from './names.ts';

/** In how many groups of the instance a stem occurs. */
export interface DocumentFrequencies {
  readonly groupsWith: (stem: string) => number;
  readonly groups: number;
}

/** A topic is best named by two or three content words, a topic cluster by one or two. */
export type NameKind = 'topic' | 'cluster';
/** By the number of content words. */
const LENGTH_FACTORS = { topic: [0, 0.5, 1, 0.9, 0.6], cluster: [0, 0.85, 1, 0.6, 0.3] } as const;
/** In a group of this size, a phrase that one request forms is a name if most requests hold its words. */
const FEW_REQUESTS = 24;
const HELD_BY_MOST = 0.6;
const SINGLE_USE_FACTOR = 0.6;
/** How much the share of requests that hold all words of a phrase counts: as an exponent. */
const SHARE_EXPONENT = 0.5;
/** What a phrase gains that every request begins with. */
const LEADING_GAIN = 0.35;
/** What a phrase gains that every request uses as a command. */
const ACTION_GAIN = 0.25;
/** What is left of a phrase that no request ends with its last word. */
const OPEN_FACTOR = 0.1;
/** What a single word loses that can be a verb or participle. */
const VERBAL_LOSS = 0.7;
const PARTICLES: ReadonlySet<string> = new Set(LEXICON.particles.all);
const PARTICIPLE = /^[a-z]+(?:ed|ing)$/;
/** What is left of things that a connector joins: one of the two is often by the way. */
const JOINED_FACTOR = 0.75;
/** What the count of a phrase is worth whose words are only seen apart. */
const APART_FACTOR = 0.9;

/** How all requests of a group use phrases, and how many requests those are. */
export interface GroupPhrases {
  readonly uses: ReadonlyMap<string, PhraseUse>;
  readonly requests: number;
}

/** A request of a group, its words and how much it counts. */
export interface ReadSample {
  readonly text: string;
  readonly weight: number;
  readonly read: Tokens;
}

export interface ScoredName {
  readonly name: string;
  readonly score: number;
  readonly stems: readonly string[];
  /** The stems, joined with a space. */
  readonly key: string;
  /** Share of the requests that hold its words. */
  readonly share: number;
}

export function readSample({ text, weight }: Sample): ReadSample {
  return { text, weight, read: tokensOf(text) };
}

/** The phrases and words that could name a group, in no order. */
export function scoredNames(
  samples: readonly ReadSample[],
  { shares, phrases }: Omit<GroupWords, 'samples'>,
  frequencies: DocumentFrequencies,
  kind: NameKind,
): ScoredName[] {
  const held = new HeldShares(samples);
  const { uses, requests } = phrases ?? usesInSamples(samples);
  const weightOf = (stem: string): number => (shares.get(stem) ?? 0) * inverseFrequencyOf(stem, frequencies);
  const scored: ScoredName[] = [];
  for (const [key, use] of uses) {
    const stems = key.split(' ');
    if (use.count < 2 && requests > 1 && !(requests <= FEW_REQUESTS && held.of(stems) >= HELD_BY_MOST))
      continue;
    const counted = use.count / requests;
    // Full micro-clusters drop rare phrases, and samples say only what is most central: the truth lies between.
    const share = Math.sqrt(counted * Math.max(counted, APART_FACTOR * held.of(stems)));
    const shape =
      (use.count < 2 && requests > 1 ? SINGLE_USE_FACTOR : 1) *
      (1 + (LEADING_GAIN * use.leading) / use.count) *
      (1 + (ACTION_GAIN * use.action) / use.count) *
      (OPEN_FACTOR + ((1 - OPEN_FACTOR) * use.closed) / use.count) *
      (isJoined(use, stems) ? 1 - (1 - JOINED_FACTOR) * (1 - use.action / use.count) : 1);
    const distinctness = stems.reduce((sum, stem) => sum + weightOf(stem), 0);
    const score = share ** SHARE_EXPONENT * distinctness * shape * (LENGTH_FACTORS[kind][stems.length] ?? 0);
    scored.push({ name: surfaceOf(use), score, stems, key, share });
  }
  for (const [stem, { name, closed, verbal }] of singleWords(samples)) {
    const share = shares.get(stem) ?? 0;
    if (share === 0) continue;
    const shape = (OPEN_FACTOR + (1 - OPEN_FACTOR) * closed) * (1 - VERBAL_LOSS * verbal);
    const score = share ** SHARE_EXPONENT * weightOf(stem) * LENGTH_FACTORS[kind][1] * shape;
    scored.push({ name, score, stems: [stem], key: stem, share });
  }
  return scored;
}

/** Whether more than content words stand in a phrase: "fee on statement". */
function isJoined({ surface }: PhraseUse, stems: readonly string[]): boolean {
  return surface.split(' ').length > stems.length;
}

/** As most requests write it; what many of them use as a command begins with the base of its verb. */
function surfaceOf({ surface, action, count }: PhraseUse): string {
  const [first = '', ...rest] = surface.split(' ');
  const lower = first.toLowerCase();
  const isProgressive = lower.endsWith('ing');
  if (action * (isProgressive ? 5 : 2) < count || action === 0 || !isVerbForm(lower)) return surface;
  return nameFrom([namingForm(lower), ...rest], false);
}

/**
 * The stem of these names that many requests of the group and few other groups hold; of equal ones the first by
 * code point.
 */
export function mostDistinctStem(
  names: readonly ScoredName[],
  shares: ReadonlyMap<string, number>,
  frequencies: DocumentFrequencies,
): string {
  let best = '';
  let most = -1;
  for (const stem of new Set(names.flatMap(({ stems }) => stems))) {
    const weight = (shares.get(stem) ?? 0) * inverseFrequencyOf(stem, frequencies);
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

/** What the samples alone say of phrases. */
function usesInSamples(samples: readonly ReadSample[]): GroupPhrases {
  const uses = new Map<string, PhraseUse>();
  const inOrder = samples.toSorted((x, y) => (x.text < y.text ? -1 : 1));
  for (const { read } of inOrder) {
    for (const [key, use] of phraseUsesOf(read)) {
      const known = uses.get(key);
      uses.set(key, known === undefined ? use : combinedUse(known, use));
    }
  }
  return { uses, requests: samples.length };
}

interface SingleWord {
  readonly name: string;
  /** Share of its uses that end a thing, as a noun does and an adjective before it does not. */
  readonly closed: number;
  /** Share of its uses as a verb or participle: alone, those name nothing. */
  readonly verbal: number;
}

/** Each stem of the samples as most of them write it; of equal forms the shorter, then the first by code point. */
function singleWords(samples: readonly ReadSample[]): Map<string, SingleWord> {
  const known = new Map<
    string,
    { uses: number; closed: number; verbal: number; forms: Map<string, number> }
  >();
  for (const { read, weight } of samples) {
    for (const [place, { part, stem, shown, verb }] of read.tokens.entries()) {
      if (part !== 'content' || PARTICLES.has(shown)) continue;
      const word = known.get(stem) ?? { uses: 0, closed: 0, verbal: 0, forms: new Map<string, number>() };
      known.set(stem, word);
      word.uses += weight;
      if (verb || isVerbForm(shown.toLowerCase()) || PARTICIPLE.test(shown)) word.verbal += weight;
      const next = read.tokens[place + 1];
      if (next === undefined || next.part !== 'content' || next.afterBreak) word.closed += weight;
      word.forms.set(shown, (word.forms.get(shown) ?? 0) + weight);
    }
  }
  return new Map(
    [...known].map(([stem, { uses, closed, verbal, forms }]) => {
      const [best] = [...forms].sort(
        ([x, a], [y, b]) => b - a || x.length - y.length || (x < y ? -1 : 1),
      )[0]!;
      return [stem, { name: nameFrom([best], true), closed: closed / uses, verbal: verbal / uses }];
    }),
  );
}

/** Which share of the samples, by weight, holds all of some stems, wherever they stand. */
class HeldShares {
  readonly #samples: readonly ReadSample[];
  readonly #holders = new Map<string, number[]>();
  readonly #total: number;

  constructor(samples: readonly ReadSample[]) {
    this.#samples = samples;
    this.#total = samples.reduce((sum, { weight }) => sum + weight, 0);
    for (const [index, { read }] of samples.entries()) {
      for (const stem of read.stems) {
        const known = this.#holders.get(stem);
        if (known === undefined) this.#holders.set(stem, [index]);
        else known.push(index);
      }
    }
  }

  of(stems: readonly string[]): number {
    const holders = stems.map((stem) => this.#holders.get(stem) ?? []);
    const fewest = holders.reduce((best, own) => (own.length < best.length ? own : best));
    const holding = fewest.filter((index) =>
      stems.every((stem) => this.#samples[index]!.read.stems.has(stem)),
    );
    return this.#total === 0
      ? 0
      : holding.reduce((sum, index) => sum + this.#samples[index]!.weight, 0) / this.#total;
  }
}
