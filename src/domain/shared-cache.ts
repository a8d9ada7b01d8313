/**
 * A size-bounded cache that several callers (projects) share. When the sizes exceed the bound, the caller with the
 * largest share loses its least recently used values.
 *
 * Test: test/domain/shared-cache.test.ts.
 */

/** Values by caller and name; their sizes sum to `most` at most. */
export class SharedCache<Value> {
  readonly #most: number;
  /** Names of each caller in order of use, oldest first. */
  readonly #callers = new Map<string, { size: number; readonly kept: Map<string, Kept<Value>> }>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Sum of the sizes of all values. */
  get size(): number {
    return this.#size;
  }

  get(caller: string, name: string): Value | undefined {
    const kept = this.#callers.get(caller)?.kept;
    const known = kept?.get(name);
    if (kept === undefined || known === undefined) return undefined;
    kept.delete(name);
    kept.set(name, known);
    return known.value;
  }

  /** Replaces any value of that name. */
  set(caller: string, name: string, value: Value, size = 1): void {
    this.delete(caller, name);
    const own = this.#callers.get(caller) ?? { size: 0, kept: new Map<string, Kept<Value>>() };
    this.#callers.set(caller, own);
    own.kept.set(name, { value, size });
    own.size += size;
    this.#size += size;
    while (this.#size > this.#most) {
      const [largest, { kept: ofLargest }] = [...this.#callers].reduce((most, one) =>
        one[1].size > most[1].size ? one : most,
      );
      const [oldest] = ofLargest.keys();
      this.delete(largest, oldest!);
    }
  }

  delete(caller: string, name: string): void {
    const own = this.#callers.get(caller);
    const known = own?.kept.get(name);
    if (own === undefined || known === undefined) return;
    own.kept.delete(name);
    own.size -= known.size;
    this.#size -= known.size;
    if (own.kept.size === 0) this.#callers.delete(caller);
  }

  *[Symbol.iterator](): Generator<readonly [caller: string, name: string, value: Value]> {
    for (const [caller, { kept }] of this.#callers)
      for (const [name, { value }] of kept) yield [caller, name, value];
  }
}

interface Kept<Value> {
  readonly value: Value;
  readonly size: number;
}
