import type { Logger } from '../logger.ts';
import type { WorkMark, WorkMarkFile } from '../store/live/work-mark.ts';

/** After so many processes died while they worked on one entry alone, the next one dead-letters it. */
const DEATHS_ALONE = 3;
/** A larger batch, of which a process died, is taken up in parts of so many entries, then in single ones. */
const PART = 100;

export type WorkMarks = Pick<WorkMarkFile, 'read' | 'write'>;

/**
 * Finds the entry at which the process dies, whatever the reason: a mark on disk tells the next process what was in
 * work. It takes that up in parts, then entry by entry; an entry that several processes died of, alone, is
 * dead-lettered unread. So a worker dies at most five times of such an entry.
 */
export class InWork {
  readonly #marks: WorkMarks;
  /** What the process before died of; null when it ended in order, or had made progress since it took that up. */
  readonly #suspected: WorkMark | null;
  /** Sequences of the entries in work. */
  #entries: number[] = [];
  #position: number;
  #mark: WorkMark | null = null;

  constructor(marks: WorkMarks, position: number, logger: Logger) {
    this.#marks = marks;
    this.#position = position;
    const mark = marks.read();
    this.#suspected = mark?.after === position ? mark : null;
    if (mark === null || mark.after !== position) return;
    const { until, entries, reason } = mark;
    logger.warn(
      { event: 'entries_suspected', after: position, until, entries, reason },
      'the last process ended while it worked on these entries: this one takes them up in smaller parts',
    );
  }

  /** Most entries that may be taken up together; Infinity: as many as there are. */
  get limit(): number {
    if (this.#suspected === null || this.#position >= this.#suspected.until) return Infinity;
    return this.#suspected.entries > PART ? PART : 1;
  }

  /** Notes that entries are taken up. */
  begin(sequences: readonly number[]): void {
    this.#entries.push(...sequences);
    this.#write();
  }

  /** Notes that entries that were taken up wait after all. */
  leave(sequences: readonly number[]): void {
    const left = new Set(sequences);
    this.#entries = this.#entries.filter((sequence) => !left.has(sequence));
    this.#write();
  }

  /** Why an entry that was taken up must be dead-lettered unread; null: the worker processes it. */
  verdict(sequence: number): string | null {
    const { until, entries, alone, reason } = this.#suspected ?? {
      until: 0,
      entries: 0,
      alone: 0,
      reason: '',
    };
    if (until !== sequence || entries !== 1 || alone < DEATHS_ALONE) return null;
    const last = reason === '' ? '' : `; the last time: ${reason}`;
    return `the worker ended ${alone} times while it worked on this entry alone${last}`;
  }

  /** Notes that the views have moved on. */
  moved(position: number): void {
    this.#position = position;
    this.#entries = this.#entries.filter((sequence) => sequence > position);
    this.#write();
  }

  /** The process ends, and the entries may be why. */
  failed(reason: string): void {
    if (this.#mark !== null) this.#marks.write({ ...this.#mark, reason });
  }

  /** Nothing is in work any more, or what ends the process has nothing to do with it. */
  end(): void {
    this.#entries = [];
    this.#write();
  }

  #write(): void {
    const until = this.#entries.at(-1);
    const mark = until === undefined ? null : this.#markOf(until);
    if (mark !== null || this.#mark !== null) this.#marks.write(mark);
    this.#mark = mark;
  }

  #markOf(until: number): WorkMark {
    const [after, entries, suspected] = [this.#position, this.#entries.length, this.#suspected];
    const before = suspected?.after === after && suspected.entries === 1 ? suspected.alone : 0;
    return { after, until, entries, alone: entries === 1 ? before + 1 : 0, reason: '' };
  }
}
