/**
 * The own topics that claim whole micro-clusters by the wide rule, where an instance counts the rest as Other. Keeps the
 * invariant that after `refresh` each claim follows from the requests of its micro-cluster, the examples and the
 * decisions in effect, whatever the batches were. An instance that never chose this holds nothing here.
 *
 * Test: test/reader/topics/wide-claims.test.ts.
 */
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import type { StateRow } from '../../domain/facts.ts';
import { CLAIMS } from '../../domain/model-thresholds.ts';
import { normOf } from '../numeric/vectors.ts';
import { excludedFrom, heirOf } from './curated-topics.ts';
import type { MicroCluster } from './micro-cluster.ts';
import type { TopicState } from './topic-state.ts';

const KIND = 'wide-claim';
/** Estimated memory of a claim, bytes. */
const CLAIM_BYTES = 100;

/** The wide claims of one instance. */
export class WideClaims {
  /** Micro-cluster → own topic. */
  readonly #claims = new Map<number, number>();
  /** Micro-clusters that changed since the last `refresh`. */
  readonly #due = new Set<number>();
  readonly #unsaved = new Set<number>();
  /** What all claims follow from besides their micro-clusters, as of the last `refresh`; null if that no longer holds. */
  #basis: string | null = '';

  /** The own topic that claims a micro-cluster, or −1. */
  of(micro: number): number {
    return this.#claims.get(micro) ?? -1;
  }

  /** Call when a micro-cluster changes. */
  touch(micro: number): void {
    this.#due.add(micro);
  }

  /** Call when an instance begins or ends to count the rest as Other. */
  touchAll(): void {
    this.#basis = null;
  }

  /** Computes the claims of what changed. Call before rows are drained. */
  refresh(state: TopicState): void {
    const { micros, curation } = state;
    const basis = basisOf(state);
    const due =
      basis === this.#basis
        ? this.#due
        : new Set([...this.#claims.keys(), ...micros.live.map(({ number }) => number)]);
    this.#basis = basis;
    for (const number of due) {
      const micro = micros.get(number);
      const claim =
        micro === undefined || !curation.routesToOther ? -1 : claimOf(state, micro, this.of(number));
      if (claim === this.of(number)) continue;
      if (micro !== undefined) micros.noteShown(micro);
      if (claim < 0) this.#claims.delete(number);
      else this.#claims.set(number, claim);
      this.#unsaved.add(number);
    }
    this.#due.clear();
  }

  /** The state rows that changed since the last call. */
  takeState(instance: number): StateRow[] {
    const rows = [...this.#unsaved].map((key) => {
      const claim = this.#claims.get(key);
      const value = claim === undefined ? null : new ByteWriter().count(claim).finish();
      return { instance, kind: KIND, key, value };
    });
    this.#unsaved.clear();
    return rows;
  }

  /** Restores a new object from its state rows, in any order, once all else of `state` is restored. */
  restore(state: TopicState, rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, KIND)) this.#claims.set(key, read.count());
    this.#basis = basisOf(state);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#claims.size * CLAIM_BYTES;
  }
}

function basisOf({ curation, own, thresholds }: TopicState): string {
  if (!curation.routesToOther) return '';
  const { settledTopic, micro, scale } = thresholds;
  const merges = [...curation.merges].map(([from, { into }]) => `${from}>${into}`);
  return [settledTopic, micro, scale, own.size, own.active, ...merges].join(' ');
}

/**
 * The own topic that claims the mean request of a micro-cluster, none that a correction excludes; −1 if there is none.
 * `before`: the one that did. It goes on where retention or an erasure left no vector to tell by.
 */
function claimOf(state: TopicState, micro: MicroCluster, before: number): number {
  const { own, curation, thresholds } = state;
  const { sum, keys, weight } = micro;
  const norm = normOf(sum);
  const excluded = excludedFrom(micro, state);
  if (norm === 0) return own.isActive(before) && !excluded.has(heirOf(before, curation, own)) ? before : -1;
  return own.claimOf(
    sum.map((component) => component / norm),
    keys,
    thresholds,
    weight,
    CLAIMS.wide,
    (topic) => {
      const heir = heirOf(topic, curation, own);
      return excluded.has(heir) ? -1 : heir;
    },
  );
}
