/**
 * A reader for each shard of the active views. A reader of one division into shards never reads the files of another,
 * as it would miss instances.
 *
 * Test: test/store/published/shard-readers.test.ts.
 */
import { AppError, unavailable } from '../../errors.ts';
import { hasViews, readActiveEpoch, shardDirectory } from '../epochs/epochs.ts';
import type { SnapshotReader } from './snapshot-reader.ts';

export interface ShardReadersOptions {
  readonly dataDir: string;
  /** Number of shards before there are views. */
  readonly shards: number;
  /** Returns the shard of an instance (UUID) among `shards`. */
  readonly shardOf: (instanceId: string, shards: number) => number;
  /** Opens a reader. It asks for the folder at each use; null: it keeps the last one. */
  readonly open: (directory: () => string | null) => Promise<SnapshotReader>;
  readonly onError: (error: unknown) => void;
}

const LOOK_MS = 250;

/** A reader for each shard of the active views; a rebuild may change their number while queries run. */
export class ShardReaders {
  readonly #options: ShardReadersOptions;
  readonly #divisions = new Map<number, readonly SnapshotReader[]>();
  readonly #timer: NodeJS.Timeout;
  #opening: Promise<void> | null = null;

  private constructor(options: ShardReadersOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      if (this.#divisions.has(this.#shards()) || this.#opening !== null) return;
      this.#opening = this.#open()
        .catch(options.onError)
        .finally(() => {
          this.#opening = null;
        });
    }, LOOK_MS);
  }

  static async open(options: ShardReadersOptions): Promise<ShardReaders> {
    const readers = new ShardReaders(options);
    await readers.#open();
    return readers;
  }

  /**
   * The reader of an instance (UUID).
   *
   * @throws AppError SERVICE_UNAVAILABLE just after the number of shards changed: an answer from another division could
   * miss instances
   */
  readerOf(instanceId: string): SnapshotReader {
    const shards = this.#shards();
    const reader = this.#divisions.get(shards)?.[this.#options.shardOf(instanceId, shards)];
    if (reader !== undefined) return reader;
    throw unavailable('The number of shards has just changed. Try again in a moment.');
  }

  /**
   * The reason why the active views cannot be read yet; null once every shard has something to read. Later faults are
   * left to the answers of queries.
   */
  async whyNotReady(): Promise<string | null> {
    const readers = this.#divisions.get(this.#shards());
    if (readers === undefined) return 'are being opened';
    const published = await Promise.all(
      readers.map((reader) =>
        reader.hasManifest().catch((error: unknown) => {
          if (error instanceof AppError) return true;
          throw error;
        }),
      ),
    );
    return published.every(Boolean) ? null : 'are not there yet: no worker has published them';
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#opening;
    await Promise.all([...this.#divisions.values()].flat().map((reader) => reader.close()));
  }

  #shards(): number {
    return readActiveEpoch(this.#options.dataDir)?.shards ?? this.#options.shards;
  }

  async #open(): Promise<void> {
    const { dataDir, open } = this.#options;
    const shards = this.#shards();
    const readers: SnapshotReader[] = [];
    for (let shard = 0; shard < shards; shard++) {
      const reader = await open(() => {
        const active = readActiveEpoch(dataDir);
        if (active === null && hasViews(dataDir)) throw activeLost();
        return active?.shards === shards ? shardDirectory(dataDir, active.epoch, shard) : null;
      });
      readers.push(reader);
    }
    this.#divisions.set(shards, readers);
  }
}

/** An error is better than an incomplete answer. */
function activeLost(): AppError {
  return unavailable('The file views/ACTIVE is damaged; the worker restores it. Try again in a moment.');
}
