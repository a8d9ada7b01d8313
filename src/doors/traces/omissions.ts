/** Of a call with more messages than are read. */
export const OLDER_MESSAGE = 'older message';

/** What is left out of a conversation: the reason, and how often. */
export type Omissions = ReadonlyMap<string, number>;

/** Counts omissions by reason. */
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

  /** Most first; equal ones by name. */
  get all(): Omissions {
    return new Map([...this.#counts].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
  }
}
