/**
 * Of how many requests a name is true. A request need not hold a name's own words: "modify my address" is about
 * changing an address, and a parcel is a delivery. Which words mean the same is read from the samples, by their
 * actions and things.
 * Covered by test/topics/naming/truth.test.ts.
 */
import { LRUCache } from 'lru-cache';
import { requestParts, type RequestParts } from '../../text/request-parts.ts';
import { wordsOf } from '../../text/words.ts';
import type { RequestKeys } from '../request-keys.ts';
import { tokensOf, type Tokens } from './tokens.ts';
import { verbStemOf } from './verb-forms.ts';

/** A request of a group, its words, its meaning and how much it counts. */
export interface ReadSample {
  readonly text: string;
  readonly weight: number;
  readonly read: Tokens;
  readonly parts: RequestParts;
}

/** How often the requests of a group name actions and things; `requests`: how many they are. */
export interface GroupKeys {
  readonly keys: Pick<RequestKeys, 'actions' | 'things'>;
  readonly requests: number;
}

/** An action (`@cancel`) or thing (`#order`). */
type Meaning = `@${string}` | `#${string}`;

/** A word stands for an action or thing when this share of its samples use it so. */
const MEANS_IT = 0.5;

/** An action stands for those who name none when this share of the others, and of all, name it. */
const CLEAR = 0.6;
const LEAST_CLEAR = 0.25;

export type Reading = Pick<ReadSample, 'read' | 'parts'>;

/** By text: samples are read again whenever their topic is named. */
const READINGS = new LRUCache<string, Reading>({ max: 4096 });

/** Keeps what was read of a request that becomes a sample, for when its topic is named. */
export function keepReading(text: string, reading: Reading): void {
  READINGS.set(text, reading);
}

export function readSample({ text, weight }: { readonly text: string; readonly weight: number }): ReadSample {
  return { text, weight, ...readingOf(text) };
}

function readingOf(text: string): Reading {
  const reading = READINGS.get(text) ?? newReadingOf(text);
  READINGS.set(text, reading);
  return reading;
}

function newReadingOf(text: string): Reading {
  const parts = requestParts(text);
  return { parts, read: tokensOf(text, parts) };
}

/** The stems of the words that say the action of a request. */
function verbStemsOf({ parts, read }: ReadSample): string[] {
  return parts.verb === null ? [] : stemsIn(parts.verb).filter((stem) => read.stems.has(stem));
}

/** The stem of the last word of the thing: what stands before it describes it. */
function headStemsOf({ parts, read }: ReadSample): string[] {
  const last = stemsIn(parts.noun).at(-1);
  return last !== undefined && read.stems.has(last) ? [last] : [];
}

export function stemsIn(text: string): string[] {
  return wordsOf(text).map(({ text: word, stem }) => verbStemOf(word.toLowerCase()) ?? stem);
}

/** The share of the samples, and of all requests, that words are true of. */
export class Truth {
  readonly #samples: readonly ReadSample[];
  readonly #shares: ReadonlyMap<string, number>;
  readonly #keys: GroupKeys | undefined;
  /** Stem and meaning → the samples that hold one of them. */
  readonly #holders = new Map<string, ReadonlySet<number>>();
  readonly #meanings: ReadonlyMap<string, Meaning>;
  /** Meaning → the share of its most frequent stem. */
  readonly #usual = new Map<Meaning, number>();
  readonly #total: number;

