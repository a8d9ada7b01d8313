/**
 * Tracks changes of numbered entities. `drain` serves readers: it returns each changed entity with its value before the
 * first change. `takeUnsaved` serves the stored state. Each returns a change once.
 *
 * Test: test/reader/topics/change-tracker.test.ts.
 */
export class ChangeTracker<Before> {
  readonly #before = new Map<number, Before>();
  readonly #unsaved = new Set<number>();

  /** Call before each change that readers see. */
  note(number: number, before: Before): void {
    if (!this.#before.has(number)) this.#before.set(number, before);
  }

  /** Call at each change of the stored state. */
  markUnsaved(number: number): void {
    this.#unsaved.add(number);
  }

  /** Returns changes, ascending by number. An entity may be back at its earlier value. */
  drain(): [number: number, before: Before][] {
    const changed = [...this.#before].sort(([x], [y]) => x - y);
    this.#before.clear();
    return changed;
  }

  takeUnsaved(): number[] {
    const unsaved = [...this.#unsaved];
    this.#unsaved.clear();
    return unsaved;
  }
}
