/** A key's last use is written at most this often by each process. */
const WRITE_EVERY_MS = 60_000;
/** What was noted is looked through this often. */
const LOOK_EVERY_MS = 1000;

export interface KeyUseOptions {
  /** Stores when a key was last used (ISO 8601). */
  readonly write: (digest: string, at: string) => Promise<unknown>;
  readonly now: () => Date;
}

/**
 * When each key was last used, exact to about a minute. `note` writes nothing: writing is done apart from any
 * request, and a failed write is tried again.
 */
export class KeyUse {
  readonly #options: KeyUseOptions;
  /** Uses that nobody has written, milliseconds. */
  readonly #noted = new Map<string, number>();
  /** Milliseconds; by this process or another. */
  readonly #written = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: KeyUseOptions) {
    this.#options = options;
  }

  note(digest: string): void {
    this.#noted.set(digest, this.#options.now().getTime());
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Takes what some process wrote. */
  written(digest: string, at: string): void {
    const time = Date.parse(at);
    if (time > (this.#written.get(digest) ?? -Infinity)) this.#written.set(digest, time);
  }

  /** ISO 8601; null when it was never used. */
  lastUsedAt(digest: string): string | null {
    const time = Math.max(this.#noted.get(digest) ?? -Infinity, this.#written.get(digest) ?? -Infinity);
    return Number.isFinite(time) ? new Date(time).toISOString() : null;
  }

  /** Writes what is noted, as far as it can be written. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#write(-Infinity);
  }

  async #look(): Promise<void> {
    await this.#write(WRITE_EVERY_MS);
    this.#timer = this.#noted.size === 0 ? null : setTimeout(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Writes the uses of keys whose last write is so long ago. */
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
