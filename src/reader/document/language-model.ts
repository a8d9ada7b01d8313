/**
 * A linear model over hashed character n-grams and words. It tells in which language of a script a text is written.
 *
 * Test: test/reader/document/language-model.test.ts.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { once } from './once.ts';
import { memoise } from './word-cache.ts';

export const MODEL_PATH = resolve(import.meta.dirname, '../../../models/languages/languages.bin');

const BUCKET_BITS = 17;
export const BUCKETS = 2 ** BUCKET_BITS;
const LONGEST_GRAM = 5;
/** Most features of a text; further ones do not help. */
export const MAX_FEATURES = 1200;

const PRIME = 0x01000193;
const EDGE = 0x5f;
const WORD_SEED = 0x1b873593;
const PAIR_SEED = 0x2c1b3c6d;
const TITLED = 0x7feb352d;

function bucketOf(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> (32 - BUCKET_BITS);
}

function wholeOf(word: string): number {
  let whole = WORD_SEED;
  for (let at = 0; at < word.length; at++) whole = Math.imul(whole ^ word.charCodeAt(at), PRIME);
  return whole;
}

function bucketOfPair(before: number, whole: number): number {
  return bucketOf(Math.imul(before ^ PAIR_SEED, PRIME) ^ whole);
}

/**
 * Writes the buckets of a text's features to `into` and returns their number: 1- to 5-grams of each word with its
 * edges, the words, and pairs of neighbours. `titled`: all words of the text begin with a capital.
 */
export function featuresOf(words: readonly string[], titled: boolean, into: Uint32Array): number {
  let count = 0;
  let before = 0;
  for (const word of words) {
    const length = word.length;
    const whole = wholeOf(word);
    for (let start = -1; start <= length; start++) {
      let hash = 0x811c9dc5;
      const end = Math.min(start + LONGEST_GRAM, length + 1);
      for (let at = start; at < end; at++) {
        hash = Math.imul(hash ^ (at < 0 || at === length ? EDGE : word.charCodeAt(at)), PRIME);
        if ((at === start && (at < 0 || at === length)) || count >= MAX_FEATURES - 3) continue;
        into[count++] = bucketOf(hash);
      }
    }
    into[count++] = bucketOf(whole);
    if (before !== 0) into[count++] = bucketOfPair(before, whole);
    before = whole;
    if (count >= MAX_FEATURES - 3) break;
  }
  if (titled) into[count++] = bucketOf(TITLED);
  return count;
}

/** Languages of one script. '' stands for text in no request language: names, other languages. */
export interface LanguageGroup {
  readonly script: string;
  readonly languages: readonly string[];
}

export interface ModelHeader {
  readonly groups: readonly LanguageGroup[];
  /** Value of one step of a stored weight. */
  readonly scale: number;
  readonly bias: readonly number[];
}

/** Weight of a language in a bucket, in steps from -127 to 127. */
export interface Posting {
  readonly language: number;
  readonly weight: number;
}

export interface Likeliest {
  /** '' if the text is in none of the detected languages. */
  readonly language: string;
  readonly probability: number;
}

const counting = new Uint32Array(MAX_FEATURES);

/** The contribution of a single word to the scores. */
interface WordScores {
  readonly scores: Int32Array;
  readonly features: number;
  readonly whole: number;
}

/** A loaded model. Serves one call at a time, because calls share buffers. */
export class LanguageModel {
  readonly #header: ModelHeader;
  readonly #starts: Uint32Array;
  readonly #postings: Uint8Array;
  readonly #groups: ReadonlyMap<string, readonly [first: number, languages: readonly string[]]>;
  readonly #scores: Int32Array;
  readonly #scoresOf = memoise((word) => this.#scoresOfNew(word));

