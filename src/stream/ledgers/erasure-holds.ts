/**
 * Refuses requests (retries, imports, late spans) that bring data of an erased subject from before the erasure.
 *
 * Test: test/stream/ledgers/erasure-ledger.test.ts, test/web/ingest/acceptor.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import type { KeyValueBucket, KeyValueWatch } from '../kv/key-value.ts';

/** Days after its request for which an erasure refuses older data. */
export const HELD_DAYS = 400;

/** The messages of one user in a request; `user` is null for messages that name none. */
export interface RequestAuthor {
  readonly user: string | null;
  /** Earliest event time of these messages, microseconds; Infinity: none has one. */
  readonly earliest: number;
  /** True if messages lack an event time: then the time of acceptance counts. */
  readonly untimed: boolean;
}

/** The part of a request that decides whether an erasure refuses it. */
export interface HeldRequest {
  readonly projectId: string;
  /** UUID, lower case; null: the request names none, and its session is unknown. */
  readonly instanceId: string | null;
  readonly sessionId: string | undefined;
  readonly authors: readonly RequestAuthor[];
  /** Microseconds since 1970-01-01 UTC. */
  readonly acceptedAt: number;
}

/** The erasures of an instance. Times are those of their requests, microseconds. */
interface Held {
  newest: number;
  /** Erasure of the whole instance; 0 if there is none. */
  whole: number;
  /** Erasures of sessions and of end users, by digest. */
  readonly sessions: Map<string, number>;
  readonly users: Map<string, number>;
}

/** The recent erasures of all projects, kept up to date by a watch. The caller closes it. */
export class ErasureHolds {
  readonly #digest: ErasureDigest;
  readonly #now: () => Date;
  /** By project, then by instance. */
  readonly #holds = new Map<string, Map<string, Held>>();
  readonly #bucket: Pick<KeyValueBucket, 'watch'>;
  #watch: KeyValueWatch;
  #isClosed = false;

  constructor(bucket: Pick<KeyValueBucket, 'watch'>, digest: ErasureDigest, now: () => Date) {
    this.#bucket = bucket;
    this.#digest = digest;
    this.#now = now;
    this.#watch = this.#begin();
  }

  /** Resolves once all existing erasures are known. Rejects when closed before. */
  get loaded(): Promise<void> {
    return this.#watch.loaded;
  }

  /**
   * Returns true if a request brings data from before an erasure. Computes a digest of its session and of each user
   * with old messages, only where an erasure may apply.
   */
  refuses({ projectId, instanceId: given, sessionId, authors, acceptedAt }: HeldRequest): boolean {
    const held = this.#holds.get(projectId);
    if (held === undefined) return false;
    const since = this.#now().getTime() * 1000 - HELD_DAYS * 86_400_000_000;
    const timed = authors.map(({ user, earliest, untimed }) => ({
      user,
      at: untimed ? Math.min(earliest, acceptedAt) : earliest,
    }));
    const first = timed.reduce((least, { at }) => Math.min(least, at), Infinity);
    const isHeld = (before: number | undefined, at: number): boolean =>
      before !== undefined && before >= since && at < before;
    for (const [instanceId, { newest, whole, sessions, users }] of held) {
      if ((given !== null && given !== instanceId) || !isHeld(newest, first)) continue;
      if (given !== null && isHeld(whole, first)) return true;
      if (sessionId !== undefined && sessions.size > 0) {
        if (isHeld(sessions.get(this.#digest('SESSION', instanceId, sessionId)), first)) return true;
      }
      if (users.size === 0) continue;
      for (const { user, at } of timed) {
        if (user === null || !isHeld(newest, at)) continue;
        if (isHeld(users.get(this.#digest('END_USER', instanceId, user)), at)) return true;
      }
    }
    return false;
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
    // Keys of plan pages have more parts.
    if (value === null || key.split('.').length !== 2) return;
    const { projectId, instanceId, kind, digest, requestedAt } = JSON.parse(value) as Erasure;
    // Single messages come again only as a repeat of their request, which is recognised as such.
    if (kind === 'MESSAGES') return;
    const before = Date.parse(requestedAt) * 1000;
    const ofProject = this.#holds.get(projectId) ?? new Map<string, Held>();
    this.#holds.set(projectId, ofProject);
    const held = ofProject.get(instanceId) ?? { newest: 0, whole: 0, sessions: new Map(), users: new Map() };
    ofProject.set(instanceId, held);
    held.newest = Math.max(held.newest, before);
    if (kind === 'INSTANCE') held.whole = Math.max(held.whole, before);
    else {
      const digests = kind === 'SESSION' ? held.sessions : held.users;
      digests.set(digest, Math.max(digests.get(digest) ?? 0, before));
    }
  }
}
