/**
 * The ledger of erasures, and the plan of each. It contains digests and numbers, never names.
 *
 * Test: test/stream/ledgers/erasure-ledger.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import type { StreamConnection } from '../connection.ts';
import { openKeyValue, type KeyValueBucket } from '../kv/key-value.ts';
import { ErasureHolds } from './erasure-holds.ts';
import { change, guard, guarded, type GuardedBucket } from './guarded-bucket.ts';

/** Bucket of erasures, which never expire: `<project>.<id>`, and `<project>.<id>.<page>` for the plan of one. */
const ERASURES_BUCKET = 'erasures';

/** All erasures, open and done. Each call throws AppError SERVICE_UNAVAILABLE. */
export class ErasureLedger {
  readonly #bucket: GuardedBucket & Pick<KeyValueBucket, 'list'>;
  readonly #watched: Pick<KeyValueBucket, 'watch'>;

  constructor(bucket: KeyValueBucket) {
    this.#watched = bucket;
    this.#bucket = { ...guarded(bucket), list: (pattern) => guard(() => bucket.list(pattern)) };
  }

  static async open(
    connection: StreamConnection,
    { replicas }: { readonly replicas?: number } = {},
  ): Promise<ErasureLedger> {
    const options = replicas === undefined ? {} : { replicas };
    return new ErasureLedger(await openKeyValue(connection, ERASURES_BUCKET, options));
  }

  /** Opens the erased subjects, kept up to date. The caller must close it. */
  holds(digest: ErasureDigest, now: () => Date = () => new Date()): ErasureHolds {
    return new ErasureHolds(this.#watched, digest, now);
  }

  /** Adds an erasure; an existing one stays as it is. Returns the stored one. */
  async add(erasure: Erasure): Promise<Erasure> {
    const key = keyOf(erasure);
    if ((await this.#bucket.create(key, JSON.stringify(erasure))) !== null) return erasure;
    return (await this.find(erasure.projectId, erasure.id)) ?? erasure;
  }

  /** Null if the project has no erasure with the id. */
  async find(projectId: string, id: string): Promise<Erasure | null> {
    const entry = await this.#bucket.get(keyOf({ projectId, id }));
    return entry === null ? null : (JSON.parse(entry.value) as Erasure);
  }

  /** Erasures of a project, or of all projects, newest first. */
  async list(projectId = '*'): Promise<readonly Erasure[]> {
    const values = await this.#bucket.list(`${projectId}.*`);
    return values
      .map((value) => JSON.parse(value) as Erasure)
      .sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Increases with each change of the ledger; 0: it is empty. */
  async newestRevision(): Promise<number> {
    return this.#bucket.newestRevision('*.*');
  }

  /** Records the position of its record in the stream, unless one is known. Returns the stored erasure. */
  async place(erasure: Erasure, position: number): Promise<Erasure> {
    const placed = await change(this.#bucket, keyOf(erasure), ({ value }) => {
      const kept = JSON.parse(value) as Erasure;
      return kept.position > 0 ? null : JSON.stringify({ ...kept, position });
    });
    if (placed !== null) return JSON.parse(placed.value) as Erasure;
    return (await this.find(erasure.projectId, erasure.id)) ?? { ...erasure, position };
  }

  /** The pages of an erasure's plan; null if it has no complete plan. */
  async plan(erasure: Pick<Erasure, 'projectId' | 'id'>): Promise<string[] | null> {
    const first = await this.#bucket.get(`${keyOf(erasure)}.0`);
    if (first === null) return null;
    const pages: string[] = [];
    for (let page = 1; page <= Number(first.value); page++) {
      const entry = await this.#bucket.get(`${keyOf(erasure)}.${page}`);
      if (entry === null) return null;
      pages.push(entry.value);
    }
    return pages;
  }

  /** Stores the plan of an erasure. It exists once all pages are stored. */
  async keepPlan(erasure: Pick<Erasure, 'projectId' | 'id'>, pages: readonly string[]): Promise<void> {
    for (const [at, page] of pages.entries()) await this.#bucket.put(`${keyOf(erasure)}.${at + 1}`, page);
    await this.#bucket.put(`${keyOf(erasure)}.0`, String(pages.length));
  }

  /** Deletes the plan of a completed erasure. */
  async dropPlan(erasure: Pick<Erasure, 'projectId' | 'id'>): Promise<void> {
    const count = (await this.plan(erasure))?.length ?? -1;
    for (let page = 0; page <= count; page++) {
      const key = `${keyOf(erasure)}.${page}`;
      const entry = await this.#bucket.get(key);
      if (entry !== null) await this.#bucket.remove(key, entry.revision);
    }
  }

  /** Records the progress of an erasure. */
  async change(
    erasure: Pick<Erasure, 'projectId' | 'id'>,
    changes: Partial<Pick<Erasure, 'state' | 'redactedAt' | 'doneAt' | 'receipt' | 'fault'>>,
  ): Promise<void> {
    await change(this.#bucket, keyOf(erasure), ({ value }) =>
      JSON.stringify({ ...(JSON.parse(value) as Erasure), ...changes }),
    );
  }
}

function keyOf({ projectId, id }: Pick<Erasure, 'projectId' | 'id'>): string {
  return `${projectId}.${id}`;
}
