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
  /** Somebody has to look whether entries between the waiting ones were redacted. */
  #isUnknown = false;

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

  /** Whether everything has been given that was taken from the reader. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * As `LogReader.take`. An entry is redacted by one that stands behind it in its partition, so nothing is redacted
   * behind the newest.
   */
  async take(options: TakeOptions): Promise<Delivered[]> {
    if (this.#waiting.length === 0) {
      this.#waiting = await this.#reader.take(options);
      this.#isUnknown = hasGap(this.#position, this.#waiting);
    }
    // Other entries may have been redacted since somebody looked: they were not there to be taken.
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

/** Whether a sequence is left out behind a position. Where not all partitions are read, most often one is. */
function hasGap(after: number, entries: readonly Delivered[]): boolean {
  let before = after;
  for (const { sequence } of entries) {
    if (sequence > before + 1) return true;
    before = sequence;
  }
  return false;
}
