/**
 * Collects garbage while a process is idle. Runs only after 5 s without work, so that a collection seldom delays any.
 *
 * Test: test/reader/threads/idle-collection.test.ts.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth of resident memory since the last collection that makes another one worthwhile, bytes. */
const GROWN_BYTES = 128 * 2 ** 20;
/** Time without work before a collection, milliseconds. */
const QUIET_MS = 5000;

/** Collects the garbage of this thread synchronously; takes up to a second. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

export interface IdleCollectionOptions {
  readonly residentBytes: () => number;
  readonly collect: () => void;
  /** A monotonic clock, milliseconds. */
  readonly now: () => number;
}

/**
 * Returns memory that large requests leave behind. V8 collects only when something allocates, and an idle worker
 * allocates nothing: without this, the garbage of the last batches stays until new work arrives.
 */
export class IdleCollection {
  readonly #options: IdleCollectionOptions;
  #quietSince: number | null = null;
  #least = 0;

  constructor(options: IdleCollectionOptions) {
    this.#options = options;
  }

  /** Call when work starts. */
  busy(): void {
    this.#quietSince = null;
  }

  /** Call every now and then while there is no work, or none that a collection would delay. */
  idle(): void {
    const { residentBytes, collect, now } = this.#options;
    this.#quietSince ??= now();
    if (now() - this.#quietSince < QUIET_MS) return;
    const resident = residentBytes();
    if (resident <= this.#least + GROWN_BYTES) {
      this.#least = Math.min(this.#least, resident);
      return;
    }
    this.#least = resident;
    collect();
  }
}
