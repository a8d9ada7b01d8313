/**
 * Finds the entry at which the process dies, whatever the reason. A worker dies at most five times of such an entry.
 *
 * Test: test/worker/in-work.test.ts.
 */
import { readFileSync } from 'node:fs';
import type { Logger } from '../logger.ts';
import type { WorkMark, WorkMarkFile } from '../store/live/work-mark.ts';

/** After this many processes died while they worked on one entry alone, the next one dead-letters it. */
const DEATHS_ALONE = 3;
/** Entries in each part of a larger batch in which a process died; after that, it takes single ones. */
const PART = 100;

export type WorkMarks = Pick<WorkMarkFile, 'read' | 'write'>;

/** The position of the views. */
export interface Progress {
  /** Stream sequence up to which entries are applied or deferred. */
  readonly sequence: number;
  /** Increases with every commit. */
  readonly revision: number;
}

/** An entry in work. */
export interface Piece {
  readonly sequence: number;
  /** The instance (UUID) for which the entry was deferred; left out: the entry comes from the end of the stream. */
  readonly instanceId?: string;
}

/**
 * A mark on disk tells the next process which entries were in work. It takes them up in parts, then one by one; an
 * entry alone in work at several deaths is dead-lettered unread. A death does not count if the kernel killed a process
 * for lack of memory since the mark: the entry may need no more memory than usual.
 */
export class InWork {
  readonly #marks: WorkMarks;
  readonly #memoryKills: number;
  /** The entries in work at the last death; null when the process ended in order, or the views advanced since. */
  readonly #suspected: WorkMark | null;
  /** Suspected deferred entries that were not taken up again: the last sequence by instance. */
  readonly #suspectedDeferred: Map<string, number>;
  #pieces: Piece[] = [];
  #progress: Progress;
  #mark: WorkMark | null = null;

  constructor(marks: WorkMarks, progress: Progress, logger: Logger, memoryKills = readMemoryKills()) {
    this.#marks = marks;
    this.#progress = { sequence: progress.sequence, revision: progress.revision };
    this.#memoryKills = memoryKills;
    const mark = marks.read();
    const wasKilled = mark !== null && memoryKills > mark.memoryKills;
    this.#suspected = mark?.after === progress.revision ? (wasKilled ? withoutLast(mark) : mark) : null;
    this.#suspectedDeferred = new Map(Object.entries(this.#suspected?.deferred ?? {}));
    if (mark === null || this.#suspected === null) return;
    const { until, entries, reason } = mark;
    logger.warn(
      { event: 'entries_suspected', after: progress.sequence, until, entries, wasKilled, reason },
      'the last process ended while it worked on these entries: this one takes them up in smaller parts',
    );
  }

  /** Most entries to take up together; Infinity for no limit. */
  get limit(): number {
    if (this.#suspected === null) return Infinity;
    if (this.deferred === null && this.#progress.sequence >= this.#suspected.until) return Infinity;
    return this.#suspected.entries > PART ? PART : 1;
  }

  /** The instance whose deferred entries, up to a sequence, come before all others; null if there is none. */
  get deferred(): { readonly instanceId: string; readonly until: number } | null {
    const [first] = this.#suspectedDeferred;
    return first === undefined ? null : { instanceId: first[0], until: first[1] };
  }

  /** Reports that no suspected entry of an instance is deferred any more. */
  passed(instanceId: string): void {
    this.#suspectedDeferred.delete(instanceId);
  }

  /** Notes that entries are taken up. */
  begin(pieces: readonly Piece[]): void {
    this.#pieces.push(...pieces);
    this.#write();
  }

  /** Notes that entries from the end of the stream, which were taken up, wait after all. */
  leave(sequences: readonly number[]): void {
    const left = new Set(sequences);
    this.#pieces = this.#pieces.filter(
      ({ sequence, instanceId }) => instanceId !== undefined || !left.has(sequence),
    );
    this.#write();
  }

  /** The reason to dead-letter an entry unread; null if the worker processes it. */
  verdict(sequence: number): string | null {
    if (this.#suspected === null) return null;
    const { until, entries, alone, reason } = this.#suspected;
    if (until !== sequence || entries !== 1 || alone < DEATHS_ALONE) return null;
    const last = reason === '' ? '' : `; the last time: ${reason}`;
    return `the worker ended ${alone} times while it worked on this entry alone${last}`;
  }

  /** Notes that the views advanced. `done`: deferred entries that were applied. */
  moved(progress: Progress, done: readonly Piece[] = []): void {
    const { sequence, revision } = progress;
    this.#progress = { sequence, revision };
    const applied = new Set(done.map(keyOf));
    this.#pieces = this.#pieces.filter((piece) =>
      piece.instanceId === undefined ? piece.sequence > sequence : !applied.delete(keyOf(piece)),
    );
    this.#write();
  }

  /** Notes that the process ends, perhaps because of the entries in work. */
  failed(reason: string): void {
    if (this.#mark !== null) this.#marks.write({ ...this.#mark, reason });
  }

  /** Notes that no entry is in work, or that the process ends for another reason. */
  end(): void {
    this.#pieces = [];
    this.#write();
  }

  #write(): void {
    const mark = this.#pieces.length === 0 ? null : this.#markOf(this.#pieces);
    if (mark !== null || this.#mark !== null) this.#marks.write(mark);
    this.#mark = mark;
  }

  #markOf(pieces: readonly Piece[]): WorkMark {
    const [{ revision: after }, suspected] = [this.#progress, this.#suspected];
    const before = suspected?.after === after && suspected.entries === 1 ? suspected.alone : 0;
    const deferred: Record<string, number> = {};
    let [newest, until] = [0, 0];
    for (const { sequence, instanceId } of pieces) {
      if (instanceId === undefined) until = Math.max(until, sequence);
      else {
        deferred[instanceId] = sequence;
        newest = Math.max(newest, sequence);
      }
    }
    const entries = pieces.length;
    return {
      after,
      until: until === 0 ? newest : until,
      entries,
      deferred,
      alone: entries === 1 ? before + 1 : 0,
      reason: '',
      memoryKills: this.#memoryKills,
    };
  }
}

/** Takes back the last death. */
function withoutLast(mark: WorkMark): WorkMark {
  return { ...mark, alone: Math.max(0, mark.alone - 1) };
}

/** Number of processes that the kernel killed for lack of memory since the machine started; 0 if unknown. */
function readMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function keyOf({ sequence, instanceId }: Piece): string {
  return `${sequence} ${instanceId}`;
}
