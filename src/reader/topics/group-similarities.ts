/**
 * Sums the similarities of one request to the requests of each group. Caches the group of each micro-cluster, because
 * it seldom changes.
 *
 * Test: test/reader/topics/micro-clusters.test.ts.
 */
import { groupOf, type MicroCluster } from './micro-cluster.ts';

/** Parallel lists, in the order of each group's first micro-cluster. Valid until the next request. */
export interface GroupSimilarities {
  /** The groups, as `groupOf` numbers them. */
  readonly groups: readonly number[];
  /** Sums of similarities over each group's requests; may be longer than `groups`. */
  readonly totals: Float64Array;
  /** Numbers of requests; may be longer than `groups`. */
  readonly weights: Float64Array;
}

/** The cached groups of an instance's micro-clusters, and the sums over them. */
export class GroupSums {
  readonly #groups: number[] = [];
  readonly #places = new Map<number, number>();
  /** Columns by row of the micro-clusters: index of the group, weight and norm; filled up to `#rows`. */
  #columns = columnsOf(64);
  #rows = 0;
  #totals = new Float64Array(64);
  #weights = new Float64Array(64);

  /** Call after a micro-cluster has changed its group or its row. */
  forget(): void {
    this.#groups.length = 0;
    this.#places.clear();
    this.#rows = 0;
  }

  /** Call after a micro-cluster has grown. */
  update(row: number, { weight, norm }: MicroCluster): void {
    if (row >= this.#rows) return;
    this.#columns.weights[row] = weight;
    this.#columns.norms[row] = norm;
  }

  /** Sums by group. `cosines` and `bonuses` are those of a request with each micro-cluster. */
  sum(
    live: readonly MicroCluster[],
    cosines: Float32Array,
    bonuses: Float64Array,
    scale: number,
  ): GroupSimilarities {
    this.#read(live);
    const { places, weights: weightOf, norms } = this.#columns;
    const [groups, totals, weights] = [this.#groups, this.#totals, this.#weights];
    totals.fill(0, 0, groups.length);
    weights.fill(0, 0, groups.length);
    for (let row = 0; row < live.length; row += 1) {
      const place = places[row]!;
      totals[place]! += cosines[row]! * norms[row]! + scale * bonuses[row]!;
      weights[place]! += weightOf[row]!;
    }
    return { groups, totals, weights };
  }

  /** Reads the rows that were added since the last call. */
  #read(live: readonly MicroCluster[]): void {
    if (this.#columns.places.length < live.length) {
      this.#columns = columnsOf(live.length * 2);
      this.forget();
    }
    for (; this.#rows < live.length; this.#rows += 1) {
      const micro = live[this.#rows]!;
      this.#columns.places[this.#rows] = this.#placeOf(groupOf(micro));
      this.#columns.weights[this.#rows] = micro.weight;
      this.#columns.norms[this.#rows] = micro.norm;
    }
    if (this.#totals.length >= this.#groups.length) return;
    this.#totals = new Float64Array(this.#groups.length * 2);
    this.#weights = new Float64Array(this.#groups.length * 2);
  }

  #placeOf(group: number): number {
    const known = this.#places.get(group);
    if (known !== undefined) return known;
    this.#places.set(group, this.#groups.length);
    return this.#groups.push(group) - 1;
  }
}

interface Columns {
  readonly places: Int32Array;
  readonly weights: Float64Array;
  readonly norms: Float64Array;
}

function columnsOf(rows: number): Columns {
  return { places: new Int32Array(rows), weights: new Float64Array(rows), norms: new Float64Array(rows) };
}
