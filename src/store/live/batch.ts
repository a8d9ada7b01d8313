import type { Assignment, StateRow } from '../../domain/facts.ts';

/** Everything that one run of stream entries changes in the state. Covered by test/store/live/fold-blocks.test.ts. */
export interface Batch {
  /** The checkpoint that the store must be at: a second worker fails here. */
  readonly expectedSequence: number;
  /** Stream sequence up to which entries are applied or deferred: the new checkpoint. */
  readonly sequence: number;
  /** Digest of what the entry there holds: tells it from another that takes its place. Null: not known. */
  readonly lastEntry: string | null;
  /** What the batch leaves of entries for later, and what it takes up of what was left. Left out: nothing. */
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
  /** Sessions that their caller named in the batch; null: the caller removed the name. */
  readonly sessionNames: readonly { session: number; externalId: string | null }[];
  readonly assignment: Assignment;
  readonly state: readonly StateRow[];
  /** The highest numbers given out, including the new ones of this batch. */
  readonly counters: Counters;
}

/** What of an entry is not applied yet, for one of its instances: everything from a message on. */
export interface DeferredPart {
  readonly projectId: string;
  readonly instanceId: string;
  readonly sequence: number;
  /** Place of the first request that is not applied, or not wholly, in the entry. */
  readonly place: number;
  /** Its first message that is not applied. */
  readonly message: number;
  /** When the stream stored the entry, microseconds since 1970-01-01 UTC. */
  readonly storedAt: number;
}

/** How a batch changes what is deferred. */
export interface Deferral {
  /** Parts that are applied, or that `left` replaces. */
  readonly taken: readonly Pick<DeferredPart, 'instanceId' | 'sequence'>[];
  readonly left: readonly DeferredPart[];
}

/** Highest number given out to instances, sessions and end users of the shard; 0 at first. */
export interface Counters {
  readonly instances: number;
  readonly sessions: number;
  readonly endUsers: number;
}
