/** Covered by test/worker/in-work.test.ts. */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const count = z.number().int().nonnegative();

const shape = z.object({
  /** Revision of the views when the entries were taken up. */
  after: count,
  /** Stream sequence of the last of them; of those that had been deferred when there are no others. */
  until: count,
  entries: count,
  /** Of those that had been deferred: up to which sequence they were taken up, by instance (UUID). */
  deferred: z.record(z.string(), count).default({}),
  /** How many processes have taken up this entry alone, this one included; 0 when it is not alone. */
  alone: count,
  /** Why the process ended, when it could still tell; else ''. */
  reason: z.string(),
  /** How many processes the kernel had killed for want of memory, on this machine, when this one started. */
  memoryKills: count.default(0),
});

/** The entries that a worker has in work. */
export type WorkMark = z.infer<typeof shape>;

/** Reserved for a mark, so that rewriting it is one write of the same length and needs no room on the disk. */
const BYTES = 2048;
const REASON_LENGTH = 500;

/**
 * `IN_WORK` in a shard's folder: what its worker has in work, rewritten with each batch. Whoever opens the shard
 * after a process that died finds it there. It is not synced: it has to outlive the process, not the machine.
 */
export class WorkMarkFile {
  #descriptor: number | null;
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, 'IN_WORK');
    this.#descriptor = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Null when nothing was in work, or what is there cannot be read. */
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
      // A full disk: without the mark it takes more deaths to find an entry that causes them.
    }
  }

  /** Does nothing the second time. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
