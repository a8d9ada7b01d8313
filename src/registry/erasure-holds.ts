/**
 * Who was erased not long ago: what retries, imports or late spans bring of them from before is refused. Covered by
 * test/registry/erasure-ledger.test.ts and test/ingest/acceptor.test.ts.
 */
import type { Erasure, ErasureDigest } from '../domain/erasures.ts';
import type { KeyValueBucket, KeyValueWatch } from '../stream/kv/key-value.ts';

/** So long after an erasure was asked for. */
export const HELD_DAYS = 400;

/** What a request holds of one user; null: of messages that name none. */
export interface SaidBy {
  readonly user: string | null;
  /** The earliest event time that came with a message, microseconds; Infinity: none came. */
  readonly earliest: number;
  /** There are messages without a time of their own: they are said when the request is accepted. */
  readonly untimed: boolean;
}

/** A request, as far as an erasure may refuse it. */
export interface HeldRequest {
  readonly projectId: string;
  /** UUID, lower case; null: it names none, and nothing is known of its session. */
  readonly instanceId: string | null;
  readonly sessionId: string | undefined;
  readonly saidBy: readonly SaidBy[];
  /** Microseconds. */
  readonly acceptedAt: number;
}

/** `before`: when it was asked for, microseconds. */
type Hold = Pick<Erasure, 'kind' | 'digest' | 'instanceId'> & { readonly before: number };

export class ErasureHolds {
  readonly #digest: ErasureDigest;
  readonly #now: () => Date;
  /** By project, then by id. */
  readonly #holds = new Map<string, Map<string, Hold>>();
  readonly #bucket: Pick<KeyValueBucket, 'watch'>;
  #watch: KeyValueWatch;
  #isClosed = false;

  constructor(bucket: Pick<KeyValueBucket, 'watch'>, digest: ErasureDigest, now: () => Date) {
    this.#bucket = bucket;
    this.#digest = digest;
    this.#now = now;
    this.#watch = this.#begin();
  }

  /** Resolves once everything that was there is known. Rejects when closed before. */
  get loaded(): Promise<void> {
    return this.#watch.loaded;
  }

  /** Whether a request brings something from before an erasure. */
  refuses({ projectId, instanceId: given, sessionId, saidBy, acceptedAt }: HeldRequest): boolean {
    const holds = this.#holds.get(projectId);
    if (holds === undefined) return false;
    const since = this.#now().getTime() * 1000 - HELD_DAYS * 86_400_000_000;
    const living = [...holds.values()].filter(
      (hold) => hold.before >= since && (given === null || given === hold.instanceId),
    );
    const isBefore = ({ earliest, untimed }: SaidBy, before: number): boolean =>
      earliest < before || (untimed && acceptedAt < before);
    return living.some(({ kind, digest, before, instanceId }) => {
      const early = saidBy.filter((said) => isBefore(said, before));
      if (early.length === 0) return false;
      if (kind === 'INSTANCE') return given !== null;
      if (kind === 'SESSION')
        return sessionId !== undefined && this.#digest('SESSION', instanceId, sessionId) === digest;
      return early.some(({ user }) => user !== null && this.#digest('END_USER', instanceId, user) === digest);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watch.close();
  }

  #begin(): KeyValueWatch {
    const watch = this.#bucket.watch((key, value) => this.#take(key, value));
    watch.loaded.catch(() => undefined);
    void watch.failed.then(() => {
      void watch.close();
      if (!this.#isClosed) this.#watch = this.#begin();
    });
    return watch;
  }

  #take(key: string, value: string | null): void {
    // Pages of what is to be done have longer keys.
    if (value === null || key.split('.').length !== 2) return;
    const { id, projectId, instanceId, kind, digest, requestedAt } = JSON.parse(value) as Erasure;
    const holds = this.#holds.get(projectId) ?? new Map<string, Hold>();
    holds.set(id, { instanceId, kind, digest, before: Date.parse(requestedAt) * 1000 });
    this.#holds.set(projectId, holds);
  }
}
