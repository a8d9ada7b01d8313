/**
 * What changed among the numbered entities of one kind. `drain` answers for readers: what each entity was when it
 * first changed. `takeUnsaved` answers for the state that is stored. Each forgets what it has answered.
 */
export class ChangeTracker<Before> {
  readonly #before = new Map<number, Before>();
  readonly #unsaved = new Set<number>();

  /** Call before each change that readers see. */
  note(number: number, before: Before): void {
    if (!this.#before.has(number)) this.#before.set(number, before);
  }

  /** Call at each change of what is stored. */
  markUnsaved(number: number): void {
    this.#unsaved.add(number);
  }

  /** Ascending by number. An entity may be again what it was. */
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
