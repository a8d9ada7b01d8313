/**
 * Tracks when each key was last used, exact to about a minute. Writes happen outside of requests, and failed writes are
 * retried.
 *
 * Test: test/web/registry/key-use.test.ts.
 */

/** Minimum interval between writes of a key's last use, for each process. */
const WRITE_EVERY_MS = 60_000;
/** Interval of checking for unwritten uses. */
const LOOK_EVERY_MS = 1000;

export interface KeyUseOptions {
  /** Stores when a key was last used (ISO 8601). */
  readonly write: (digest: string, at: string) => Promise<unknown>;
  readonly now: () => Date;
}

export class KeyUse {
  readonly #options: KeyUseOptions;
  /** Unwritten uses, milliseconds. */
  readonly #noted = new Map<string, number>();
  /** Latest written use by any process, milliseconds. */
  readonly #written = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: KeyUseOptions) {
    this.#options = options;
  }

  note(digest: string): void {
    this.#noted.set(digest, this.#options.now().getTime());
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Call when the watch delivers a write of any process. */
  written(digest: string, at: string): void {
    const time = Date.parse(at);
    if (time > (this.#written.get(digest) ?? -Infinity)) this.#written.set(digest, time);
  }

  /** ISO 8601; null for a key that was never used. */
  lastUsedAt(digest: string): string | null {
    const time = Math.max(this.#noted.get(digest) ?? -Infinity, this.#written.get(digest) ?? -Infinity);
    return Number.isFinite(time) ? new Date(time).toISOString() : null;
  }

  /** Tries to write all uses. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#write(-Infinity);
  }

  async #look(): Promise<void> {
    await this.#write(WRITE_EVERY_MS);
    this.#timer = this.#noted.size === 0 ? null : setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Writes the uses of keys that were last written at least `afterMs` ago. */
  async #write(afterMs: number): Promise<void> {
    for (const [digest, at] of this.#noted) {
      const written = this.#written.get(digest) ?? -Infinity;
      if (this.#options.now().getTime() - written < afterMs) continue;
      try {
        if (at > written) await this.#options.write(digest, new Date(at).toISOString());
      } catch {
        return;
      }
      this.#written.set(digest, Math.max(at, written));
      if (this.#noted.get(digest) === at) this.#noted.delete(digest);
    }
  }
}
