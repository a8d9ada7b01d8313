/**
 * Which number a masked value has among those of its kind in its session: the same in every process, and in every retry.
 * Bucket `masks` holds keyed digests of values, never values. Covered by test/ingest/mask-numbers.test.ts.
 */
import { LRUCache } from 'lru-cache';
import type { MaskedKind } from '../domain/placeholders.ts';
import { guarded, type GuardedBucket } from '../registry/guarded-bucket.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openKeyValue } from '../stream/kv/key-value.ts';

/** So long after its last new value, a session begins to count again. */
export const MASKS_TTL_MS = 30 * 24 * 3600 * 1000;
/** Values of one session that are counted; those behind them are masked without a number. */
const MOST_VALUES = 2000;
/** Values of all sessions that a process keeps: about 100 bytes each. */
const KEPT_VALUES = 200_000;

export interface DigestedValue {
  readonly kind: MaskedKind;
  /** Keyed: tells nothing of the value. */
  readonly digest: string;
}

/** The values of a session, in order of their numbers, as stored. */
type StoredSession = Partial<Record<MaskedKind, readonly string[]>>;

interface Session {
  /** By kind and digest. */
  readonly numbers: Map<string, number>;
  readonly stored: StoredSession;
  /** 0: nothing is stored. */
  readonly revision: number;
}

const EMPTY: Session = { numbers: new Map(), stored: {}, revision: 0 };

export class MaskNumbers {
  readonly #bucket: Pick<GuardedBucket, 'get' | 'create' | 'update'>;
  /** Sessions as this process last saw them: what they hold does not change, others may have added more. */
  readonly #sessions = new LRUCache<string, Session>({
    maxSize: KEPT_VALUES,
    sizeCalculation: ({ numbers }) => numbers.size + 1,
  });

  constructor(bucket: Pick<GuardedBucket, 'get' | 'create' | 'update'>) {
    this.#bucket = bucket;
  }

  static async open(
    connection: StreamConnection,
    options: { readonly replicas?: number } = {},
  ): Promise<MaskNumbers> {
    const bucket = await openKeyValue(connection, 'masks', { ...options, ttlMs: MASKS_TTL_MS });
    return new MaskNumbers(guarded(bucket));
  }

  /**
   * The numbers of values, in their order; null: the session has too many. What is new is stored before this resolves.
   * Throws AppError SERVICE_UNAVAILABLE.
   */
  async numbersOf(
    { instanceId, sessionId }: { readonly instanceId: string; readonly sessionId: string },
    values: readonly DigestedValue[],
  ): Promise<readonly (number | null)[]> {
    const key = `${instanceId}.${sessionId}`;
    let session = this.#sessions.get(key) ?? EMPTY;
    for (;;) {
      const next = withValues(session, values);
      if (next === session) break;
      const revision = await this.#write(key, next);
      // A session that nobody has seen here may be new; else it is read when that turns out wrong.
      session = revision === null ? await this.#read(key, session) : { ...next, revision };
      this.#sessions.set(key, session);
    }
    const { numbers } = session;
    return values.map((value) => numbers.get(nameOf(value)) ?? null);
  }

  #write(key: string, { stored, revision }: Session): Promise<number | null> {
    const value = JSON.stringify(stored);
    return revision === 0 ? this.#bucket.create(key, value) : this.#bucket.update(key, value, revision);
  }

  /** `before`: what was known; it goes on where the bucket has forgotten it meanwhile. */
  async #read(key: string, before: Session): Promise<Session> {
    const entry = await this.#bucket.get(key);
    if (entry === null) return { ...before, revision: 0 };
    const stored = JSON.parse(entry.value) as StoredSession;
    return { numbers: numbersIn(stored), stored, revision: entry.revision };
  }
}

function nameOf({ kind, digest }: DigestedValue): string {
  return `${kind} ${digest}`;
}

function numbersIn(stored: StoredSession): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const [kind, digests] of Object.entries(stored) as [MaskedKind, readonly string[]][])
    for (const [place, digest] of digests.entries()) numbers.set(nameOf({ kind, digest }), place + 1);
  return numbers;
}

/** The session with the values; itself when it has them all, or takes no more. */
function withValues(session: Session, values: readonly DigestedValue[]): Session {
  const numbers = new Map(session.numbers);
  const added: { -readonly [Kind in MaskedKind]?: string[] } = {};
  for (const value of values) {
    const name = nameOf(value);
    if (numbers.has(name) || numbers.size >= MOST_VALUES) continue;
    const own = (added[value.kind] ??= [...(session.stored[value.kind] ?? [])]);
    own.push(value.digest);
    numbers.set(name, own.length);
  }
  if (numbers.size === session.numbers.size) return session;
  return { numbers, stored: { ...session.stored, ...added }, revision: session.revision };
}
