/**
 * Keeps a bounded number of evenly spaced positions of an import, for the display of progress.
 *
 * Test: test/doors/import/visible.test.ts.
 */
import type { Mark } from './contract.ts';

/** More positions would not make the display finer. */
const MOST = 32;

/** Evenly spaced marks: the list is halved, and the spacing doubled, each time it is full. */
export class Marks {
  #kept: Mark[] = [];
  #every = 1;
  #seen = 0;

  add(mark: Mark): void {
    this.#seen += 1;
    if (this.#seen % this.#every !== 0) return;
    this.#kept.push(mark);
    if (this.#kept.length < MOST) return;
    this.#kept = this.#kept.filter((_, index) => index % 2 === 1);
    this.#every *= 2;
  }

  /** Marks in ascending order of position. */
  get all(): readonly Mark[] {
    return this.#kept.toSorted((a, b) => a.position - b.position);
  }
}
