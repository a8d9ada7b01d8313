/**
 * The types of erasures of a session, an end user, single messages or a whole instance. Afterwards the views equal
 * those of a stream that never held the data. The ledger keeps only a keyed digest of the subject, so it names nobody.
 *
 * Test: test/worker/erasure/erasure-law.test.ts, test/web/erasure-routes.test.ts.
 */

/**
 * The data that is erased. `END_USER`: the user's sessions; of sessions with several users only their messages and the
 * replies. `MESSAGES`: those at the given positions.
 */
export const ERASED_KINDS = ['SESSION', 'END_USER', 'MESSAGES', 'INSTANCE'] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

/**
 * `ACCEPTED`: waits until everything sent before it is counted. `ERASING`: rewrites entries of the stream without the
 * data. `RECOUNTING`: rebuilds views from the facts without it. `REBUILDING`: no answer contains the data any more;
 * views are rebuilt from the stream, so that topics and names lose it too. `DONE`: the service holds none of it.
 * `FAILED`: will be retried.
 */
export const ERASURE_STATES = ['ACCEPTED', 'ERASING', 'RECOUNTING', 'REBUILDING', 'DONE', 'FAILED'] as const;
export type ErasureState = (typeof ERASURE_STATES)[number];

/**
 * The source of the rebuilt views. `STREAM`: the views are as if the data had never been sent. `FACTS`: the stream no
 * longer holds everything that was counted, so topics keep their shape but lose the texts of the erased requests.
 */
export const ERASURE_SOURCES = ['STREAM', 'FACTS'] as const;
export type ErasureSource = (typeof ERASURE_SOURCES)[number];

/** Counts of the erased data. */
export interface ErasureReceipt {
  /** Messages, and sessions that were erased whole. */
  readonly messages: number;
  readonly sessions: number;
  /** Rewritten entries of the stream, and the bytes that they lost. */
  readonly entries: number;
  readonly bytes: number;
  readonly deadLetters: number;
  /** Dead letters that no version of the service can decode, so their subjects are unknown. */
  readonly unreadableDeadLetters: number;
  /** Missing until the views are rebuilt. */
  readonly madeFrom?: ErasureSource;
}

/** An erasure as the ledger keeps it. */
export interface Erasure {
  /** UUID, lower case. */
  readonly id: string;
  readonly projectId: string;
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly kind: ErasedKind;
  /**
   * Keyed digest: of the session id or the external id; of the instance id for an instance, of the positions for
   * messages.
   */
  readonly digest: string;
  /** Positions of the erased messages, ascending. */
  readonly positions?: readonly number[];
  /**
   * Set for messages when an older ledger is applied again: when the erasure was requested, ISO 8601. Later messages at
   * these positions are other ones.
   */
  readonly sentBefore?: string;
  /** Id of the key or person that requested it. */
  readonly keyId: string;
  /** The caller's reason, at most 500 UTF-16 units; null without one. */
  readonly reason: string | null;
  /** ISO 8601, UTC, as the next one. */
  readonly requestedAt: string;
  /** When the stream was redacted: views begun earlier may hold the data; null until then. */
  readonly redactedAt?: string | null;
  /** Null until it is done. */
  readonly doneAt: string | null;
  /** Stream sequence of its record: it erases what was sent before. 0: not published yet. */
  readonly position: number;
  readonly state: ErasureState;
  /** Null until entries are rewritten. */
  readonly receipt: ErasureReceipt | null;
  /** Error of the last attempt; null when it succeeded. */
  readonly fault: string | null;
}

/** The record of an erasure on the stream, in the instance's partition. */
export interface RecordedErasure {
  /** UUID of the erasure. */
  readonly id: string;
  readonly kind: ErasedKind;
  readonly digest: string;
}

/** Returns a keyed digest: equal for the same kind, instance and name in every process of the installation. */
export type ErasureDigest = (kind: ErasedKind, instanceId: string, name: string) => string;
