/**
 * Merges redacted entries into the entries of a reader, in stream order.
 *
 * Test: test/stream/log/redacted-entries.test.ts.
 */
import type { Delivered } from './delivered.ts';
import type { TakeOptions } from './log-reader.ts';
import type { RedactedEntries } from './redacted-entries.ts';

/** Returns entries in order, or none for now. */
interface Reader {
  take(options: TakeOptions): Promise<readonly Delivered[]>;
}

/** The entries of a reader, with redacted ones in their places. */
export class WithRedacted {
  readonly #reader: Reader;
  readonly #redacted: RedactedEntries;
  readonly #partitions: ReadonlySet<number>;
  #position: number;
  /** Entries taken from the reader and not returned yet. */
  #waiting: readonly Delivered[] = [];
  /** True if entries between the waiting ones may have been redacted since the last refresh. */
  #isUnknown = false;

  /** Reads these partitions, after the sequence `after`. */
  constructor(
    reader: Reader,
    redacted: RedactedEntries,
    { partitions, after }: { readonly partitions: readonly number[]; readonly after: number },
  ) {
    this.#reader = reader;
    this.#redacted = redacted;
    this.#partitions = new Set(partitions);
    this.#position = after;
  }

  /** Sequence of the last returned entry. */
  get position(): number {
    return this.#position;
  }

  /** True if all entries taken from the reader were returned. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Like `LogReader.take`. The entry that redacts another comes after it in the same partition, so no redacted entry
   * follows the newest.
   */
  async take(options: TakeOptions): Promise<Delivered[]> {
    if (this.#waiting.length === 0) {
      this.#waiting = await this.#reader.take(options);
      this.#isUnknown = hasGap(this.#position, this.#waiting);
    }
    // An entry may have been redacted since the last refresh, and then the reader omits it.
    if (this.#isUnknown && !(await this.#redacted.refresh())) return [];
    this.#isUnknown = false;
    const given: Delivered[] = [];
    let bytes = 0;
    let taken = 0;
    while (taken < this.#waiting.length && given.length < options.maxMessages) {
      const next = this.#waiting[taken]!;
      const before = this.#redacted.firstBetween(this.#position, next.sequence + 1, this.#partitions);
      const entry = before === null ? next : await this.#redacted.read(before);
      const size = entry?.bytes.length ?? 0;
      if (given.length > 0 && bytes + size > options.maxBytes) break;
      if (entry !== null) given.push(entry);
      bytes += size;
      this.#position = before ?? next.sequence;
      if (this.#position === next.sequence) taken += 1;
    }
    this.#waiting = this.#waiting.slice(taken);
    return given;
  }
}

/** Returns true if a sequence is missing after a position. That is the normal case when not all partitions are read. */
function hasGap(after: number, entries: readonly Delivered[]): boolean {
  let before = after;
  for (const { sequence } of entries) {
    if (sequence > before + 1) return true;
    before = sequence;
  }
  return false;
}
