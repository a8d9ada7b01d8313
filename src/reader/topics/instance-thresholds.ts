/**
 * The similarity thresholds of one instance: those of the model, or a first guess that is corrected while requests
 * arrive. The correction uses cosines of random pairs only, because no labels exist. Their low percentiles show where
 * unrelated pairs lie and how far they spread, for two topics as for two hundred. Keeps the invariant that the
 * thresholds are fixed after 2,000 requests.
 *
 * Test: test/reader/topics/instance-thresholds.test.ts.
 */
import type { StateRow } from '../../domain/facts.ts';
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import type { Thresholds } from '../../domain/model-thresholds.ts';
import { quantise, quantisedCosine } from '../numeric/quantised.ts';

/** Estimated overhead of a typed array, bytes. */
const SAMPLE_BYTES = 150;
/** Requests in the sample, for 8,128 pairs. */
const SAMPLES = 128;
/** Number of the request after which thresholds stay fixed, so that topics keep their meaning. */
const LAST_REQUEST = 2000;
/**
 * The topic threshold starts lower by `least` (on a similarity scale of 1) and rises over the first `requests`: topics
 * of a small shop appear sooner, those of a large one stay apart. Decision 0082 has the measurements.
 */
const SLACK = { least: 0.12, requests: 100 } as const;
/** Weight of the first guess, as a number of pairs. */
const GUESS_PAIRS = 10;
/** Below this number of requests, micro-clusters are kept small, because they never split. */
const FEW_REQUESTS = 28;
/** Factor on the largest distance from a centroid while requests are few. */
const CAUTION = 0.5;
/**
 * Median (measured from the 25th percentile) and standard deviation of unrelated pairs, in units of the distance
 * between the 5th and 25th percentile of all pairs. Hardly any related pair lies that low. Six labelled sets of
 * requests gave medians from 0.74 to 0.83; a normal distribution gives 0.69.
 */
const TO_MEDIAN = 0.75;
const TO_DEVIATION = 1.03;
/** Least distance of a threshold from the similarity floor, in standard deviations of unrelated pairs. */
const LEAST_DEVIATIONS = { topic: 0.75, repeated: 1, micro: 1.25 } as const;
/**
 * Hysteresis on a similarity scale of 1. Two items of one group count as this much more similar, two of different
 * groups as this much less, so groups split or merge only on a clear change.
 */
export const HYSTERESIS = 0.04;
/** Greatest share of all pairs below a threshold. */
const MOST_BELOW = { topic: 0.99, repeated: 0.995, micro: 0.999 } as const;

/** The thresholds of one instance; they change only in `add` and `restore`. */
export class InstanceThresholds implements Thresholds {
  readonly #instance: number;
  readonly #given: Thresholds;
  #corrected: Thresholds;
  #floor: number;
  #requests = 0;
  readonly #samples: Int8Array[] = [];
  readonly #unsavedSamples = new Set<number>();
  #unsaved = false;

  constructor(instance: number, given: Thresholds) {
    this.#instance = instance;
    this.#given = given;
    this.#corrected = given;
    this.#floor = given.background ?? 0;
    if (given.background !== undefined) this.#correct();
  }

