/** Covered by test/stream/log/redacted-entries.test.ts. */
import type { Delivered } from './delivered.ts';
import type { TakeOptions } from './log-reader.ts';
import type { RedactedEntries } from './redacted-entries.ts';

/** Gives entries in order, or none for now. */
interface Reader {
  take(options: TakeOptions): Promise<readonly Delivered[]>;
}

/** The entries of a reader, with those that were redacted where they stood. */
export class WithRedacted {
  readonly #reader: Reader;
  readonly #redacted: RedactedEntries;
  readonly #partitions: ReadonlySet<number>;
  #position: number;
  /** Taken from the reader, and not given yet. */
  #waiting: readonly Delivered[] = [];

  /** Of these partitions, behind the sequence `after`. */
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

  /** Sequence of the last entry given. */
  get position(): number {
    return this.#position;
  }

  /**
   * As `LogReader.take`. An entry is redacted by one that stands behind it in its partition, so nothing is redacted
   * behind the newest.
   */
  async take(options: TakeOptions): Promise<Delivered[]> {
    if (this.#waiting.length === 0) this.#waiting = await this.#reader.take(options);
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
