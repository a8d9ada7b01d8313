/**
 * The changes that one run of stream entries makes to the state. A batch applies only at the checkpoint that it
 * expects.
 *
 * Test: test/store/live/fold-blocks.test.ts.
 */
import type { Assignment, StateRow } from '../../domain/facts.ts';
import type { PlacedFeedback } from '../../domain/feedback.ts';

/** All changes of one run of stream entries. */
export interface Batch {
  /** The checkpoint at which the store must be: the commit of a second worker fails here. */
  readonly expectedSequence: number;
  /** Stream sequence up to which entries are applied or deferred: the new checkpoint. */
  readonly sequence: number;
  /** Digest of the entry at `sequence`, which distinguishes it from another entry in its place. Null: unknown. */
  readonly lastEntry: string | null;
  /** Changes to the deferred parts. Left out: none. */
  readonly deferral?: Deferral;
  /** Microseconds since 1970-01-01 UTC. */
  readonly processedAt: number;
  /** Instances with an entry in the batch. */
  readonly instances: readonly { instance: number; id: string; projectId: string; lastSequence: number }[];
  /** End users seen for the first time. */
  readonly endUsers: readonly { instance: number; endUser: number; id: string; externalId: string }[];
  readonly requests: readonly { id: string; acceptedAt: number }[];
  readonly metadata: readonly {
    instance: number;
    record: 'instance' | 'session' | 'user';
    key: string;
    member: string;
    value: string;
  }[];
  /** Members of sessions' metadata that may be attributes; null: the value is none (src/domain/attributes.ts). */
  readonly attributes: readonly {
    instance: number;
    session: number;
    name: string;
    value: string | null;
  }[];
  /** Sessions that their caller named in the batch; null: the caller removed the name. */
  readonly sessionNames: readonly { session: number; externalId: string | null }[];
  /** Feedback of end users, in stream order. */
  readonly feedback: readonly PlacedFeedback[];
  readonly assignment: Assignment;
  readonly state: readonly StateRow[];
  /** The highest assigned numbers, including new ones of this batch. */
  readonly counters: Counters;
}

/** The part of an entry that is not applied yet, for one instance: all from a message on. */
export interface DeferredPart {
  readonly projectId: string;
  readonly instanceId: string;
  readonly sequence: number;
  /** Place of the first request in the entry that is not completely applied. */
  readonly place: number;
  /** Index of its first message that is not applied. */
  readonly message: number;
  /** When the stream stored the entry, microseconds since 1970-01-01 UTC. */
  readonly storedAt: number;
}

/** The change that a batch makes to the deferred parts. */
export interface Deferral {
  /** Parts that are applied now, or replaced by `left`. */
  readonly taken: readonly Pick<DeferredPart, 'instanceId' | 'sequence'>[];
  readonly left: readonly DeferredPart[];
}

/** Highest assigned numbers of instances, sessions and end users of the shard; 0 at first. */
export interface Counters {
  readonly instances: number;
  readonly sessions: number;
  readonly endUsers: number;
}
