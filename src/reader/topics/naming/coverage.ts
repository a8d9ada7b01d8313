/**
 * Estimates the coverage of a name: the share of requests that it is true of. A request need not contain the name's
 * words: "modify my address" is about changing an address, and a parcel is a delivery. The samples' actions and things
 * show which words mean the same.
 *
 * Test: test/reader/topics/naming/coverage.test.ts.
 */
import type { ReadRequest } from '../read-request.ts';
import type { Sample } from './sample-words.ts';
import type { GroupWords } from './wording.ts';

/** An action (`@cancel`) or thing (`#order`). */
type Meaning = `@${string}` | `#${string}`;

/** A word means an action or thing if this share of its samples use it so. */
const MEANS_IT = 0.5;

/** Requests without an action are taken for one that this share of the others, and of all, name. */
const CLEAR = 0.6;
const LEAST_CLEAR = 0.25;

type Facts = Pick<GroupWords, 'samples' | 'sampleWords' | 'shares' | 'keys'>;

/** Coverage of words, in the samples and in all requests. */
export class Coverage {
  readonly #group: Facts;
  /** Number of all requests. */
  readonly #requests: number;
  /** Stem and meaning → 1 for each sample that holds one of them. */
  readonly #holders = new Map<string, Uint8Array>();
  readonly #meanings: ReadonlyMap<string, Meaning>;
  /** Meaning → the share of its most frequent stem. */
  readonly #usual = new Map<Meaning, number>();
  readonly #total: number;
  /** True if the samples are in several languages; null before it is computed. */
  #isMixed: boolean | null = null;

