/**
 * The wording of requests in bounded memory: each micro-cluster keeps a few samples and counts its words and phrases.
 * Keeps the invariant that only names depend on it, so what is dropped here changes no assignment.
 *
 * Test: test/reader/topics/naming/wording.test.ts.
 */
import { truncate } from '../../../domain/truncate.ts';
import { keysOfAll, weightOf, type MicroCluster } from '../micro-cluster.ts';
import { ReadRequest } from '../read-request.ts';
import type { RequestKeys } from '../request-keys.ts';
import { combinedUse, type PhraseUse } from './phrases.ts';
import { SampleWords, type Sample } from './sample-words.ts';

const MOST_SAMPLES = 4;
const SAMPLE_LENGTH = 120;
const MOST_PHRASES = 32;
/** Most samples that a name is made from. */
const SAMPLES_PER_NAME = 48;
/** A sample's score is its cosine minus its length divided by this number of characters. */
const CHARACTERS_PER_COSINE = 300;

/** Samples of a micro-cluster's requests, and counts of their words and phrases. */
export interface Wording {
  /** The most central and shortest requests, each text once, as read requests. */
  readonly samples: ScoredSample[];
  /** Counts by stem; `WordIndex` maintains them. */
  readonly words: Map<string, number>;
  /** Uses by key. */
  readonly phrases: Map<string, PhraseUse>;
}

export interface ScoredSample {
  readonly request: ReadRequest;
  readonly score: number;
}

/**
 * Adds a request's text and phrases. Returns the stems of its content words, each once. `cosine`: of the request with
 * the centroid of its micro-cluster.
 */
export function addRequest(wording: Wording, request: ReadRequest, cosine: number): ReadonlySet<string> {
  const text = truncate(request.text, SAMPLE_LENGTH);
  const sample = text === request.text ? request : new ReadRequest(text);
  addSample(wording, { request: sample, score: Math.fround(cosine - text.length / CHARACTERS_PER_COSINE) });
  for (const [key, use] of request.phrases) addPhrase(wording, key, use);
  return request.tokens.stems;
}

/** Adds the samples and phrases of `from`; `WordIndex.merge` adds its words. */
export function mergeSamplesAndPhrases(into: Wording, from: Wording): void {
  for (const sample of from.samples) addSample(into, sample);
  for (const [key, use] of from.phrases) addPhrase(into, key, use);
}

/** Keeps the samples with the highest scores; of equal ones the earliest. */
function addSample({ samples }: Wording, sample: ScoredSample): void {
  if (samples.length >= MOST_SAMPLES && samples.every(({ score }) => score >= sample.score)) return;
  const text = sample.request.text.toLowerCase();
  if (samples.some((known) => known.request.text.toLowerCase() === text)) return;
  samples.push(sample);
  if (samples.length <= MOST_SAMPLES) return;
  const worst = Math.min(...samples.map(({ score }) => score));
  samples.splice(
    samples.findLastIndex(({ score }) => score === worst),
    1,
  );
}

/** Adds a phrase. If there is no room, it replaces one that was used once, or is ignored. */
function addPhrase({ phrases }: Wording, key: string, use: PhraseUse): void {
  const known = phrases.get(key);
  if (known === undefined && phrases.size >= MOST_PHRASES) {
    const single = firstKey(phrases, ({ count }) => count === 1);
    if (single === undefined) return;
    phrases.delete(single);
  }
  phrases.set(key, known === undefined ? use : combinedUse(known, use));
}

/** First key, in insertion order, whose value matches. */
export function firstKey<Value>(
  map: ReadonlyMap<string, Value>,
  matches: (value: Value) => boolean,
): string | undefined {
  for (const [key, value] of map) if (matches(value)) return key;
  return undefined;
}

/** The uses of phrases in all requests of a group, and the number of requests. */
export interface GroupPhrases {
  readonly uses: ReadonlyMap<string, PhraseUse>;
  readonly requests: number;
}

/** The wording of a group's requests. */
export interface GroupWords {
  readonly samples: readonly Sample[];
  readonly sampleWords: SampleWords;
  /** Share of all requests, not only of the samples, that hold a stem. */
  readonly shares: ReadonlyMap<string, number>;
  readonly phrases: GroupPhrases;
  /** Actions and things of all requests; undefined if only the samples are known. */
  readonly keys: RequestKeys | undefined;
}

/** The joint wording of some micro-clusters; each part is computed on first use. */
export class WordsOfMicros implements GroupWords {
  readonly members: readonly MicroCluster[];
  readonly weight: number;
  #samples: readonly Sample[] | null = null;
  #sampleWords: SampleWords | null = null;
  #shares: ReadonlyMap<string, number> | null = null;
  #phrases: GroupPhrases | null = null;
  #keys: RequestKeys | null = null;

  constructor(members: readonly MicroCluster[]) {
    this.members = members;
    this.weight = weightOf(members);
  }

  get samples(): readonly Sample[] {
    return (this.#samples ??= samplesOf(this.members));
  }

  get sampleWords(): SampleWords {
    return (this.#sampleWords ??= new SampleWords(this.samples));
  }

  get shares(): ReadonlyMap<string, number> {
    return (this.#shares ??= sharesOf(this));
  }

  get phrases(): GroupPhrases {
    return (this.#phrases ??= { uses: usesOf(this.members), requests: this.weight });
  }

  get keys(): RequestKeys {
    return (this.#keys ??= keysOfAll(this.members));
  }
}

/** The wording of requests that form a whole group. */
export function wordsOfRequests(requests: readonly ReadRequest[]): GroupWords {
  const shares = new Map<string, number>();
  for (const { tokens } of requests)
    for (const stem of tokens.stems) shares.set(stem, (shares.get(stem) ?? 0) + 1 / requests.length);
  const samples = requests.map((request) => ({ request, weight: 1 }));
  const inOrder = requests.toSorted((x, y) => (x.text < y.text ? -1 : 1));
  const phrases = { uses: usesOf(inOrder), requests: requests.length };
  return { samples, sampleWords: new SampleWords(samples), shares, phrases, keys: undefined };
}

/** Samples for a name, those of heavy micro-clusters first; each weighs its share of its micro-cluster. */
export function samplesOf(members: readonly MicroCluster[]): Sample[] {
  const byWeight = [...members].sort((x, y) => y.weight - x.weight || x.number - y.number);
  const samples: Sample[] = [];
  for (let turn = 0; turn < MOST_SAMPLES; turn += 1) {
    for (const { samples: own, weight } of byWeight) {
      const sample = own[turn];
      if (sample !== undefined) samples.push({ request: sample.request, weight: weight / own.length });
    }
  }
  return samples.slice(0, SAMPLES_PER_NAME);
}

function sharesOf({ members, weight }: WordsOfMicros): Map<string, number> {
  const shares = new Map<string, number>();
  for (const { words } of members) {
    for (const [stem, count] of words) shares.set(stem, (shares.get(stem) ?? 0) + count / weight);
  }
  return shares;
}

/** The joint uses of phrases in some requests or micro-clusters. */
function usesOf(
  all: readonly { readonly phrases: ReadonlyMap<string, PhraseUse> }[],
): Map<string, PhraseUse> {
  const uses = new Map<string, PhraseUse>();
  for (const { phrases } of all) {
    for (const [key, use] of phrases) {
      const known = uses.get(key);
      uses.set(key, known === undefined ? use : combinedUse(known, use));
    }
  }
  return uses;
}
