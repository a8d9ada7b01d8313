import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By how much resident memory must have grown since the last collection, bytes. */
const GROWN_BYTES = 128 * 2 ** 20;
/** For how long nothing may have been in work, milliseconds. */
const QUIET_MS = 5000;

/** Collects the garbage of this thread at once; it takes up to a second. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}

export interface IdleCollectionOptions {
  readonly residentBytes: () => number;
  readonly collect: () => void;
  /** Milliseconds. */
  readonly now: () => number;
}

/**
 * Gives back what large requests have left. V8 collects when something allocates, and an idle worker allocates
 * nothing: without this, the garbage of the last batches stays for as long as nothing comes in.
 */
export class IdleCollection {
  readonly #options: IdleCollectionOptions;
  #quietSince: number | null = null;
  #least = 0;

  constructor(options: IdleCollectionOptions) {
    this.#options = options;
  }

  /** Something is in work. */
  busy(): void {
    this.#quietSince = null;
  }

  /** Nothing is in work, or nothing that could not wait for a collection. Call it now and then while that is so. */
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
