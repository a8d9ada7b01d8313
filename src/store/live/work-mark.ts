/**
 * The file `IN_WORK` in a shard's folder, in which the worker marks the entries in work. It outlives the process, but
 * not the machine, so it is not synced.
 *
 * Test: test/worker/in-work.test.ts.
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const count = z.number().int().nonnegative();

const shape = z.object({
  /** Revision of the views when the entries were taken up. */
  after: count,
  /** Stream sequence of the last entry; of the last deferred one if there are no others. */
  until: count,
  entries: count,
  /** For deferred entries: the last sequence that was taken up, by instance (UUID). */
  deferred: z.record(z.string(), count).default({}),
  /** Number of processes that took up this entry alone, this one included; 0 if it is not alone. */
  alone: count,
  /** The reason why the process ended, if it could write one; else ''. */
  reason: z.string(),
  /** Processes that the kernel of this machine had killed for lack of memory when this process started. */
  memoryKills: count.default(0),
});

/** The entries that a worker has in work. */
export type WorkMark = z.infer<typeof shape>;

/** Reserved bytes: each rewrite is one write of the same length, and needs no disk space. */
const BYTES = 2048;
const REASON_LENGTH = 500;

/** Writes the mark with each batch; the next process that opens the shard reads it. */
export class WorkMarkFile {
  #descriptor: number | null;
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, 'IN_WORK');
    this.#descriptor = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Null when no entry was in work, or the file cannot be read. */
  read(): WorkMark | null {
    try {
      return shape.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
    } catch {
      return null;
    }
  }

  write(mark: WorkMark | null): void {
    if (this.#descriptor === null) return;
    const reason = (mark?.reason ?? '').replace(/[^\x20-\x7e]+/g, ' ').slice(0, REASON_LENGTH);
    const text = mark === null ? '' : JSON.stringify({ ...mark, reason });
    try {
      writeSync(this.#descriptor, text.padEnd(BYTES), 0, 'utf8');
      ftruncateSync(this.#descriptor, Math.max(BYTES, Buffer.byteLength(text)));
    } catch {
      // The disk is full. Without the mark, it takes more deaths to find an entry that causes them.
    }
  }

  /** Does nothing the second time. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
