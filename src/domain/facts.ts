/**
 * What the worker's stages hand to each other: enrich → assign → fold.
 *
 * Numbers stand for records inside a shard (instance, session, user: given out in stream order by the
 * store; topic, cluster, gap, …: given out per instance by assign). UUIDs are what the outside sees.
 *
 * It has types only, and no test of its own.
 */
import type { CuratedEntity, CurationAction, CurationRefusal } from './curations.ts';
import type { Role } from './records.ts';
import type { SessionOutcome } from './session-outcomes.ts';
import type { SignalKey } from './signal-kinds.ts';

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
  /** The `userId` of a user turn, by which its author is not to be shown. */
  readonly userId?: string;
  readonly content: string;
  /** Event time, microseconds since 1970-01-01 UTC. */
  readonly at: number;
}

/** A sentence that says something, or a clause of a long one. */
export interface RequestSentence {
  /** Equal for sentences that differ only in numbers, ids and names: 53 bits. */
  readonly key: number;
  readonly text: string;
  /** How much it looks like the request of its turn: above 0. */
  readonly score: number;
  readonly words: number;
  /** It asks for something, or says that something is wrong. */
  readonly asks: boolean;
  /** Unit-length embedding; null when it is the only one, whose vector is that of the request. */
  readonly vector: Float32Array | null;
}

/** A missing ability, as the assistant's words have it. */
export interface MissingAbility {
  readonly type: GapType;
  /** What it cannot do or does not know: "change the delivery address". '' where it names nothing. */
  readonly words: string;
  /** The question that it has no answer to, as said: "when the ferry leaves"; missing where it says none. */
  readonly question?: string;
  /** The phrase as said, which holds the verb where inability is a form of it: "değiştiremiyorum". */
  readonly claim?: string;
  /** It said that it has no access: `words` hold the thing alone. */
  readonly isUnseen: boolean;
  /** ISO 639-1 code of the lexicon that has the phrase; null when none has. */
  readonly language: string | null;
}

export interface FoundGap extends MissingAbility {
  /** Unit-length embedding of `words`; null without any. */
  readonly vector: Float32Array | null;
}

/**
 * What an assistant turn leaves the user to say. `answered`: it states something. `asked`: it asks the user for
 * something, or offers. `asked-if-helped`: it asks about its own answer. `asked-for-more`: it asks whether there is
 * anything else. `unable`: it says that it cannot, may not or does not know. `waiting`: it still looks.
 * `asked-about`: it asks what is wrong, or why.
 */
export const STANCES = [
  'answered',
  'asked',
  'asked-if-helped',
  'asked-for-more',
  'unable',
  'waiting',
  'asked-about',
] as const;
export type Stance = (typeof STANCES)[number];

/**
 * A signal in a user turn, if what precedes the turn allows. `needs`: the stances of the assistant's turn before that
 * do; `first`: it also counts in the turn that opens a session.
 */
export interface SignalCandidate {
  readonly key: SignalKey;
  readonly needs: readonly Stance[];
  readonly first: boolean;
}

/** What enrich finds out about one message, from that message alone. */
export interface Enrichment {
  /**
   * `request`: a user turn that asks for or states something that can have a topic of its own.
   * `about-assistant`: a user turn that asks the assistant about itself: one topic of its own.
   * `reply`: thanks, confirmations, complaints, greetings, small talk, bare answers: no topic of its own.
   * `none`: any turn that is not a user's.
   */
  readonly kind: 'request' | 'about-assistant' | 'reply' | 'none';
  /**
   * The part of the turn that carries the request; of `about-assistant`, what such requests are called in the language
   * of the turn; else ''.
   */
  readonly request: string;
  /** Unit-length embedding of `request`; null unless `kind` is `request`. */
  readonly vector: Float32Array | null;
  /**
   * Of a request: the model knows too few of its words to tell what it is about, and the lexicon does not hear both its
   * action and its thing. It has no topic.
   */
  readonly isUnfamiliar?: boolean;
  /**
   * What the request was chosen from: its sentences and those left out for their length, at most 8, in their order.
   * Empty unless `kind` is `request`.
   */
  readonly sentences: readonly RequestSentence[];
  /** Signals in a user turn. A request asked again takes two messages, so assign adds that `repetition`. */
  readonly signals: readonly SignalCandidate[];
  /** Of an assistant turn. */
  readonly stance?: Stance | null;
  /** What an assistant turn says that it cannot do or does not know. */
  readonly gap: FoundGap | null;
}

