/**
 * Thresholds for a model that brings none, from the instance's own requests. Only cosines of random pairs are looked
 * at, as nothing is known of which requests belong together: the lower percentiles tell where "nothing in common"
 * lies and how far it spreads, whether there are two topics or two hundred.
 */
import type { StateRow } from '../domain/facts.ts';
import { ByteReader, ByteWriter } from '../domain/state-bytes.ts';
import { quantise, quantisedCosine } from '../numeric/vectors.ts';

/** Cosine similarities of an embedding model. */
export interface Thresholds {
  /** At least this close to a micro-cluster's centroid: the request joins it. */
  readonly micro: number;
  /** Mean pairwise similarity down to which micro-clusters form one topic. */
  readonly topic: number;
  /** Mean similarity of centroids down to which topics form one cluster. */
  readonly cluster: number;
  /** Two requests of one session this close ask for the same; also what groups them over sessions. */
  readonly repeated: number;
  /**
   * Cosine of unrelated texts. Present when all of these are a first guess, which each instance's requests correct;
   * absent when they belong to the model.
   */
  readonly background?: number;
}

/** Requests that are kept to compare: 8,128 pairs. */
const SAMPLES = 128;
/** After so many requests the thresholds stay as they are, so that a topic goes on meaning the same. */
const LAST_REQUEST = 2000;
/** What the first guess weighs, in pairs. */
const GUESS_PAIRS = 10;
/** Below so many requests micro-clusters, which are never divided, are kept small. */
const FEW_REQUESTS = 28;
/** By how much the distance of a micro-cluster's members shrinks then. */
const CAUTION = 0.5;
/**
 * Unrelated pairs by their lower percentiles, where hardly any related pair is: the median is so many times the
 * distance from the 5th to the 25th percentile above the 25th (.74 to .83 on six sets of labelled requests, .69 if they
 * were distributed normally), and so many of these distances are a standard deviation.
 */
const TO_MEDIAN = 0.75;
const TO_DEVIATION = 1.03;
/** Standard deviations of unrelated pairs that a threshold is above their median, at least. */
const LEAST_DEVIATIONS = { topic: 0.75, repeated: 1, micro: 1.25 } as const;
/** Share of all pairs that may lie below a threshold, at most. */
const MOST_BELOW = { topic: 0.99, repeated: 0.995, micro: 0.999 } as const;

/** The thresholds of one instance: as given, or corrected as its requests come. */
export class Calibration implements Thresholds {
  readonly #instance: number;
  readonly #given: Thresholds;
  #now: Thresholds;
  #background: number;
  #requests = 0;
  readonly #samples: Int8Array[] = [];
  readonly #dirty = new Set<number>();
  #dirtyHead = false;

  constructor(instance: number, given: Thresholds) {
    this.#instance = instance;
    this.#given = given;
    this.#now = given;
    this.#background = given.background ?? 0;
    if (given.background !== undefined) this.#correct();
  }

  get micro(): number {
    return this.#now.micro;
  }
  get topic(): number {
    return this.#now.topic;
  }
  get cluster(): number {
    return this.#now.cluster;
  }
  get repeated(): number {
    return this.#now.repeated;
  }
  /** Cosine of requests that have nothing in common. 0 when the thresholds belong to the model. */
  get zero(): number {
    return this.#background;
  }
  /** How much of a cosine is as much as 1 where nothing in common means 0. */
  get unit(): number {
    return 1 - this.#background;
  }

