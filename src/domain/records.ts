/** What travels on the stream: one record holds the requests that were committed together. */
import type { Curation } from './curations.ts';
import type { RecordedErasure } from './erasures.ts';
import type { Writing } from './writings.ts';

/** How long a request id guards against its repetition, in the stream's own time: microseconds. */
export const REQUEST_MEMORY_MICROS = 48 * 3600 * 1_000_000;

/** A turn's part in the conversation. `other` turns are counted, not analysed. */
export type Role = 'user' | 'assistant' | 'other';

const ROLES: ReadonlyMap<string, Role> = new Map([
  ...['user', 'human', 'customer', 'end_user', 'end-user', 'enduser'].map((name) => [name, 'user'] as const),
  ...['client', 'visitor', 'guest', 'contact'].map((name) => [name, 'user'] as const),
  ...['assistant', 'ai', 'bot', 'chatbot', 'copilot'].map((name) => [name, 'assistant'] as const),
  ...['agent', 'operator', 'support', 'model'].map((name) => [name, 'assistant'] as const),
  ...['system', 'developer', 'tool', 'function'].map((name) => [name, 'other'] as const),
]);

/** The names of a role, most usual first, in lower case. */
export function namesOf(role: Role): string[] {
  return [...ROLES].flatMap(([name, meaning]) => (meaning === role ? [name] : []));
}

/** Classifies the role a caller sent; case does not matter. */
export function roleOf(role: string): Role {
  return ROLES.get(role.toLowerCase()) ?? 'other';
}

/** False for a role of which nobody has said what it is. It counts as `other`. */
export function isKnownRole(role: string): boolean {
  return ROLES.has(role.toLowerCase());
}

/** One message as accepted. */
export interface RecordedMessage {
  readonly content: string;
  /** As sent; `user` when the caller left it out. */
  readonly role: string;
  readonly userId?: string;
  /** Event time in microseconds since 1970-01-01 UTC. */
  readonly at: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** It was erased: nothing of it is left but its place, and it does not count. */
  readonly erased?: true;
  /** Its text was kept long enough: it counts, and nobody can read it any more. */
  readonly expired?: true;
}

/** One accepted request. It is never split over two records. */
export interface RecordedRequest {
  /** Names the request for de-duplication in the worker: the same request published twice has the same id. */
  readonly requestId: string;
  readonly projectId: string;
  readonly instanceId: string;
  readonly sessionId: string;
  /** Microseconds since 1970-01-01 UTC. */
  readonly acceptedAt: number;
  readonly messages: readonly RecordedMessage[];
  readonly metadata?: {
    readonly instance?: Readonly<Record<string, unknown>>;
    readonly session?: Readonly<Record<string, unknown>>;
    readonly users?: Readonly<Record<string, unknown>>;
  };
  /** What the optional writer wrote; such a request has no messages, and no session unless it is written about one. */
  readonly writing?: Writing;
  /** What a person decided; such a request has no messages and no session (''). */
  readonly curation?: Curation;
  /** What is to be erased that was sent before; such a request has no messages and no session (''). */
  readonly erasure?: RecordedErasure;
  /** All of it was erased: its messages are places alone, and it has no session (''). */
  readonly erased?: true;
}

/**
 * The payload of one stream entry. `v` is raised when the shape changes; readers accept every older `v`. A record of
 * version 2 holds a writing, one of version 3 a curation, one of version 4 an erasure, what was erased or what has
 * expired; others stay at 1, which earlier code reads.
 */
export interface StreamRecord {
  readonly v: 1 | 2 | 3 | 4;
  readonly requests: readonly RecordedRequest[];
}

/**
 * A message's place in the stream: its entry's sequence and its index within the entry, in one
 * number that orders messages as the stream does. Exact up to sequence 2^33 in a double.
 */
export function positionOf(sequence: number, index: number): number {
  return sequence * POSITIONS_PER_ENTRY + index;
}

/** The most messages that one stream entry can hold. */
export const POSITIONS_PER_ENTRY = 2 ** 20;