/** A message after assign: what the fold counts. */
export interface MessageFact {
  readonly position: number;
  readonly instance: number;
  readonly session: number;
  /** The end user it belongs to (docs/api.md, "Whose message is it?"); null: none, or not known yet. */
  readonly user: number | null;
  readonly at: number;
  /** The micro-cluster under discussion; its topic is this message's topic. Null: no topic. */
  readonly micro: number | null;
  /** Indices into SIGNALS, ascending, no duplicates. */
  readonly signals: readonly number[];
  readonly repeatedRequest: number | null;
  readonly gap: number | null;
  /**
   * Step of a wait (waits.ts): of an assistant's turn, how long the user had waited for it; of a user's turn, below
   * zero, for the reply before. 0: none.
   */
  readonly wait: number;
}

export interface TopicRow {
  readonly instance: number;
  readonly topic: number;
  readonly id: string;
  readonly name: string;
  readonly cluster: number | null;
  /** The topic that it merged into, which answers for its id. */
  readonly heir: number | null;
  /** The message position at which it merged. */
  readonly since: number | null;
  /** What a person wrote about it; null for a topic that we found. */
  readonly description?: string | null;
  /** A person made it, and it claims requests near its examples. Default false, as what follows. */
  readonly isOwn?: boolean;
  /** What it holds counts as without a topic. */
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
  readonly description: string;
}
export interface RepeatedRequestRow {
  readonly instance: number;
  readonly repeatedRequest: number;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The repeated request that it merged into, which answers for its id. */
  readonly heir: number | null;
  /** The message position at which it merged. */
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
  /** The gap that it merged into, which answers for its id. */
  readonly heir: number | null;
  /** The message position at which it merged. */
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
  /** ISO 639-1 where there is one. */
  readonly language: string | null;
  readonly outcome: SessionOutcome | null;
}

/** A micro-cluster's topic: null until the topic is created (at its third request). */
export interface MicroTopic {
  readonly instance: number;
  readonly micro: number;
  readonly topic: number | null;
}

/** What a person decided, and what became of it. */
export interface CurationRow {
  readonly instance: number;
  /** Ascends in stream order from 0. */
  readonly curation: number;
  readonly id: string;
  /** Its place in the stream. */
  readonly position: number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly createdAt: number;
  readonly keyId: string;
  readonly action: CurationAction['kind'];
  readonly entity: CuratedEntity | 'CURATION';
  /** UUID that the action names. */
  readonly entityId: string;
  /** JSON of the other members of the action. */
  readonly detail: string;
  /** Why it changes nothing; null when it was applied. */
  readonly refused: CurationRefusal | null;
  /** UUID of the curation that undid it. */
  readonly undoneBy: string | null;
}

/** Messages of a session that came before its first user turn now have their end user. */
export interface OpeningAuthor {
  readonly instance: number;
  readonly session: number;
  readonly user: number;
  readonly beforePosition: number;
}

/** A row of assign's own state. `value` null deletes it. Opaque to the store. */
export interface StateRow {
  readonly instance: number;
  readonly kind: string;
  readonly key: number;
  readonly value: Uint8Array | null;
}

/**
 * What one batch changes. Rows are final values (an upsert), each key at most once: net over the batch,
 * so that any split into batches ends in the same rows. Merged-away topics and empty clusters stay as
 * rows (their ids are never given to something else); they just have no facts.
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
  readonly sessions: readonly SessionRow[];
  readonly openingAuthors: readonly OpeningAuthor[];
  /** New ones and those that were undone. */
  readonly curations: readonly CurationRow[];
}
