/**
 * The similarities of one request to the requests of each group, added up. Micro-clusters seldom change their group, so
 * the place of each in the sums is kept. Covered by test/topics/micro-clusters.test.ts.
 */
import { groupOf, type MicroCluster } from './micro-cluster.ts';

/** Parallel lists, by the first micro-cluster of each group. Valid until the next request. */
export interface GroupSimilarities {
  /** As `groupOf` gives them. */
  readonly groups: readonly number[];
  /** Similarities, added up over the group's requests; may be longer. */
  readonly totals: Float64Array;
  /** Numbers of requests; may be longer. */
  readonly weights: Float64Array;
}

export class GroupSums {
  readonly #groups: number[] = [];
  readonly #places = new Map<number, number>();
  /** By row of the micro-clusters: place of the group. */
  #placeOfRow = new Int32Array(64);
  #rows = 0;
  #totals = new Float64Array(64);
  #weights = new Float64Array(64);

  /** Call when a micro-cluster has changed its group or its row. */
  forget(): void {
    this.#groups.length = 0;
    this.#places.clear();
    this.#rows = 0;
  }

  /** `similarityOf`: of the request to those of the micro-cluster in a row, added up. */
  sum(
    live: readonly MicroCluster[],
    cosines: Float32Array,
    bonuses: Float64Array,
    scale: number,
  ): GroupSimilarities {
    this.#place(live);
    const [groups, totals, weights, places] = [this.#groups, this.#totals, this.#weights, this.#placeOfRow];
    totals.fill(0, 0, groups.length);
    weights.fill(0, 0, groups.length);
    for (let row = 0; row < live.length; row += 1) {
      const { norm, weight } = live[row]!;
      const place = places[row]!;
      totals[place]! += cosines[row]! * norm + scale * bonuses[row]!;
      weights[place]! += weight;
    }
    return { groups, totals, weights };
  }

  /** Gives the rows that have come since the last call their places. */
  #place(live: readonly MicroCluster[]): void {
    if (this.#placeOfRow.length < live.length) this.#placeOfRow = grown(this.#placeOfRow, live.length);
    for (; this.#rows < live.length; this.#rows += 1) {
      const group = groupOf(live[this.#rows]!);
      let place = this.#places.get(group);
      if (place === undefined) {
        place = this.#groups.length;
        this.#groups.push(group);
        this.#places.set(group, place);
      }
      this.#placeOfRow[this.#rows] = place;
    }
    if (this.#totals.length >= this.#groups.length) return;
    this.#totals = new Float64Array(this.#groups.length * 2);
    this.#weights = new Float64Array(this.#groups.length * 2);
  }
}

function grown(array: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(size * 2);
  larger.set(array);
  return larger;
}
