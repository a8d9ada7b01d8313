/**
 * Who was erased not long ago: what retries, imports or late spans bring of them from before is refused. Covered by
 * test/stream/ledgers/erasure-ledger.test.ts and test/web/ingest/acceptor.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import type { KeyValueBucket, KeyValueWatch } from '../kv/key-value.ts';

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

/** The erasures of an instance. Times are those at which they were asked for, microseconds. */
interface Held {
  newest: number;
  /** Of the instance as a whole; 0 without. */
  whole: number;
  /** By digest: of sessions and of end users. */
  readonly sessions: Map<string, number>;
  readonly users: Map<string, number>;
}

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

  /** Resolves once everything that was there is known. Rejects when closed before. */
  get loaded(): Promise<void> {
    return this.#watch.loaded;
  }

  /**
   * Whether a request brings something from before an erasure. One digest for its session and one for each user of whom
   * it brings something old, where anything was erased since.
   */
  refuses({ projectId, instanceId: given, sessionId, saidBy, acceptedAt }: HeldRequest): boolean {
    const held = this.#holds.get(projectId);
    if (held === undefined) return false;
    const since = this.#now().getTime() * 1000 - HELD_DAYS * 86_400_000_000;
    const said = saidBy.map(({ user, earliest, untimed }) => ({
      user,
      at: untimed ? Math.min(earliest, acceptedAt) : earliest,
    }));
    const first = said.reduce((least, { at }) => Math.min(least, at), Infinity);
    const isHeld = (before: number | undefined, at: number): boolean =>
      before !== undefined && before >= since && at < before;
    for (const [instanceId, { newest, whole, sessions, users }] of held) {
      if ((given !== null && given !== instanceId) || !isHeld(newest, first)) continue;
      if (given !== null && isHeld(whole, first)) return true;
      if (sessionId !== undefined && sessions.size > 0) {
        if (isHeld(sessions.get(this.#digest('SESSION', instanceId, sessionId)), first)) return true;
      }
      if (users.size === 0) continue;
      for (const { user, at } of said) {
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
    // Pages of what is to be done have longer keys.
    if (value === null || key.split('.').length !== 2) return;
    const { projectId, instanceId, kind, digest, requestedAt } = JSON.parse(value) as Erasure;
    // Who sends a message again sends its request, which is known.
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
