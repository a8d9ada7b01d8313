/**
 * A small linear head over hashed word n-grams that scores how much a text admits inability. Rules decide; the head
 * decides only where no rule applies and it is sure.
 *
 * Test: test/reader/acts/heads.test.ts.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SetupError } from '../../errors.ts';
import { fold } from '../document/normalise.ts';
import { holdsQuestionMark } from '../document/question-marks.ts';
import { foldedWordsOf } from '../document/words.ts';

/** Directory of the shipped heads. */
export const HEADS_DIRECTORY = resolve(import.meta.dirname, '../../../models/heads');

/** Number of hash buckets; a power of two. */
export const BUCKETS = 1 << 14;
/** Most words of a text that are read. */
const MAX_WORDS = 64;
const MAGIC = 'UTH1';

/** A logistic head: the probability is 1 / (1 + e^-logit). */
export interface Head {
  /** The log-odds that the text is positive. `features` must come from `featuresOf`. */
  logit(features: Uint16Array): number;
  /** SHA-256 of its file, in hexadecimal. */
  readonly digest: string;
}

/**
 * The buckets of a text's features, ascending and without duplicates: words, pairs and triples with sentence ends, some
 * marks, the length.
 */
export function featuresOf(text: string): Uint16Array {
  const folded = fold(text);
  const words = ['^', ...foldedWordsOf(folded).slice(0, MAX_WORDS).map(withoutDigits), '$'];
  const places = new Set<number>();
  for (let i = 0; i < words.length; i++) {
    const one = hash(words[i] ?? '', 0x811c9dc5);
    if (i > 0 && i < words.length - 1) places.add(place(one));
    if (i + 1 < words.length) {
      const two = hash(words[i + 1] ?? '', one ^ 0x5bd1e995);
      if (words.length > 2) places.add(place(two));
      if (i + 2 < words.length && words.length > 3)
        places.add(place(hash(words[i + 2] ?? '', two ^ 0x5bd1e995)));
    }
  }
  if (folded.includes('!')) places.add(place(hash('mark!', 1)));
  if (holdsQuestionMark(folded)) places.add(place(hash('mark?', 1)));
  const length = words.length - 2;
  places.add(
    place(
      hash(`length${length <= 3 ? length : length <= 6 ? 6 : length <= 12 ? 12 : length <= 24 ? 24 : 48}`, 1),
    ),
  );
  return Uint16Array.from(places).sort();
}

function withoutDigits(word: string): string {
  return /\d/.test(word) ? '0' : word;
}

function hash(text: string, seed: number): number {
  let state = seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state;
}

function place(state: number): number {
  const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) & (BUCKETS - 1);
}

/** Encodes a head: magic, bias and scale as 32-bit floats, then one signed byte per bucket, little-endian. */
export function encodeHead(weights: Float32Array, bias: number): Buffer {
  let largest = 0;
  for (const weight of weights) largest = Math.max(largest, Math.abs(weight));
  const scale = largest === 0 ? 1 : largest / 127;
  const bytes = Buffer.alloc(MAGIC.length + 8 + BUCKETS);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeFloatLE(bias, 4);
  bytes.writeFloatLE(scale, 8);
  for (let i = 0; i < BUCKETS; i++) bytes.writeInt8(Math.round((weights[i] ?? 0) / scale), 12 + i);
  return bytes;
}

/** Decodes the output of `encodeHead`. Throws on anything else. */
export function decodeHead(bytes: Buffer): Head {
  if (bytes.length !== MAGIC.length + 8 + BUCKETS || bytes.toString('latin1', 0, 4) !== MAGIC) {
    throw new Error('is no head of this version');
  }
  const bias = bytes.readFloatLE(4);
  const scale = bytes.readFloatLE(8);
  const weights = new Int8Array(BUCKETS);
  for (let i = 0; i < BUCKETS; i++) weights[i] = bytes.readInt8(12 + i);
  return {
    digest: createHash('sha256').update(bytes).digest('hex'),
    logit(features) {
      let sum = 0;
      for (const feature of features) sum += weights[feature] ?? 0;
      return bias + (sum * scale) / Math.sqrt(Math.max(1, features.length));
    },
  };
}

/** Loads `<directory>/<name>.bin`. Throws SetupError if it is absent or broken. */
export function loadHead(name: 'gap', directory = HEADS_DIRECTORY): Head {
  const path = resolve(directory, `${name}.bin`);
  try {
    return decodeHead(readFileSync(path));
  } catch (cause) {
    throw new SetupError(`${path} cannot be used (${(cause as Error).message}): run npm run train`, {
      cause,
    });
  }
}

/** The heads that an enricher needs. */
export interface Heads {
  readonly gap: Head;
}

/** Loads the shipped heads. Throws SetupError if they are absent or broken. */
export function loadHeads(directory?: string): Heads {
  return { gap: loadHead('gap', directory) };
}
