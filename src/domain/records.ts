/**
 * The records of the stream. A record holds requests that were committed together; a request is never split over two
 * records.
 *
 * Test: test/domain/records.test.ts.
 */
import type { Curation } from './curations.ts';
import type { RecordedErasure } from './erasures.ts';
import type { Feedback } from './feedback.ts';
import type { Writing } from './writings.ts';

/** Period in which a repeated request id is recognized, in the stream's own time: microseconds. */
export const REQUEST_MEMORY_MICROS = 48 * 3600 * 1_000_000;

/** The author of a turn. `other` turns are counted, not analysed. */
export type Role = 'user' | 'assistant' | 'other';

const ROLES: ReadonlyMap<string, Role> = new Map([
  ...['user', 'human', 'customer', 'end_user', 'end-user', 'enduser'].map((name) => [name, 'user'] as const),
  ...['client', 'visitor', 'guest', 'contact'].map((name) => [name, 'user'] as const),
  ...['assistant', 'ai', 'bot', 'chatbot', 'copilot'].map((name) => [name, 'assistant'] as const),
  ...['agent', 'operator', 'support', 'model'].map((name) => [name, 'assistant'] as const),
  ...['system', 'developer', 'tool', 'function'].map((name) => [name, 'other'] as const),
]);

/** Returns the names of a role in lower case, most usual first. */
export function namesOf(role: Role): string[] {
  return [...ROLES].flatMap(([name, meaning]) => (meaning === role ? [name] : []));
}

/** Classifies the role in a request; ignores case. */
export function roleOf(role: string): Role {
  return ROLES.get(role.toLowerCase()) ?? 'other';
}

/** Returns false for an unknown role, which counts as `other`. */
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
  /** The message was erased: it only keeps its position, and does not count. */
  readonly erased?: true;
  /** The text's retention has ended: the message counts, but its text is gone. */
  readonly expired?: true;
}

/** One accepted request. */
export interface RecordedRequest {
  /** Names the request for de-duplication in the worker: a republished request keeps its id. */
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
  /** A text by the optional writer. Such a request has no messages, and no session unless the text is about one. */
  readonly writing?: Writing;
  /** A person's curation. Such a request has no messages and no session (''). */
  readonly curation?: Curation;
  /** Feedback on a message of the session. Such a request has no messages. */
  readonly feedback?: Feedback;
  /** An erasure of data that was sent before. Such a request has no messages and no session (''). */
  readonly erasure?: RecordedErasure;
  /** The whole request was erased: its messages only keep their positions, and it has no session (''). */
  readonly erased?: true;
}

/**
 * The payload of one stream entry. `v` rises when the shape changes; readers accept every older `v`. Version 2 holds a
 * writing, 3 a curation, 4 an erasure or erased or expired data, 5 feedback; other records stay at 1, which earlier code
 * reads.
 */
export interface StreamRecord {
  readonly v: 1 | 2 | 3 | 4 | 5;
  readonly requests: readonly RecordedRequest[];
}

/**
 * Returns a message's position in the stream: the sequence of its entry and its index in the entry, in one number that
 * sorts in stream order. Exact up to sequence 2^33 in a double.
 */
export function positionOf(sequence: number, index: number): number {
  return sequence * POSITIONS_PER_ENTRY + index;
}

/** Limit of messages in one stream entry. */
export const POSITIONS_PER_ENTRY = 2 ** 20;
