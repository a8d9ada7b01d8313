import type { KeyValueBucket } from '../../src/stream/kv/key-value.ts';

/** A bucket in memory that does what the one in NATS promises; watches hear of a change before its write resolves. */
export class MemoryBucket implements KeyValueBucket {
  readonly values = new Map<string, { value: string; revision: number }>();
  readonly #watchers = new Set<(key: string, value: string | null, revision: number) => void>();
  #revision = 0;
  /** Writes that fail, as when the server is away. */
  broken = false;

  async get(key: string): ReturnType<KeyValueBucket['get']> {
    return this.values.get(key) ?? null;
  }

  async create(key: string, value: string): Promise<number | null> {
    return this.values.has(key) ? null : this.#write(key, value);
  }

  async put(key: string, value: string): Promise<number> {
    return this.#write(key, value);
  }

  async update(key: string, value: string, revision: number): Promise<number | null> {
    return this.values.get(key)?.revision === revision ? this.#write(key, value) : null;
  }

  async remove(key: string, revision: number): Promise<boolean> {
    if (this.values.get(key)?.revision !== revision) return false;
    this.values.delete(key);
    this.#tell(key, null, (this.#revision += 1));
    return true;
  }

  async newestRevision(): Promise<number> {
    return this.#revision;
  }

  async hasKeys(pattern: string): Promise<boolean> {
    return (await this.list(pattern)).length > 0;
  }

  async list(pattern: string): Promise<string[]> {
    const parts = pattern.split('.');
    const fits = (key: string): boolean => {
      const given = key.split('.');
      return given.length === parts.length && parts.every((part, at) => part === '*' || part === given[at]);
    };
    return [...this.values]
      .filter(([key]) => fits(key))
      .sort(([, a], [, b]) => a.revision - b.revision)
      .map(([, { value }]) => value);
  }

  watch(onChange: (key: string, value: string | null, revision: number) => void) {
    for (const [key, { value, revision }] of this.values) onChange(key, value, revision);
    this.#watchers.add(onChange);
    return {
      loaded: Promise.resolve(),
      failed: new Promise<unknown>(() => undefined),
      close: async () => void this.#watchers.delete(onChange),
    };
  }

  #write(key: string, value: string): number {
    if (this.broken) throw new Error('the bucket is away');
    const revision = (this.#revision += 1);
    this.values.set(key, { value, revision });
    this.#tell(key, value, revision);
    return revision;
  }

  #tell(key: string, value: string | null, revision: number): void {
    for (const watcher of this.#watchers) watcher(key, value, revision);
  }
}
