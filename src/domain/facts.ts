/**
 * The types that pass between the worker's stages: enrich → assign → fold.
 *
 * Records have numbers inside a shard. The store numbers instances, sessions and users in stream order; assign numbers
 * topics, clusters, gaps and so on per instance. Callers see UUIDs only.
 */
import type { Usage } from './usage.ts';
import type { Checked } from './checks.ts';
import type { CuratedEntity, CurationAction, CurationRefusal } from './curations.ts';
import type { Role } from './records.ts';
import type { SessionOutcome } from './session-outcomes.ts';
import type { SignalKey, SignalSource } from './signal-kinds.ts';

export type GapType = 'TOOL' | 'KNOWLEDGE';

/** A message on its way through the worker. */
export interface Turn {
  readonly position: number;
  readonly instance: number;
  readonly instanceId: string;
  readonly session: number;
  readonly sessionId: string;
  readonly role: Role;
  /** End-user number of a user turn that carries a `userId`; else null. */
  readonly user: number | null;
  /** The `userId` of a user turn, to be redacted wherever its text is published. */
  readonly userId?: string;
  readonly content: string;
  /** Event time, microseconds since 1970-01-01 UTC. */
  readonly at: number;
  /** Left out: nothing is said of it. */
  readonly usage?: Usage;
}

/** A sentence with content, or a clause of a long one. */
export interface RequestSentence {
  /** 53 bits; equal for sentences that differ only in numbers, ids and names. */
  readonly key: number;
  readonly text: string;
  /** Likelihood that it is the request of its turn; above 0. */
  readonly score: number;
  readonly words: number;
  /** True if it asks for something or reports a fault. */
  readonly asks: boolean;
  /** Unit-length embedding; null for the only sentence, which shares the vector of the request. */
  readonly vector: Float32Array | null;
}

/** An ability that the assistant says it lacks. */
export interface MissingAbility {
  readonly type: GapType;
  /** The action or knowledge that is missing: "change the delivery address". '' if the turn names none. */
  readonly words: string;
  /** The unanswered question in the turn's words: "when the ferry leaves"; missing if there is none. */
  readonly question?: string;
  /** The matched phrase, for languages whose verb carries the inability: "değiştiremiyorum". */
  readonly claim?: string;
  /** The assistant says that it has no access; `words` then hold the object alone. */
  readonly isUnseen: boolean;
  /** ISO 639-1 code of the lexicon that holds the phrase; null if none does. */
  readonly language: string | null;
}

export interface FoundGap extends MissingAbility {
  /** Unit-length embedding of `words`; null if they are empty. */
  readonly vector: Float32Array | null;
}

/**
 * The act of an assistant turn, which decides how the next user turn is read. `answered`: it states something. `asked`:
 * it asks the user for something or makes an offer. `asked-if-helped`: it asks about its own answer. `asked-for-more`:
 * it asks if there is anything else. `unable`: it says that it cannot, may not or does not know. `waiting`: it is still
 * working on the request. `asked-about`: it asks what is wrong, or why.
 */
export const ASSISTANT_ACTS = [
  'answered',
  'asked',
  'asked-if-helped',
  'asked-for-more',
  'unable',
  'waiting',
  'asked-about',
] as const;
export type AssistantAct = (typeof ASSISTANT_ACTS)[number];

/**
 * A signal that counts if the preceding assistant turn has one of the acts in `needs`. `first`: it also counts in the
 * turn that opens a session.
 */
export interface SignalCandidate {
  readonly key: SignalKey;
  readonly needs: readonly AssistantAct[];
  readonly first: boolean;
}

/** The result of enriching one message, from that message alone. */
export interface Enrichment {
  /**
   * `request`: a user turn that asks for or states something that can have a topic of its own.
   * `about-assistant`: a user turn that asks the assistant about itself: one topic of its own.
   * `reply`: thanks, confirmations, complaints, greetings, small talk, bare answers: no topic of its own.
   * `none`: any turn that is not a user's.
   */
  readonly kind: 'request' | 'about-assistant' | 'reply' | 'none';
  /**
   * The part of the turn that carries the request. For `about-assistant`, the name of such requests in the turn's
   * language; else ''.
   */
  readonly request: string;
  /** Unit-length embedding of `request`; null unless `kind` is `request`. */
  readonly vector: Float32Array | null;
  /**
   * True for a request without a topic: the model knows too few of its words, and the lexicon lacks its action or its
   * object.
   */
  readonly isUnfamiliar?: boolean;
  /**
   * The sentences that the request was chosen from, and those left out for their length; at most 8, in the turn's
   * order. Empty unless `kind` is `request`.
   */
  readonly sentences: readonly RequestSentence[];
  /** Signals in a user turn. Assign adds `repetition` for a request asked again, because that takes two messages. */
  readonly signals: readonly SignalCandidate[];
  /** Act of an assistant turn. */
  readonly act?: AssistantAct | null;
  /** The ability that an assistant turn says it lacks. */
  readonly gap: FoundGap | null;
}

/** A message after assign, as the fold counts it. */
export interface MessageFact {
  readonly position: number;
  readonly instance: number;
  readonly session: number;
  /** The end user that the message belongs to (docs/api.md, "Whose message is it?"); null: none, or not known yet. */
  readonly user: number | null;
  readonly at: number;
  /** The micro-cluster under discussion; its topic is this message's topic. Null: no topic. */
  readonly micro: number | null;
  /** Indices into SIGNALS, ascending, no duplicates. */
  readonly signals: readonly number[];
  readonly repeatedRequest: number | null;
  readonly gap: number | null;
  /**
   * Step of a wait (waits.ts). Positive on an assistant turn: how long the user waited for it. Negative on a user turn:
   * the wait for the reply before. 0: none.
   */
  readonly wait: number;
  /** True for a turn of the assistant. Default false. */
  readonly isReply?: boolean;
  /** Left out: nothing is said of it. */
  readonly usage?: Usage;
}

