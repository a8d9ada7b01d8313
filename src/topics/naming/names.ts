/**
 * Names for groups of requests, as good intent labels are: phrases of two to five words that the requests share and
 * that set the group apart, in the requests' own words and language. A candidate is scored by the share of requests that
 * hold it, by how much its words set the group apart (inverse document frequency; a document is a topic or waiting
 * group), and by its shape.
 * Covered by test/topics/naming/names.test.ts.
 */
import { coreWords } from '../../text/core-words.ts';
import { isUnspaced } from '../../text/words.ts';
import { composedNames } from './composed-names.ts';
import { withAcronyms, worthOf } from './name-form.ts';
import { MOST_WORDS, nameFrom, type PhraseUse } from './phrases.ts';
import type { Sample } from './sample-words.ts';
import { Truth } from './truth.ts';
import { isVerbForm, namingForm } from './verb-forms.ts';
import type { DocumentFrequencies } from './word-index.ts';
import type { GroupWords } from './wording.ts';

/** What a name of so many content words is worth. */
const LENGTH_FACTORS = [0, 1, 1, 1, 0.8] as const;
/** In a group of this size, a phrase that one request forms is a name if most requests hold its words. */
const FEW_REQUESTS = 24;
const HELD_BY_MOST = 0.6;
const SINGLE_USE_FACTOR = 0.6;
/** What a phrase gains that every request begins with. */
const LEADING_GAIN = 0.1;
/** What a phrase gains that every request uses as a command. */
const ACTION_GAIN = 0.1;
/** What is left of a phrase that goes on with one word ("change shipping | address"), and with many (a title). */
const OPEN_FACTOR = 0.1;
const TITLED_FACTOR = 0.75;
/** A phrase goes on with one word when this share of its uses do. */
const GOES_ON = 0.35;
/** What is left of things of which requests say a word between: "sea cookie". */
const APART_FACTOR = 0.7;
/** What is left of things that a connector joins: one of the two is often by the way. */
const JOINED_FACTOR = 0.75;
/** A name that only those say who speak another language than most counts as true of this much of what it is. */
const FOREIGN = 0.4;
/** What a composed name is worth beside one that requests hold. */
const COMPOSED_FACTOR = 0.97;
/** What is left of a name in words that hardly any request uses for what it means. */
const UNUSUAL_FACTOR = 0.65;
/** What a name is worth whose words all groups share. */
const COMMON_FACTOR = 0.65;
/** What a request counts that names the thing of an action, but no action. */
const UNDECIDED = 0.5;
/** From this share of the requests on a name is true; below, the share counts twice. */
const TRUE_OF_MOST = 0.45;
const SINGLE_WORD = 0.74;
/** A name is true of this share of the requests at least. */
const LEAST_SHARE = 0.04;
/** A longer name goes before one that it holds when it is true of this share of the same requests. */
const NEARLY_ALL = 0.75;
const AS_GOOD = 0.6;
const MOST_NAMES = 12;

export interface ScoredName {
  readonly name: string;
  readonly score: number;
  readonly stems: readonly string[];
  /** The stems, joined with a space. */
  readonly key: string;
  /** Share of the requests that it is true of. */
  readonly share: number;
}

