/**
 * Scores how well each phrase names a group: by the share of requests that it is true of (coverage), by how well its
 * words set the group apart (inverse document frequency; a document is a topic or waiting group), and by its shape.
 *
 * Test: test/reader/topics/naming/names.test.ts.
 */
import { composedNames } from './composed-names.ts';
import { worthOf } from './name-form.ts';
import { nameFrom, type PhraseUse } from './phrases.ts';
import { Coverage } from './coverage.ts';
import { isVerbForm, namingForm } from './verb-forms.ts';
import type { GroupWords } from './wording.ts';

/** Number of groups in which a stem occurs, and of all groups of the instance. */
export interface DocumentFrequencies {
  readonly groupsWith: (stem: string) => number;
  readonly groups: number;
}

/** Factor by number of content words. */
const LENGTH_FACTORS = [0, 1, 1, 1, 0.8] as const;
/**
 * In a group of up to this many requests, a phrase that one request uses may be a name if this share of the requests
 * hold its words; its score gets the factor.
 */
const FEW_REQUESTS = 24;
const HELD_BY_MOST = 0.6;
const SINGLE_USE_FACTOR = 0.6;
/** Gain of a phrase with which every request begins. */
const LEADING_GAIN = 0.1;
/** Gain of a phrase that every request uses as a command. */
const ACTION_GAIN = 0.1;
/**
 * Factor for a phrase that continues with one word ("change shipping | address"), and with many different ones (a
 * title).
 */
const OPEN_FACTOR = 0.1;
const TITLED_FACTOR = 0.75;
/** A phrase continues with one word if this share of its uses do. */
const GOES_ON = 0.35;
/** Factor on the coverage of a name that only requests in a minority language use. */
const FOREIGN = 0.4;
/** Factor for a composed name, beside one that requests contain. */
const COMPOSED_FACTOR = 0.97;
/** Factor at worst for words that hardly any request uses for their meaning. */
const UNUSUAL_FACTOR = 0.65;
/** Factor for words that occur in all groups. */
const COMMON_FACTOR = 0.65;
/** Weight of a request that names the thing of an action but no action. */
const UNDECIDED = 0.5;
/** Coverage from which a name counts as true; below it, the share counts twice. */
const TRUE_OF_MOST = 0.45;
const SINGLE_WORD = 0.74;
/** Least coverage of a name. */
const LEAST_SHARE = 0.04;
/** Loss of a single word that can be a verb or participle. */
const VERBAL_LOSS = 0.7;

export interface ScoredName {
  readonly name: string;
  readonly score: number;
  readonly stems: readonly string[];
  /** The stems, joined with a space. */
  readonly key: string;
  /** Coverage: share of the requests that it is true of. */
  readonly share: number;
}

/** Returns the phrases and words that could name a group, unordered. */
export function scoredNames(group: GroupWords, frequencies: DocumentFrequencies): ScoredName[] {
  const candidates = new Candidates(group, frequencies);
  candidates.addPhrases();
  candidates.addPairs();
  candidates.addWords();
  return candidates.all();
}

/** The candidates of one group: the best of each sequence of stems. */
class Candidates {
  readonly #group: GroupWords;
  readonly #frequencies: DocumentFrequencies;
  readonly #coverage: Coverage;
  readonly #language: string;
  readonly #isEnglish: boolean;
  readonly #best = new Map<string, ScoredName>();

  constructor(group: GroupWords, frequencies: DocumentFrequencies) {
    this.#group = group;
    this.#frequencies = frequencies;
    this.#coverage = new Coverage(group, group.phrases.requests);
    this.#language = group.sampleWords.language ?? 'en';
    this.#isEnglish = this.#language === 'en';
  }

