/**
 * What requests say, in bounded memory: each micro-cluster keeps a few sample texts and counts its words and
 * phrases. Names of topics and topic clusters are made of this alone, so what is dropped here decides nothing else.
 */
import { truncate } from '../../domain/truncate.ts';
import { weightOf, type MicroCluster } from '../micro-cluster.ts';
import type { Sample } from './names.ts';
import { keepReading } from './truth.ts';
import type { ReadRequest } from '../read-request.ts';
import { combinedUse, type PhraseUse } from './phrase-uses.ts';
import type { GroupPhrases } from './scores.ts';

const MOST_SAMPLES = 4;
const SAMPLE_LENGTH = 120;
const MOST_PHRASES = 32;
/** Samples that a name is made from. */
const SAMPLES_PER_NAME = 48;
/** This many characters count as much against a sample as a cosine lower by 1. */
const CHARACTERS_PER_COSINE = 300;

/** What the requests of a micro-cluster say: a few of them, and how many hold a word or a phrase. */
export interface Wording {
  /** The most central and shortest requests, each text once. */
  readonly samples: ScoredSample[];
  /** By stem; `WordIndex` counts them. */
  readonly words: Map<string, number>;
  /** By key. */
  readonly phrases: Map<string, PhraseUse>;
}

export interface ScoredSample {
  readonly text: string;
  readonly score: number;
}

/**
 * Adds a request's text and phrases, and returns the stems of its content words, each once. `cosine`: of the request
 * with the centroid of its micro-cluster.
 */
export function addRequest(
  wording: Wording,
  { text: whole, parts, naming }: Pick<ReadRequest, 'text' | 'parts' | 'naming'>,
  cosine: number,
): ReadonlySet<string> {
  const text = truncate(whole, SAMPLE_LENGTH);
  const score = Math.fround(cosine - text.length / CHARACTERS_PER_COSINE);
  if (addSample(wording, { text, score }) && text === whole)
    keepReading(text, { parts, read: naming.tokens });
  for (const [key, use] of naming.phrases) addPhrase(wording, key, use);
  return naming.tokens.stems;
}

export function mergeSamplesAndPhrases(into: Wording, from: Wording): void {
  for (const sample of from.samples) addSample(into, sample);
  for (const [key, use] of from.phrases) addPhrase(into, key, use);
}

/** Keeps the samples with the highest scores; of equal ones the earliest. Whether this one was not among them before. */
function addSample({ samples }: Wording, sample: ScoredSample): boolean {
  if (samples.length >= MOST_SAMPLES && samples.every(({ score }) => score >= sample.score)) return false;
  const text = sample.text.toLowerCase();
  if (samples.some((known) => known.text.toLowerCase() === text)) return false;
  samples.push(sample);
  if (samples.length <= MOST_SAMPLES) return true;
  const worst = Math.min(...samples.map(({ score }) => score));
  samples.splice(
    samples.findLastIndex(({ score }) => score === worst),
    1,
  );
  return true;
}

/** When there is no room, a new phrase replaces one that was used once; else it is left out. */
function addPhrase({ phrases }: Wording, key: string, use: PhraseUse): void {
  const known = phrases.get(key);
  if (known === undefined && phrases.size >= MOST_PHRASES) {
    const single = firstKey(phrases, ({ count }) => count === 1);
    if (single === undefined) return;
    phrases.delete(single);
  }
  phrases.set(key, known === undefined ? use : combinedUse(known, use));
}

export function firstKey<Value>(
  map: ReadonlyMap<string, Value>,
  matches: (value: Value) => boolean,
): string | undefined {
  for (const [key, value] of map) if (matches(value)) return key;
  return undefined;
}

/** Samples for a name, those of heavy micro-clusters first; each weighs its share of its micro-cluster. */
export function samplesOf(members: readonly MicroCluster[]): Sample[] {
  const byWeight = [...members].sort((x, y) => y.weight - x.weight || x.number - y.number);
  const samples: Sample[] = [];
  for (let turn = 0; turn < MOST_SAMPLES; turn += 1) {
    for (const { samples: own, weight } of byWeight) {
      const sample = own[turn];
      if (sample !== undefined) samples.push({ text: sample.text, weight: weight / own.length });
    }
  }
  return samples.slice(0, SAMPLES_PER_NAME);
}

/** Share of the requests that hold each stem. */
export function wordShares(members: readonly MicroCluster[]): Map<string, number> {
  const weight = weightOf(members);
  const shares = new Map<string, number>();
  for (const { words } of members) {
    for (const [stem, count] of words) shares.set(stem, (shares.get(stem) ?? 0) + count / weight);
  }
  return shares;
}

/** How the requests of all members together use phrases. */
export function phraseUses(members: readonly MicroCluster[]): GroupPhrases {
  const uses = new Map<string, PhraseUse>();
  for (const { phrases } of members) {
    for (const [key, use] of phrases) {
      const known = uses.get(key);
      uses.set(key, known === undefined ? use : combinedUse(known, use));
    }
  }
  return { uses, requests: weightOf(members) };
}