  get micro(): number {
    return this.#corrected.micro;
  }
  /** Threshold of found topics: lower at first. */
  get topic(): number {
    const left = Math.max(0, 1 - this.#requests / SLACK.requests);
    return this.settledTopic - SLACK.least * this.scale * left;
  }
  /** Threshold of own topics, which claim near requests from the first one on. */
  get settledTopic(): number {
    return this.#corrected.topic;
  }
  get cluster(): number {
    return this.#corrected.cluster;
  }
  get repeated(): number {
    return this.#corrected.repeated;
  }
  /** Similarity floor: cosine of requests that share nothing. 0 if the thresholds belong to the model. */
  get floor(): number {
    return this.#floor;
  }
  /** Similarity scale: distance from the floor to 1. Constants for a floor of 0 are multiplied by it. */
  get scale(): number {
    return 1 - this.#floor;
  }

  /** `HYSTERESIS` in units of cosines. */
  get hysteresis(): number {
    return HYSTERESIS * this.scale;
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#samples.reduce((bytes, sample) => bytes + sample.byteLength + SAMPLE_BYTES, 0);
  }

  /** Takes a request's vector into account. Returns true if the thresholds changed. */
  add(vector: Float32Array): boolean {
    const isGiven = this.#given.background === undefined;
    if (this.#requests >= (isGiven ? SLACK.requests : LAST_REQUEST)) return false;
    this.#requests += 1;
    this.#unsaved = true;
    if (isGiven) return false;
    const slot = slotOf(this.#requests);
    if (slot < SAMPLES) {
      this.#samples[slot] = quantise(vector);
      this.#unsavedSamples.add(slot);
    }
    if (!isDue(this.#requests)) return false;
    this.#correct();
    return true;
  }

  /** Returns the state rows that changed since the last call, of kinds `calibration` and `sample`. */
  takeState(): StateRow[] {
    const rows: StateRow[] = [];
    const put = (kind: string, key: number, value: Uint8Array | null): void => {
      rows.push({ instance: this.#instance, kind, key, value });
    };
    const done = this.#requests >= LAST_REQUEST;
    if (this.#unsaved) {
      const { micro, topic, cluster, repeated } = this.#corrected;
      const writer = new ByteWriter().count(this.#requests);
      for (const value of [this.#floor, micro, topic, cluster, repeated]) writer.text(String(value));
      put('calibration', 0, writer.finish());
      if (done) for (const slot of this.#samples.keys()) put('sample', slot, null);
    }
    if (!done) {
      for (const slot of this.#unsavedSamples) {
        const sample = this.#samples[slot]!;
        const bytes = new Uint8Array(sample.buffer, sample.byteOffset, sample.length);
        put('sample', slot, new ByteWriter().count(sample.length).raw(bytes).finish());
      }
    }
    this.#unsavedSamples.clear();
    this.#unsaved = false;
    return rows;
  }

  /** Restores a new object from its state rows, in any order; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, 'sample'))
      this.#samples[key] = new Int8Array(read.raw(read.count()));
    for (const { read } of readersOf(rows, 'calibration')) {
      this.#requests = read.count();
      const number = (): number => Number(read.text());
      this.#floor = number();
      this.#corrected = { micro: number(), topic: number(), cluster: number(), repeated: number() };
    }
  }

  #correct(): void {
    const cosines = this.#pairCosines();
    const guess = this.#given.background ?? 0;
    const unrelated = unrelatedIn(cosines);
    this.#floor = Math.min(
      (guess * GUESS_PAIRS + unrelated.median * cosines.length) / (GUESS_PAIRS + cosines.length),
      1 - 1e-6,
    );
    // A cosine of 1 stays 1: every model finds a text equal to itself. Distances from 1 shrink with the scale.
    const shrinking = (1 - this.#floor) / (1 - guess);
    const enough = this.#requests >= FEW_REQUESTS;
    const corrected = (name: keyof typeof MOST_BELOW): number => {
      const caution = name === 'micro' && !enough ? CAUTION : 1;
      const shrunk = 1 - (1 - this.#given[name]) * shrinking * caution;
      if (!enough) return shrunk;
      const least = this.#floor + LEAST_DEVIATIONS[name] * unrelated.deviation;
      return Math.min(Math.max(shrunk, least), percentile(cosines, MOST_BELOW[name]));
    };
    this.#corrected = {
      // Pairs of requests say nothing about pairs of centroids.
      cluster: 1 - (1 - this.#given.cluster) * shrinking,
      topic: corrected('topic'),
      repeated: corrected('repeated'),
      micro: corrected('micro'),
    };
  }

  /** Cosines of all pairs in the sample, ascending. */
  #pairCosines(): Float64Array {
    const samples = this.#samples;
    const pairs = samples.flatMap((sample, row) =>
      samples.slice(0, row).map((other) => quantisedCosine(sample, other)),
    );
    return Float64Array.from(pairs).sort();
  }
}

/**
 * Slot of the `request`-th request (from 1) in the sample; a slot from `SAMPLES` on means that it is not kept. All
 * requests are equally likely to be kept.
 */
function slotOf(request: number): number {
  if (request <= SAMPLES) return request - 1;
  // Uses the last step of murmur3 as the random source, so that a replay keeps the same requests.
  let mixed = Math.imul(request ^ (request >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % request;
}

/** True at 3, 4, 6, 9, 13, … requests, when topics are regrouped too, and at the last one. */
function isDue(requests: number): boolean {
  let due = 3;
  while (due < requests) due = Math.floor(due * 1.5);
  return due === requests || requests === LAST_REQUEST;
}

/** Median and standard deviation of unrelated pairs. `cosines`: of all pairs, ascending. */
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