export interface TopicRow {
  readonly instance: number;
  readonly topic: number;
  readonly id: string;
  readonly name: string;
  readonly cluster: number | null;
  /** The topic that it merged into, which inherits its id. */
  readonly heir: number | null;
  /** Message position of the merge. */
  readonly since: number | null;
  /** A person's description; null for a topic that the service found. */
  readonly description?: string | null;
  /** A person made it, and it claims requests near its examples. Default false, as the next two. */
  readonly isOwn?: boolean;
  /** Its messages count as without a topic. */
  readonly isHidden?: boolean;
  /** A person gave or pinned its name. */
  readonly isNamed?: boolean;
}
export interface ClusterRow {
  readonly instance: number;
  readonly cluster: number;
  readonly id: string;
  readonly name: string;
  /** A person gave or pinned its name. Default false. */
  readonly isNamed?: boolean;
}
export interface SignalRow {
  readonly instance: number;
  readonly signal: number;
  readonly id: string;
  readonly name: string;
  readonly signalType: 'SAT' | 'DSAT';
  readonly source: SignalSource;
  readonly description: string;
}
export interface RepeatedRequestRow {
  readonly instance: number;
  readonly repeatedRequest: number;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The repeated request that it merged into, which inherits its id. */
  readonly heir: number | null;
  /** Message position of the merge. */
  readonly since: number | null;
}
export interface GapRow {
  readonly instance: number;
  readonly gap: number;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly gapType: GapType;
  /** A person gave or pinned its name. Default false. */
  readonly isNamed?: boolean;
  /** The gap that it merged into, which inherits its id. */
  readonly heir: number | null;
  /** Message position of the merge. */
  readonly since: number | null;
}
export interface SessionRow {
  readonly instance: number;
  readonly session: number;
  readonly id: string;
  /** The end user who started the conversation. */
  readonly user: number | null;
  readonly title: string | null;
  readonly summary: string | null;
  /** ISO 639-1 code where one exists; null: unknown. */
  readonly language: string | null;
  /** What a person said, else what was found. */
  readonly outcome: SessionOutcome | null;
  /** True if it ends before a wish of the user is answered. Left out: false. */
  readonly isUnanswered?: boolean;
}

/** A micro-cluster's topic: null until the topic is created (at its third request). */
export interface MicroTopic {
  readonly instance: number;
  readonly micro: number;
  readonly topic: number | null;
}

/** A label, which a person made. */
export interface LabelRow {
  readonly instance: number;
  readonly label: number;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Its making was undone: it holds nothing. */
  readonly isGone: boolean;
}

/** Whether the messages of a micro-cluster have a label. */
export interface LabelMicro {
  readonly instance: number;
  readonly label: number;
  readonly micro: number;
  readonly holds: boolean;
}

/** A person's curation and its outcome. */
export interface CurationRow {
  readonly instance: number;
  /** Ascends in stream order from 0. */
  readonly curation: number;
  readonly id: string;
  /** Its position in the stream. */
  readonly position: number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly createdAt: number;
  readonly keyId: string;
  readonly action: CurationAction['kind'];
  readonly entity: CuratedEntity | Checked | 'CURATION';
  /** UUID of the entity that the action names. */
  readonly entityId: string;
  /** The other members of the action, as JSON. */
  readonly detail: string;
  /** Why it changes nothing; null when it was applied. */
  readonly refused: CurationRefusal | null;
  /** UUID of the curation that undid it, or null. */
  readonly undoneBy: string | null;
}

/** What a message of an earlier batch shows since a person corrected it. */
export interface CorrectionRow {
  readonly position: number;
  /** One of KINDS: signal, repeated request or gap. */
  readonly kind: number;
  /** `slotOf` of the kind and entity: a message shows at most one thing in each slot. */
  readonly slot: number;
  /** Null: nothing. */
  readonly entity: number | null;
}

/** How a session ended since a person said so, or took that back. */
export interface OutcomeRow {
  readonly session: number;
  readonly outcome: SessionOutcome | null;
}

/** Gives the messages of a session before its first user turn to that turn's end user. */
export interface OpeningAuthor {
  readonly instance: number;
  readonly session: number;
  readonly user: number;
  readonly beforePosition: number;
}

/** A row of assign's own state, opaque to the store. A null `value` deletes the row. */
export interface StateRow {
  readonly instance: number;
  readonly kind: string;
  readonly key: number;
  readonly value: Uint8Array | null;
}

/**
 * The changes of one batch. Rows are final values (an upsert), each key at most once: net over the batch, so that any
 * split into batches ends in the same rows. Merged topics and empty clusters stay as rows without facts; their ids are
 * never reused.
 */
export interface Assignment {
  readonly messages: readonly MessageFact[];
  /** New micro-clusters and those whose topic changed. */
  readonly micros: readonly MicroTopic[];
  readonly topics: readonly TopicRow[];
  readonly clusters: readonly ClusterRow[];
  readonly signals: readonly SignalRow[];
  readonly repeatedRequests: readonly RepeatedRequestRow[];
  readonly gaps: readonly GapRow[];
  readonly labels: readonly LabelRow[];
  /** Those that differ from what they were. */
  readonly labelMicros: readonly LabelMicro[];
  readonly sessions: readonly SessionRow[];
  readonly openingAuthors: readonly OpeningAuthor[];
  /** New curations and those that were undone. */
  readonly curations: readonly CurationRow[];
  /** One at most for each position and slot. */
  readonly corrections: readonly CorrectionRow[];
  /** One at most for each session. */
  readonly outcomes: readonly OutcomeRow[];
}
