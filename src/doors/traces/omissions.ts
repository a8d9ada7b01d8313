/**
 * Counts parts that are left out of conversations, by reason.
 *
 * Test: test/doors/traces/messages.test.ts.
 */
/** Reason for messages beyond those read of a call. */
export const OLDER_MESSAGE = 'older message';

/** Reason → number of parts left out. */
export type Omissions = ReadonlyMap<string, number>;

export class OmissionCounts {
  readonly #counts = new Map<string, number>();

  add(reason: string, count = 1): void {
    if (count > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
  }

  addAll(omissions: Omissions): void {
    for (const [reason, count] of omissions) this.add(reason, count);
  }

  has(reason: string): boolean {
    return this.#counts.has(reason);
  }

  /** Sorted by count descending, then by reason. */
  get all(): Omissions {
    return new Map([...this.#counts].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
  }
}
