/**
 * What a round works with, and how much it does. It has types only, and what they are by default.
 * Test: test/doors/traces/assembly/assembly.test.ts.
 */
import type { CachedBucket } from './assembly-store.ts';
import type { OutboxKeys } from './outbox-keys.ts';
import type {
  Conversation,
  ConversationName,
  EmittedMessage,
  Emission,
  Kept,
  TraceRecord,
} from './records.ts';

export interface AssemblyParts {
  readonly conversations: CachedBucket<Conversation>;
  readonly traces: CachedBucket<TraceRecord>;
  /** Digests that do not stand with their conversation any more. */
  readonly pages: CachedBucket<ReadonlySet<string>>;
  readonly outboxKeys: Pick<OutboxKeys, 'prepare' | 'keep' | 'settle'>;
  /**
   * Stores messages of a conversation; doing it again with the same emission changes nothing. Resolves to those that
   * are refused for good.
   */
  readonly emit: (conversation: Conversation, emission: Emission) => Promise<readonly EmittedMessage[]>;
  /** Whether the conversation's session had messages before anything was known of it. */
  readonly isKnownSession: (projectId: string, name: ConversationName) => Promise<boolean>;
  /** Sequence of the first entry that is still on the stream. */
  readonly firstSequence: () => number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
  /** Messages of a trace that count, however many exports bring them. */
  readonly perTrace: number;
  readonly limits?: Partial<RoundLimits>;
  readonly kept?: Kept;
  /** Resolves when no other process can be the assembler. */
  readonly guard: () => Promise<void>;
}

/** How much a round does: what is held until it is stored, and how long others wait for it. */
export interface RoundLimits {
  readonly traces: number;
  /** Of what is new in a conversation, about. It is kept with what is known of it until it is stored. */
  readonly bytes: number;
  /** Spans that bring something new. */
  readonly spans: number;
  /** Messages that are compared with what is known. */
  readonly messages: number;
}

export const ROUND_LIMITS: RoundLimits = { traces: 32, bytes: 1024 * 1024, spans: 2000, messages: 20_000 };
