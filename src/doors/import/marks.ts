import type { Mark } from './contract.ts';

/** More say no more to a person. */
const MOST = 32;

/** Keeps marks at about the same distance from each other, however many come. Covered by test/doors/import/visible.test.ts. */
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

  /** In the order in which the service counts them. */
  get all(): readonly Mark[] {
    return this.#kept.toSorted((a, b) => a.position - b.position);
  }
}