  constructor(group: Facts, requests: number) {
    const { samples, shares } = group;
    this.#group = group;
    this.#requests = requests;
    this.#total = samples.reduce((sum, { weight }) => sum + weight, 0);
    this.#meanings = new Map([
      ...meaningsOf(group, headStemsOf, ({ parts: { thing } }) =>
        thing[0] === undefined ? null : `#${thing[0]}`,
      ),
      ...meaningsOf(group, verbStemsOf, ({ parts: { action } }) => (action === null ? null : `@${action}`)),
    ]);
    for (const [stem, meaning] of this.#meanings)
      this.#usual.set(meaning, Math.max(this.#usual.get(meaning) ?? 0, shares.get(stem) ?? 0));
  }

  /** Share of the samples, by weight, that all of the stems are true of. */
  inSamples(stems: readonly string[]): number {
    let held = 0;
    for (const { weight } of this.#holding(stems, this.#meant(stems))) held += weight;
    return this.#total === 0 ? 0 : held / this.#total;
  }

  /**
   * Share of the samples that name the thing but no action: they probably mean the action that nearly all others name.
   * The first stem is the action's. 0 if no action is clear.
   */
  undecided([verb, ...thing]: readonly string[]): number {
    const action = this.#meanings.get(verb!);
    if (action === undefined || !action.startsWith('@') || thing.length === 0) return 0;
    let [same, decided, open] = [0, 0, 0];
    for (const { request, weight } of this.#holding(thing, this.#meant(thing))) {
      const own = request.parts.action;
      if (own === null) open += weight;
      else decided += weight;
      if (own !== null && action === `@${own}`) same += weight;
    }
    const isClear = same >= CLEAR * decided && same >= LEAST_CLEAR * this.#total;
    return isClear ? open / this.#total : 0;
  }

  /** Frequency of the words relative to the most frequent ones of the same meaning, 0 to 1. */
  usualness(stems: readonly string[]): number {
    const meanings = this.#meant(stems);
    return stems.reduce((product, stem, at) => {
      const meaning = meanings[at];
      const most = meaning == null ? 0 : (this.#usual.get(meaning) ?? 0);
      return most === 0 ? product : product * Math.min(1, (this.#group.shares.get(stem) ?? 0) / most);
    }, 1);
  }

  /** True if only requests in a minority language hold all of the stems. */
  isForeign(stems: readonly string[], language: string): boolean {
    this.#isMixed ??= this.#group.samples.some(({ request }) => isOther(request, language));
    if (!this.#isMixed) return false;
    const holding = this.#holding(
      stems,
      stems.map(() => null),
    );
    return (
      holding.some(({ request }) => isOther(request, language)) &&
      !holding.some(({ request }) => request.parts.language === language)
    );
  }

  /**
   * Coverage in all requests: the mean of two bounds, since samples are only the most central requests and shares of
   * words know no phrases.
   */
  of(stems: readonly string[]): number {
    if (stems.length === 0) return 0;
    const meanings = this.#meant(stems);
    const bound = Math.min(...stems.map((stem, at) => this.#ofAll(stem, meanings[at]!)));
    return Math.sqrt(this.inSamples(stems) * bound);
  }

  /** Share of all requests that one stem is true of. */
  #ofAll(stem: string, meaning: Meaning | null): number {
    const { shares, keys } = this.#group;
    const share = shares.get(stem) ?? 0;
    if (keys === undefined || meaning === null) return Math.min(1, share);
    const counts = meaning.startsWith('@') ? keys.actions : keys.things;
    return Math.min(1, Math.max(share, (counts.get(meaning.slice(1)) ?? 0) / this.#requests));
  }

  /** The meaning of each stem. If two stems share one, only the more frequent keeps it. */
  #meant(stems: readonly string[]): (Meaning | null)[] {
    const meanings = stems.map((stem) => this.#meanings.get(stem) ?? null);
    return meanings.map((meaning, at) => {
      if (meaning === null) return null;
      const share = this.#group.shares.get(stems[at]!) ?? 0;
      const isRival = meanings.some((other, place) => {
        if (place === at || other !== meaning) return false;
        const rival = this.#group.shares.get(stems[place]!) ?? 0;
        return rival > share || (rival === share && place < at);
      });
      return isRival ? null : meaning;
    });
  }

  #holdersOf(stem: string, meaning: Meaning | null): Readonly<Uint8Array> {
    const { samples, sampleWords } = this.#group;
    const saying = sampleWords.holdersOf(stem);
    if (meaning === null && saying !== null) return saying;
    const key = `${stem} ${meaning ?? ''}`;
    let holders = this.#holders.get(key);
    if (holders === undefined) {
      holders = saying === null ? new Uint8Array(samples.length) : Uint8Array.from(saying);
      if (meaning !== null)
        for (let place = 0; place < samples.length; place += 1)
          if (isMeant(samples[place]!.request, meaning)) holders[place] = 1;
      this.#holders.set(key, holders);
    }
    return holders;
  }

  /** The samples that all of the stems are true of. `meant`: the meaning of each. */
  #holding(stems: readonly string[], meant: readonly (Meaning | null)[]): Sample[] {
    const sets = stems.map((stem, at) => this.#holdersOf(stem, meant[at]!));
    const { samples } = this.#group;
    const holding: Sample[] = [];
    for (let place = 0; place < samples.length; place += 1)
      if (sets.every((set) => set[place] === 1)) holding.push(samples[place]!);
    return holding;
  }
}

function isOther({ parts }: ReadRequest, language: string): boolean {
  return parts.language !== null && parts.language !== language;
}

function isMeant({ parts: { action, thing } }: ReadRequest, meaning: Meaning): boolean {
  return meaning === `@${action ?? ''}` || meaning === `#${thing[0] ?? ''}`;
}

/** Stems of the words for a request's action. */
function verbStemsOf({ verbStems, tokens }: ReadRequest): string[] {
  return verbStems.filter((stem) => tokens.stems.has(stem));
}

/** Stem of the last word of the thing; the words before describe it. */
function headStemsOf({ nounStems, tokens }: ReadRequest): string[] {
  const last = nounStems.at(-1);
  return last !== undefined && tokens.stems.has(last) ? [last] : [];
}

/** The meaning of each stem in most of its samples. */
function meaningsOf(
  { samples, sampleWords }: Facts,
  stemsOf: (request: ReadRequest) => readonly string[],
  meaningOf: (request: ReadRequest) => Meaning | null,
): Map<string, Meaning> {
  const uses = new Map<string, Map<Meaning, number>>();
  for (const { request, weight } of samples) {
    const meaning = meaningOf(request);
    if (meaning === null) continue;
    for (const stem of stemsOf(request)) {
      const counts = uses.get(stem) ?? new Map<Meaning, number>();
      uses.set(stem, counts);
      counts.set(meaning, (counts.get(meaning) ?? 0) + weight);
    }
  }
  const meanings = new Map<string, Meaning>();
  for (const [stem, counts] of uses) {
    const [best] = [...counts].sort(([x, a], [y, b]) => b - a || (x < y ? -1 : 1));
    const [meaning, weight] = best!;
    const holders = sampleWords.holdersOf(stem);
    let holding = 0;
    for (let place = 0; place < samples.length; place += 1)
      if (holders?.[place] === 1) holding += samples[place]!.weight;
    if (weight >= MEANS_IT * holding) meanings.set(stem, meaning);
  }
  return meanings;
}