/** Names for a group, best first. At least one, unless no sample has a word. */
export function namesOf(group: GroupWords, frequencies: DocumentFrequencies): string[] {
  return rankedNames(group, frequencies)
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

/** As `namesOf`, all of them and with what is known of each. */
export function rankedNames(group: GroupWords, frequencies: DocumentFrequencies): ScoredName[] {
  const candidates = new Candidates(group, frequencies);
  candidates.addPhrases();
  candidates.addPairs();
  candidates.addWords();
  const scored = candidates.all().sort((x, y) => y.score - x.score || (x.key < y.key ? -1 : 1));
  preferWhole(scored);
  return scored.length > 0 ? scored : firstWords(group.samples);
}

/** "Sea salt cookie" instead of "Sea cookie" goes first, where nearly all that are true of one are true of both. */
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

/** Where requests share no word: each of them, the shortest first. */
function firstWords(samples: readonly Sample[]): ScoredName[] {
  const names = new Set(
    samples.map(({ request }) => requestName(request.text)).filter((name) => name !== ''),
  );
  return [...names]
    .sort((x, y) => x.length - y.length || (x < y ? -1 : 1))
    .map((name) => ({ name, score: 0, stems: [], key: name, share: 0 }));
}

/** Names of one group; of those with the same stems in the same order, the best. */
class Candidates {
  readonly #group: GroupWords;
  readonly #frequencies: DocumentFrequencies;
  readonly #truth: Truth;
  readonly #language: string;
  readonly #isEnglish: boolean;
  readonly #best = new Map<string, ScoredName>();

  constructor(group: GroupWords, frequencies: DocumentFrequencies) {
    this.#group = group;
    this.#frequencies = frequencies;
    this.#truth = new Truth(group);
    this.#language = group.sampleWords.language ?? 'en';
    this.#isEnglish = this.#language === 'en';
  }

  all(): ScoredName[] {
    return [...this.#best.values()];
  }

  /** What requests say in a row. */
  addPhrases(): void {
    const { uses, requests } = this.#group.phrases;
    for (const [key, use] of uses) {
      const stems = key.split(' ');
      const isSingle = use.count < 2 && requests > 1;
      if (isSingle && !(requests <= FEW_REQUESTS && this.#truth.inSamples(stems) >= HELD_BY_MOST)) continue;
      // Full micro-clusters drop rare phrases, and samples say only what is most central: the truth lies between.
      const share = Math.max(use.count / requests, this.#truth.of(stems)) + this.#undecided(use, stems);
      this.#add(surfaceOf(use), stems, share, (isSingle ? SINGLE_USE_FACTOR : 1) * shapeOf(key, use, uses));
    }
  }

  /** Actions with things, where no request need say both in a row. */
  addPairs(): void {
    if (!this.#isEnglish) return;
    for (const { name, stems, pair, isMeant } of composedNames(this.#group.samples)) {
      if (this.#best.has(stems.join(' '))) continue;
      const truth = isMeant ? pair : Math.sqrt(this.#truth.of(stems) * pair);
      this.#add(name, stems, truth + UNDECIDED * this.#truth.undecided(stems), COMPOSED_FACTOR);
    }
  }

  #undecided({ action, count }: PhraseUse, stems: readonly string[]): number {
    return action * 2 < count ? 0 : UNDECIDED * this.#truth.undecided(stems);
  }

  addWords(): void {
    for (const { stem, name, closed } of this.#group.sampleWords.words()) {
      const share = this.#group.shares.get(stem) ?? 0;
      this.#add(name, [stem], share, OPEN_FACTOR + (1 - OPEN_FACTOR) * closed);
    }
  }

  #add(name: string, stems: readonly string[], trueOf: number, shape: number): void {
    if (trueOf < LEAST_SHARE) return;
    const share = this.#truth.isForeign(stems, this.#language) ? FOREIGN * trueOf : trueOf;
    const score =
      share *
      Math.min(1, share / TRUE_OF_MOST) *
      shape *
      this.#worthOf(name, stems) *
      this.#distinctnessOf(stems) *
      (UNUSUAL_FACTOR + (1 - UNUSUAL_FACTOR) * this.#truth.usualness(stems)) *
      (LENGTH_FACTORS[stems.length] ?? 0);
    const key = stems.join(' ');
    if (score <= (this.#best.get(key)?.score ?? 0)) return;
    const written = this.#isEnglish ? withAcronyms(name) : name;
    this.#best.set(key, { name: written, score, stems, key, share });
  }

  /** By the rarest of some stems among the groups: 1 where no other group holds it. */
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

/** How well a phrase is cut, by the ways in which requests use it. */
function shapeOf(key: string, use: PhraseUse, uses: ReadonlyMap<string, PhraseUse>): number {
  const { count, votes, leading, closed, action } = use;
  const isApart = votes <= count && action * 2 < count && count > 1;
  return (
    (isApart ? APART_FACTOR : 1) *
    (1 + (LEADING_GAIN * leading) / count) *
    (1 + (ACTION_GAIN * action) / count) *
    (closed / count + (1 - closed / count) * openFactorOf(key, use, uses)) *
    (isJoined(use, key.split(' ')) ? 1 - (1 - JOINED_FACTOR) * (1 - action / count) : 1)
  );
}

function openFactorOf(key: string, { count }: PhraseUse, uses: ReadonlyMap<string, PhraseUse>): number {
  let most = 0;
  for (const [longer, use] of uses) if (longer.startsWith(`${key} `)) most = Math.max(most, use.count);
  return most > 1 && most >= GOES_ON * count ? OPEN_FACTOR : TITLED_FACTOR;
}

/** Whether more than content words stand in a phrase: "fee on statement". */
function isJoined({ surface }: PhraseUse, stems: readonly string[]): boolean {
  return surface.split(' ').length > stems.length;
}

/** As most requests write it; what many of them use as a command begins with the base of its verb. */
function surfaceOf({ surface, action, count }: PhraseUse): string {
  const [first = '', ...rest] = surface.split(' ');
  const lower = first.toLowerCase();
  if (action * 2 < count || action === 0 || !isVerbForm(lower)) return surface;
  return nameFrom([namingForm(lower), ...rest], false);
}

/** Inverse document frequency, dampened. */
function inverseFrequency(groups: number, groupsWith: number): number {
  return Math.log(1 + groups / Math.max(1, groupsWith)) ** 0.25;
}

/** A short name for one request: its first five words from the first content word on. '' when it has no word. */
export function requestName(text: string): string {
  const words = coreWords(text);
  const kept: (typeof words)[number][] = [];
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