  constructor(header: ModelHeader, counts: Uint8Array, postings: Uint8Array) {
    this.#header = header;
    this.#postings = postings;
    this.#starts = new Uint32Array(BUCKETS + 1);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      this.#starts[bucket + 1] = this.#starts[bucket]! + 2 * counts[bucket]!;
    }
    let first = 0;
    const groups = new Map<string, readonly [number, readonly string[]]>();
    for (const { script, languages } of header.groups) {
      groups.set(script, [first, languages]);
      first += languages.length;
    }
    this.#groups = groups;
    this.#scores = new Int32Array(first);
  }

  get languages(): readonly string[] {
    return this.#header.groups.flatMap(({ languages }) => languages).filter((language) => language !== '');
  }

  /** The likeliest language of the script, of equal ones the first; null if no language of the script is detected. */
  likeliest(script: string, words: readonly string[], titled: boolean): Likeliest | null {
    const group = this.#groups.get(script);
    if (group === undefined) return null;
    const count = this.#addWords(words, titled) ?? this.#addFeatures(words, titled);
    return this.#softmax(group, this.#header.scale / Math.sqrt(Math.max(1, count)));
  }

  /**
   * Sets the scores of a text from those of its words, and returns the number of features; null if there are too many.
   */
  #addWords(words: readonly string[], titled: boolean): number | null {
    const scores = this.#scores.fill(0);
    let count = 0;
    let before = 0;
    for (const word of words) {
      const known = this.#scoresOf(word);
      for (let at = 0; at < scores.length; at++) scores[at]! += known.scores[at]!;
      count += known.features;
      if (before !== 0) {
        this.#addBucket(bucketOfPair(before, known.whole));
        count += 1;
      }
      if (count >= MAX_FEATURES - 3) return null;
      before = known.whole;
    }
    if (!titled) return count;
    this.#addBucket(bucketOf(TITLED));
    return count + 1;
  }

  #scoresOfNew(word: string): WordScores {
    const all = this.#scores.slice();
    const features = this.#addFeatures([word], false);
    const made = { scores: this.#scores.slice(), features, whole: wholeOf(word) };
    this.#scores.set(all);
    return made;
  }

  #addFeatures(words: readonly string[], titled: boolean): number {
    const count = featuresOf(words, titled, counting);
    this.#scores.fill(0);
    for (let i = 0; i < count; i++) this.#addBucket(counting[i]!);
    return count;
  }

  #addBucket(bucket: number): void {
    const end = this.#starts[bucket + 1]!;
    for (let at = this.#starts[bucket]!; at < end; at += 2)
      this.#scores[this.#postings[at]!]! += this.#postings[at + 1]! - 128;
  }

  #softmax([first, languages]: readonly [number, readonly string[]], step: number): Likeliest {
    const { bias } = this.#header;
    let best = first;
    let most = -Infinity;
    for (let at = first; at < first + languages.length; at++) {
      const logit = this.#scores[at]! * step + bias[at]!;
      if (logit > most) [best, most] = [at, logit];
    }
    let sum = 0;
    for (let at = first; at < first + languages.length; at++) {
      sum += Math.exp(this.#scores[at]! * step + bias[at]! - most);
    }
    return { language: languages[best - first]!, probability: 1 / sum };
  }
}

/**
 * Encodes a model: length of the header, the header as JSON, one count per bucket, and the postings (language, weight +
 * 128).
 */
export function encodeModel(header: ModelHeader, postings: readonly (readonly Posting[])[]): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const total = postings.reduce((sum, list) => sum + list.length, 0);
  const bytes = new Uint8Array(4 + json.length + BUCKETS + 2 * total);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  let at = 4 + json.length + BUCKETS;
  postings.forEach((list, bucket) => {
    bytes[4 + json.length + bucket] = list.length;
    for (const { language, weight } of list) {
      bytes[at++] = language;
      bytes[at++] = weight + 128;
    }
  });
  return bytes;
}

/** Decodes the output of `encodeModel`. */
export function decodeModel(bytes: Uint8Array): LanguageModel {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as ModelHeader;
  const counts = bytes.subarray(4 + size, 4 + size + BUCKETS);
  return new LanguageModel(header, counts, bytes.subarray(4 + size + BUCKETS));
}

/** The shipped model, loaded on first use. */
export const languageModel = once(() => decodeModel(readFileSync(MODEL_PATH)));