  all(): ScoredName[] {
    return [...this.#best.values()];
  }

  /** Adds phrases that requests contain. */
  addPhrases(): void {
    const { uses, requests } = this.#group.phrases;
    for (const [key, use] of uses) {
      const stems = key.split(' ');
      const isSingle = use.count < 2 && requests > 1;
      if (isSingle && !(requests <= FEW_REQUESTS && this.#coverage.inSamples(stems) >= HELD_BY_MOST))
        continue;
      // Full micro-clusters drop rare phrases, and samples are only the most central requests: the coverage lies
      // between both estimates.
      const share = Math.max(use.count / requests, this.#coverage.of(stems)) + this.#undecided(use, stems);
      this.#add(surfaceOf(use), stems, share, (isSingle ? SINGLE_USE_FACTOR : 1) * shapeOf(key, use, uses));
    }
  }

  /** Adds actions with things that no request need contain in a row. */
  addPairs(): void {
    if (!this.#isEnglish) return;
    for (const { name, stems, pair, isMeant } of composedNames(this.#group.samples)) {
      if (this.#best.has(stems.join(' '))) continue;
      const coverage = isMeant ? pair : Math.sqrt(this.#coverage.of(stems) * pair);
      this.#add(name, stems, coverage + UNDECIDED * this.#coverage.undecided(stems), COMPOSED_FACTOR);
    }
  }

  #undecided({ action, count }: PhraseUse, stems: readonly string[]): number {
    return action * 2 < count ? 0 : UNDECIDED * this.#coverage.undecided(stems);
  }

  addWords(): void {
    for (const { stem, name, closed, verbal } of this.#group.sampleWords.words()) {
      const share = this.#group.shares.get(stem) ?? 0;
      const shape =
        (OPEN_FACTOR + (1 - OPEN_FACTOR) * closed) * (this.#isEnglish ? 1 : 1 - VERBAL_LOSS * verbal);
      if (share > 0) this.#add(name, [stem], share, shape);
    }
  }

  #add(name: string, stems: readonly string[], trueOf: number, shape: number): void {
    if (trueOf < LEAST_SHARE) return;
    const share = this.#coverage.isForeign(stems, this.#language) ? FOREIGN * trueOf : trueOf;
    const score =
      share *
      Math.min(1, share / TRUE_OF_MOST) *
      shape *
      this.#worthOf(name, stems) *
      this.#distinctnessOf(stems) *
      (UNUSUAL_FACTOR + (1 - UNUSUAL_FACTOR) * this.#coverage.usualness(stems)) *
      (LENGTH_FACTORS[stems.length] ?? 0);
    const key = stems.join(' ');
    if (score <= (this.#best.get(key)?.score ?? 0)) return;
    this.#best.set(key, { name, score, stems, key, share });
  }

  /** Rarity of the rarest of some stems among the groups, up to 1 if no other group holds it. */
  #distinctnessOf(stems: readonly string[]): number {
    const { groups, groupsWith } = this.#frequencies;
    if (groups === 0) return 1;
    const fewest = Math.min(...stems.map(groupsWith));
    const share = inverseFrequency(groups, fewest) / inverseFrequency(groups, 1);
    return COMMON_FACTOR + (1 - COMMON_FACTOR) * Math.min(1, share);
  }

  #worthOf(name: string, stems: readonly string[]): number {
    if (this.#isEnglish) return worthOf(name, (stem) => this.#group.sampleWords.isNoun(stem));
    return stems.length === 1 ? SINGLE_WORD : 1;
  }
}

/** Score of a phrase's cut, by the ways in which requests use it. */
function shapeOf(key: string, use: PhraseUse, uses: ReadonlyMap<string, PhraseUse>): number {
  const { count, leading, closed, action } = use;
  return (
    (1 + (LEADING_GAIN * leading) / count) *
    (1 + (ACTION_GAIN * action) / count) *
    (closed / count + (1 - closed / count) * openFactorOf(key, use, uses))
  );
}

function openFactorOf(key: string, { count }: PhraseUse, uses: ReadonlyMap<string, PhraseUse>): number {
  let most = 0;
  const start = `${key} `;
  for (const [longer, use] of uses) if (longer.startsWith(start)) most = Math.max(most, use.count);
  return most > 1 && most >= GOES_ON * count ? OPEN_FACTOR : TITLED_FACTOR;
}

/** The most common form of a phrase; a frequent command begins with the base form of its verb. */
function surfaceOf({ surface, action, count }: PhraseUse): string {
  const [first = '', ...rest] = surface.split(' ');
  const lower = first.toLowerCase();
  const isProgressive = lower.endsWith('ing');
  if (action * (isProgressive ? 5 : 2) < count || action === 0 || !isVerbForm(lower)) return surface;
  return nameFrom([namingForm(lower), ...rest], false);
}

/** Inverse document frequency, dampened. */
function inverseFrequency(groups: number, groupsWith: number): number {
  return Math.log(1 + groups / Math.max(1, groupsWith)) ** 0.25;
}
