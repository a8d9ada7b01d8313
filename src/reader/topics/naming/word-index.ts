/**
 * Counts the words of an instance's micro-clusters and indexes which ones hold a word: the source of the document
 * frequencies for names.
 *
 * Test: test/reader/topics/naming/word-index.test.ts.
 */
import { groupOf, type MicroCluster } from '../micro-cluster.ts';
import type { DocumentFrequencies } from './scores.ts';
import { firstKey } from './wording.ts';

/** Most words that are counted per micro-cluster. */
const MOST_WORDS = 16;

/** The index of one instance. Reads words from micro-clusters, which hold the counts. */
export class WordIndex {
  readonly #holders = new Map<string, Set<MicroCluster>>();

  insert(micro: MicroCluster): void {
    for (const stem of micro.words.keys()) this.#hold(stem, micro);
  }

  /** Adds to a stem's count. If there is no room, a new stem replaces one that was counted once, or is ignored. */
  count(micro: MicroCluster, stem: string, count: number): void {
    const { words } = micro;
    const known = words.get(stem);
    if (known === undefined) {
      if (words.size >= MOST_WORDS) {
        const single = firstKey(words, (uses) => uses === 1);
        if (single === undefined) return;
        words.delete(single);
        this.#release(single, micro);
      }
      this.#hold(stem, micro);
    }
    words.set(stem, (known ?? 0) + count);
  }

  merge(into: MicroCluster, from: MicroCluster): void {
    for (const [stem, count] of from.words) {
      this.count(into, stem, count);
      this.#release(stem, from);
    }
  }

  /**
   * The number of topics and waiting groups that use a word. Valid until a request arrives or a micro-cluster moves.
   */
  frequencies(live: readonly MicroCluster[]): DocumentFrequencies {
    const cached = new Map<string, number>();
    return {
      groups: new Set(live.map(groupOf)).size,
      groupsWith: (stem) => {
        let groups = cached.get(stem);
        if (groups === undefined) {
          groups = new Set([...(this.#holders.get(stem) ?? [])].map(groupOf)).size;
          cached.set(stem, groups);
        }
        return groups;
      },
    };
  }

  #hold(stem: string, micro: MicroCluster): void {
    const holders = this.#holders.get(stem);
    if (holders === undefined) this.#holders.set(stem, new Set([micro]));
    else holders.add(micro);
  }

  #release(stem: string, micro: MicroCluster): void {
    const holders = this.#holders.get(stem);
    holders?.delete(micro);
    if (holders?.size === 0) this.#holders.delete(stem);
  }
}
