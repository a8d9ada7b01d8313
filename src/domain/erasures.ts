/**
 * Erasing what a session, an end user or a whole instance left: equal afterwards to a stream in which it never was.
 * Whom an erasure is of is kept as a keyed digest alone, so that the ledger of erasures names nobody.
 */

/**
 * What goes. Of an end user: their sessions, and of those in which others took part, their messages with the replies.
 * `MESSAGES`: those at given positions, and nothing else.
 */
export const ERASED_KINDS = ['SESSION', 'END_USER', 'MESSAGES', 'INSTANCE'] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

/**
 * `ACCEPTED`: it waits until everything sent before it is counted. `ERASING`: entries of the stream are written anew
 * without what goes. `RECOUNTING`: views are made anew from the facts without it. `REBUILDING`: no answer has it any more,
 * and views are made anew from the stream, so that topics and names are without it. `DONE`: nothing of it is left in what
 * we hold. `FAILED`: it is tried again.
 */
export const ERASURE_STATES = ['ACCEPTED', 'ERASING', 'RECOUNTING', 'REBUILDING', 'DONE', 'FAILED'] as const;
export type ErasureState = (typeof ERASURE_STATES)[number];

/**
 * What the views without it were made from. `STREAM`: they are as if it had never been sent. `FACTS`: the stream no longer
 * holds everything that was counted, so that topics keep their shape, without what single requests said.
 */
export const ERASURE_SOURCES = ['STREAM', 'FACTS'] as const;
export type ErasureSource = (typeof ERASURE_SOURCES)[number];

/** What went, counted. */
export interface ErasureReceipt {
  /** Messages, and sessions that went whole. */
  readonly messages: number;
  readonly sessions: number;
  /** Entries of the stream that were written anew, and the bytes that they were smaller by. */
  readonly entries: number;
  readonly bytes: number;
  readonly deadLetters: number;
  /** Dead letters that no version of us can read, so that nobody knows whom they hold. */
  readonly unreadableDeadLetters: number;
  /** Left out until the answers are without it. */
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
  /** Keyed digest of the session id or the external id; of the instance id for an instance, of positions for messages. */
  readonly digest: string;
  /** Of messages: where they stand, ascending. */
  readonly positions?: readonly number[];
  /**
   * Of messages, where the ledger of another time is applied again: when that was asked for, ISO 8601. Positions of what was
   * sent later belong to something else.
   */
  readonly sentBefore?: string;
  /** Who asked for it: the id of a key, or a person. */
  readonly keyId: string;
  /** As the caller gave it, at most 500 UTF-16 units; null without. */
  readonly reason: string | null;
  /** ISO 8601, UTC, as the next one. */
  readonly requestedAt: string;
  /** When the stream was without what goes: views begun before may hold it; null until then. */
  readonly redactedAt?: string | null;
  /** Null until it is done. */
  readonly doneAt: string | null;
  /** Stream sequence of its record: what was sent before it goes, what is sent later stays. 0: not published yet. */
  readonly position: number;
  readonly state: ErasureState;
  /** Null until entries are written anew. */
  readonly receipt: ErasureReceipt | null;
  /** Why it failed last; null when it did not. */
  readonly fault: string | null;
}

/** What the stream says of an erasure, in the instance's partition. */
export interface RecordedErasure {
  /** UUID of the erasure. */
  readonly id: string;
  readonly kind: ErasedKind;
  readonly digest: string;
}

/** Tells a keyed digest: equal for the same kind, instance and name, in every process of the installation. */
export type ErasureDigest = (kind: ErasedKind, instanceId: string, name: string) => string;