  /** Takes a request's vector in. True when the thresholds have changed. */
  add(vector: Float32Array): boolean {
    if (this.#given.background === undefined || this.#requests >= LAST_REQUEST) return false;
    this.#requests += 1;
    this.#dirtyHead = true;
    const slot = slotOf(this.#requests);
    if (slot < SAMPLES) {
      this.#samples[slot] = quantise(vector);
      this.#dirty.add(slot);
    }
    if (!isDue(this.#requests)) return false;
    this.#correct();
    return true;
  }

  /** State rows changed since the last call: kinds `calibration` and `sample`. */
  takeState(): StateRow[] {
    const rows: StateRow[] = [];
    const put = (kind: string, key: number, value: Uint8Array | null): void => {
      rows.push({ instance: this.#instance, kind, key, value });
    };
    const done = this.#requests >= LAST_REQUEST;
    if (this.#dirtyHead) {
      const { micro, topic, cluster, repeated } = this.#now;
      const writer = new ByteWriter().count(this.#requests);
      for (const value of [this.#background, micro, topic, cluster, repeated]) writer.text(String(value));
      put('calibration', 0, writer.finish());
      // What it was found from is of no more use.
      if (done) for (const slot of this.#samples.keys()) put('sample', slot, null);
    }
    if (!done) {
      for (const slot of this.#dirty) {
        const sample = this.#samples[slot]!;
        const bytes = new Uint8Array(sample.buffer, sample.byteOffset, sample.length);
        put('sample', slot, new ByteWriter().count(sample.length).raw(bytes).finish());
      }
    }
    this.#dirty.clear();
    this.#dirtyHead = false;
    return rows;
  }

  /** Takes back the rows of `takeState`, in any order; rows of other kinds are left alone. Call on a fresh object. */
  restore(rows: readonly StateRow[]): void {
    for (const { kind, key, value } of rows) {
      if (value === null) continue;
      if (kind === 'sample') {
        const read = new ByteReader(value);
        this.#samples[key] = new Int8Array(read.raw(read.count()));
      } else if (kind === 'calibration') {
        const read = new ByteReader(value);
        this.#requests = read.count();
        const number = (): number => Number(read.text());
        this.#background = number();
        this.#now = { micro: number(), topic: number(), cluster: number(), repeated: number() };
      }
    }
  }

  #correct(): void {
    const cosines = this.#pairs();
    const guess = this.#given.background ?? 0;
    const unrelated = unrelatedIn(cosines);
    this.#background = Math.min(
      (guess * GUESS_PAIRS + unrelated.median * cosines.length) / (GUESS_PAIRS + cosines.length),
      1 - 1e-6,
    );
    // Cosine 1 stays 1: the same text is the same text for every model. Distances from it shrink with the room left.
    const scale = (1 - this.#background) / (1 - guess);
    const enough = this.#requests >= FEW_REQUESTS;
    const map = (name: keyof typeof MOST_BELOW): number => {
      const caution = name === 'micro' && !enough ? CAUTION : 1;
      const moved = 1 - (1 - this.#given[name]) * scale * caution;
      if (!enough) return moved;
      const least = this.#background + LEAST_DEVIATIONS[name] * unrelated.deviation;
      return Math.min(Math.max(moved, least), percentile(cosines, MOST_BELOW[name]));
    };
    this.#now = {
      // Between centroids, of which the pairs of single requests say nothing.
      cluster: 1 - (1 - this.#given.cluster) * scale,
      topic: map('topic'),
      repeated: map('repeated'),
      micro: map('micro'),
    };
  }

  /** Cosines of all pairs of samples, ascending. */
  #pairs(): Float64Array {
    const count = this.#samples.length;
    const cosines = new Float64Array((count * (count - 1)) / 2);
    let at = 0;
    for (let row = 1; row < count; row += 1) {
      for (let other = 0; other < row; other += 1) {
        cosines[at] = quantisedCosine(this.#samples[row]!, this.#samples[other]!);
        at += 1;
      }
    }
    return cosines.sort();
  }
}

/** Where request number `request` (from 1) is kept; `SAMPLES` or more: nowhere. Each is as likely to be kept as any. */
function slotOf(request: number): number {
  if (request <= SAMPLES) return request - 1;
  // A fixed mixing of the number (murmur3's last step), not chance: a replay keeps the same requests.
  let mixed = Math.imul(request ^ (request >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % request;
}

/** At 3, 4, 6, 9, 13, … requests: those at which topics are grouped anew. */
function isDue(requests: number): boolean {
  let due = 3;
  while (due < requests) due = Math.floor(due * 1.5);
  return due === requests || requests === LAST_REQUEST;
}

/** Median and standard deviation of the unrelated ones among ascending cosines. */
function unrelatedIn(cosines: Float64Array): { median: number; deviation: number } {
  if (cosines.length === 0) return { median: 0, deviation: 0 };
  const low = percentile(cosines, 0.25);
  const spread = low - percentile(cosines, 0.05);
  return {
    median: Math.min(percentile(cosines, 0.5), low + TO_MEDIAN * spread),
    deviation: TO_DEVIATION * spread,
  };
}

function percentile(ascending: Float64Array, share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? 1;
}
