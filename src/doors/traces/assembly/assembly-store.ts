/**
 * A bucket, decoded and held in memory. Keeps the invariant that a write changes only what was read before. Test:
 * test/doors/traces/assembly/laws.test.ts, assembler.test.ts.
 */
import { LRUCache } from 'lru-cache';
import type { KeyValueBucket } from '../../../stream/kv/key-value.ts';

/** Somebody else wrote a key that this process had read: another assembler runs. */
class OutrunError extends Error {
  constructor(key: string) {
    super(`another process has changed ${key}`);
    this.name = 'OutrunError';
  }
}

/** How values are written and read. */
export interface Codec<Value> {
  readonly encode: (value: Value) => string;
  readonly decode: (text: string) => Value;
  /** What a value takes in memory, bytes, about. */
  readonly weigh: (value: Value) => number;
}

/** A value as it was read or written last; null: there is none. */
interface Known<Value> {
  readonly value: Value | null;
  readonly revision: number;
}

/** What a key takes in memory besides its value. */
const OVERHEAD_BYTES = 300;

/** What is in a bucket, decoded; null: nothing. Kept in memory until it was not used for long. */
export class CachedBucket<Value> {
  readonly #bucket: Pick<KeyValueBucket, 'get' | 'create' | 'update'>;
  readonly #codec: Codec<Value>;
  readonly #cached: LRUCache<string, Known<Value>>;

  /** Read or written in this round: what a write compares. */
  readonly #pinned = new Map<string, Known<Value>>();

  constructor(
    bucket: Pick<KeyValueBucket, 'get' | 'create' | 'update'>,
    codec: Codec<Value>,
    maxBytes: number,
  ) {
    this.#bucket = bucket;
    this.#codec = codec;
    this.#cached = new LRUCache({ maxSize: maxBytes });
  }

  async get(key: string): Promise<Value | null> {
    const cached = this.#pinned.get(key) ?? this.#cached.get(key);
    if (cached !== undefined) {
      this.#pinned.set(key, cached);
      return cached.value;
    }
    const entry = await this.#bucket.get(key);
    const found =
      entry === null
        ? { value: null, revision: 0 }
        : { value: this.#codec.decode(entry.value), revision: entry.revision };
    this.#keep(key, found);
    return found.value;
  }

  /** Writes what was read with `get` before. Throws OutrunError when somebody else has written it meanwhile. */
  async put(key: string, value: Value): Promise<void> {
    const known = this.#pinned.get(key) ?? this.#cached.get(key);
    const text = this.#codec.encode(value);
    // The answer to an earlier write may have been lost: then the server knows more than we do.
    this.#cached.delete(key);
    this.#pinned.delete(key);
    const revision =
      known === undefined || known.revision === 0
        ? await this.#bucket.create(key, text)
        : await this.#bucket.update(key, text, known.revision);
    if (revision === null) throw new OutrunError(key);
    this.#keep(key, { value, revision });
  }

  #keep(key: string, known: Known<Value>): void {
    const { value } = known;
    this.#pinned.set(key, known);
    this.#cached.set(key, known, {
      size: OVERHEAD_BYTES + (value === null ? 0 : Math.ceil(this.#codec.weigh(value))),
    });
  }

  /** What was read or written needs no longer stay in memory. */
  release(): void {
    this.#pinned.clear();
  }

  /** Nothing that is in memory is trusted any more. */
  clear(): void {
    this.#pinned.clear();
    this.#cached.clear();
  }
}