  constructor(samples: readonly ReadSample[], shares: ReadonlyMap<string, number>, keys?: GroupKeys) {
    this.#samples = samples;
    this.#shares = shares;
    this.#keys = keys;
    this.#total = samples.reduce((sum, { weight }) => sum + weight, 0);
    this.#meanings = new Map([
      ...meaningsOf(samples, headStemsOf, ({ parts: { thing } }) =>
        thing[0] === undefined ? null : `#${thing[0]}`,
      ),
      ...meaningsOf(samples, verbStemsOf, ({ parts: { action } }) => (action === null ? null : `@${action}`)),
    ]);
    for (const [stem, meaning] of this.#meanings)
      this.#usual.set(meaning, Math.max(this.#usual.get(meaning) ?? 0, shares.get(stem) ?? 0));
  }

  /** Share of the samples, by weight, that all of some stems are true of. */
  inSamples(stems: readonly string[]): number {
    const sets = this.#meant(stems).map((meant, at) => this.#holdersOf(stems[at]!, meant));
    const fewest = sets.reduce((best, own) => (own.size < best.size ? own : best));
    let held = 0;
    for (const index of fewest) if (sets.every((set) => set.has(index))) held += this.#samples[index]!.weight;
    return this.#total === 0 ? 0 : held / this.#total;
  }

  /**
   * Share of the samples that name the thing of an action, and no action: most of them mean the same one, where nearly
   * all others name it. The first stem is the action's.
   */
  undecided([verb, ...thing]: readonly string[]): number {
    const action = this.#meanings.get(verb!);
    if (action === undefined || !action.startsWith('@') || thing.length === 0) return 0;
    const meant = this.#meant(thing);
    const sets = thing.map((stem, at) => this.#holdersOf(stem, meant[at]!));
    let [same, decided, open] = [0, 0, 0];
    for (const [index, { parts, weight }] of this.#samples.entries()) {
      if (!sets.every((set) => set.has(index))) continue;
      if (parts.action === null) open += weight;
      else decided += weight;
      if (`@${parts.action ?? ''}` === action) same += weight;
    }
    const isClear = same >= CLEAR * decided && same >= LEAST_CLEAR * this.#total;
    return isClear ? open / this.#total : 0;
  }

  /** 0 to 1: how usual the words are among those that mean the same. */
  usualness(stems: readonly string[]): number {
    const meanings = this.#meant(stems);
    return stems.reduce((product, stem, at) => {
      const meaning = meanings[at];
      const most = meaning == null ? 0 : (this.#usual.get(meaning) ?? 0);
      return most === 0 ? product : product * Math.min(1, (this.#shares.get(stem) ?? 0) / most);
    }, 1);
  }

  /** Share of all requests that one stem is true of. */
  #ofAll(stem: string, meaning: Meaning | null): number {
    const share = this.#shares.get(stem) ?? 0;
    if (this.#keys === undefined || meaning === null) return Math.min(1, share);
    const { keys, requests } = this.#keys;
    const counts = meaning.startsWith('@') ? keys.actions : keys.things;
    return Math.min(1, Math.max(share, (counts.get(meaning.slice(1)) ?? 0) / requests));
  }

  /** The meaning that each of some stems is taken for: of two with the same one, the more frequent stem has it. */
  #meant(stems: readonly string[]): (Meaning | null)[] {
    const meanings = stems.map((stem) => this.#meanings.get(stem) ?? null);
    return meanings.map((meaning, at) => {
      if (meaning === null) return null;
      const rivals = stems.filter((_, other) => meanings[other] === meaning);
      const [usual] = rivals.sort((x, y) => (this.#shares.get(y) ?? 0) - (this.#shares.get(x) ?? 0));
      return usual === stems[at] ? meaning : null;
    });
  }

  /** Samples are the most central requests, and the shares of words know no phrases: the truth lies between. */
  of(stems: readonly string[]): number {
    if (stems.length === 0) return 0;
    const meanings = this.#meant(stems);
    const bound = Math.min(...stems.map((stem, at) => this.#ofAll(stem, meanings[at]!)));
    return Math.sqrt(this.inSamples(stems) * bound);
  }

  #holdersOf(stem: string, meaning: Meaning | null): ReadonlySet<number> {
    const key = `${stem} ${meaning ?? ''}`;
    const known = this.#holders.get(key);
    if (known !== undefined) return known;
    const holders = new Set<number>();
    for (const [index, { read, parts }] of this.#samples.entries()) {
      const means =
        meaning !== null && (meaning === `@${parts.action ?? ''}` || meaning === `#${parts.thing[0] ?? ''}`);
      if (means || read.stems.has(stem)) holders.add(index);
    }
    this.#holders.set(key, holders);
    return holders;
  }
}

/** The meaning that most samples with a stem give it. */
function meaningsOf(
  samples: readonly ReadSample[],
  stemsOf: (sample: ReadSample) => readonly string[],
  meaningOf: (sample: ReadSample) => Meaning | null,
): Map<string, Meaning> {
  const uses = new Map<string, Map<Meaning, number>>();
  for (const sample of samples) {
    const meaning = meaningOf(sample);
    if (meaning === null) continue;
    for (const stem of stemsOf(sample)) {
      const counts = uses.get(stem) ?? new Map<Meaning, number>();
      uses.set(stem, counts);
      counts.set(meaning, (counts.get(meaning) ?? 0) + sample.weight);
    }
  }
  const meanings = new Map<string, Meaning>();
  for (const [stem, counts] of uses) {
    const [best] = [...counts].sort(([x, a], [y, b]) => b - a || (x < y ? -1 : 1));
    const [meaning, weight] = best!;
    const holding = samples.reduce((sum, { read, weight: own }) => sum + (read.stems.has(stem) ? own : 0), 0);
    if (weight >= MEANS_IT * holding) meanings.set(stem, meaning);
  }
  return meanings;
}
