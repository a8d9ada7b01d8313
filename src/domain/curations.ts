/**
 * The types and bounds of curations: a person's changes to the topics, clusters and gaps of an instance. A curation is
 * a record of the stream, so its order among the messages is fixed.
 *
 * Test: test/reader/threads/curations.test.ts.
 */

import type { Checked, Verdict } from './checks.ts';
import { derivedId } from './ids.ts';
import type { StatedLife, TrackedEntity } from './lives.ts';
import type { SessionOutcome } from './session-outcomes.ts';
import type { PlacedWriting } from './writings.ts';

/** Entities that can be renamed. */
export const CURATED_ENTITIES = ['TOPIC', 'CLUSTER', 'GAP'] as const;
export type CuratedEntity = (typeof CURATED_ENTITIES)[number];

/** What single messages are corrected of. */
export const CORRECTED_ENTITIES = ['SIGNAL', 'GAP', 'REPEATED_REQUEST'] as const;
export type CorrectedEntity = (typeof CORRECTED_ENTITIES)[number];

/** Work of applying one curation, in messages, besides the messages that it moves: names and groups change with it. */
export const CURATION_MESSAGES = 200;
/** The same of a check and of a life, which change no number. */
export const CHECK_MESSAGES = 1;

/** Where requests count that no own topic claims: under the topic found for them, or under the topic Other. */
export const UNCLAIMED = ['FOUND', 'OTHER'] as const;
export type Unclaimed = (typeof UNCLAIMED)[number];

/** The id (UUID) of an instance's topic Other. */
export function otherTopicId(instanceId: string): string {
  return derivedId(instanceId, 'topic', 'other');
}

/** Each `id` is the UUID of the curated entity. */
export type CurationAction =
  | { readonly kind: 'RENAME'; readonly entity: CuratedEntity; readonly id: string; readonly name: string }
  /** Keeps the name that the entity has at the record's place in the stream. */
  | { readonly kind: 'PIN'; readonly entity: CuratedEntity; readonly id: string }
  /** Counts topic `id` as topic `into`. */
  | { readonly kind: 'MERGE'; readonly id: string; readonly into: string }
  /** Moves topic `id` into cluster `cluster`; with `clusterName`, into a new one of this id and name. */
  | { readonly kind: 'MOVE'; readonly id: string; readonly cluster: string; readonly clusterName?: string }
  /** Counts the messages of topic `id` as without a topic. */
  | { readonly kind: 'HIDE'; readonly id: string }
  /**
   * Makes topic `id`, which claims requests near its examples; `fromBeginning`: earlier ones too. Counts the requests of
   * found topic `from` for it.
   */
  | {
      readonly kind: 'CREATE';
      readonly id: string;
      readonly name: string;
      readonly description: string;
      readonly examples: readonly string[];
      readonly fromBeginning: boolean;
      readonly from?: string;
    }
  /**
   * Makes label `id`, or changes it: requests near its examples, and not nearer to its counterexamples, have it, earlier
   * ones too.
   */
  | {
      readonly kind: 'LABEL';
      readonly id: string;
      readonly name: string;
      readonly description: string;
      readonly examples: readonly string[];
      readonly counterexamples: readonly string[];
    }
  /** Counts the requests that say nearly `text` for topic `id` (EXCLUDE: not for it), earlier ones too. */
  | {
      readonly kind: 'ASSIGN' | 'EXCLUDE';
      readonly of: 'TOPIC';
      readonly id: string;
      readonly text: string;
    }
  /** Counts the message at `position` for entity `id` (EXCLUDE: not for it). */
  | {
      readonly kind: 'ASSIGN' | 'EXCLUDE';
      readonly of: CorrectedEntity;
      readonly id: string;
      readonly position: number;
    }
  /** Says how session `id` (UUID) ended. */
  | { readonly kind: 'ASSIGN'; readonly of: 'OUTCOME'; readonly id: string; readonly outcome: SessionOutcome }
  /**
   * Says whether session `session` (UUID) is about entity `id`, or shows it. Changes no number. `reader`: the language
   * model that said so; left out: a person.
   */
  | {
      readonly kind: 'CHECK';
      readonly of: Checked;
      readonly id: string;
      readonly session: string;
      readonly verdict: Verdict;
      readonly reader?: string;
    }
  /** Says where requests count that no own topic claims. `id`: of the topic Other. */
  | { readonly kind: 'ROUTE'; readonly id: string; readonly unclaimed: Unclaimed }
  /** States the life of entity `id` anew. Changes no number. */
  | (StatedLife & { readonly kind: 'TRACK'; readonly of: TrackedEntity; readonly id: string })
  /** Takes curation `id` back. */
  | { readonly kind: 'UNDO'; readonly id: string };

export interface Curation {
  /** UUID. */
  readonly id: string;
  /** Id of the API key that sent it; '' of a language model's verdict. */
  readonly keyId: string;
  readonly action: CurationAction;
  /** Estimated work in messages when it was accepted. It only sets the pace. */
  readonly messages?: number;
}

/**
 * Why a curation changes nothing. `UNKNOWN`: the entity does not exist. `CIRCULAR`: a topic would merge into itself.
 * `NOT_UNDOABLE`: the curation to undo is refused, undone or an undo itself. `TOO_MANY`: the instance has reached a
 * limit. `NO_REQUEST`: the text to correct holds nothing that has a topic. `IS_OTHER`: the topic Other would merge into
 * another.
 */
export type CurationRefusal =
  | 'UNKNOWN'
  | 'CIRCULAR'
  | 'NOT_UNDOABLE'
  | 'TOO_MANY'
  | 'NO_REQUEST'
  | 'IS_OTHER';

/** What a message shows, by numbers of its instance. */
export interface ShownFacts {
  readonly instance: number;
  readonly signals: readonly number[];
  readonly repeatedRequest: number | null;
  readonly gap: number | null;
}

/** A session as it is shown, by numbers. */
export interface ShownSession {
  readonly instance: number;
  readonly session: number;
  readonly outcome: SessionOutcome | null;
}

/** A curation among the turns of a batch. */
export interface PlacedCuration {
  /** Index of the turn that it precedes; the number of turns when it follows all of them. */
  readonly before: number;
  readonly session: null;
  /** Its place in the stream: the position of the next message of its entry. */
  readonly position: number;
  readonly instance: number;
  readonly instanceId: string;
  /** Microseconds since 1970-01-01 UTC. */
  readonly acceptedAt: number;
  readonly curation: Curation;
  /** Of a correction of a message in an earlier batch: what it shows; null: it is not there. */
  readonly shown?: ShownFacts | null;
  /** Of a correction of an outcome: its session as earlier batches left it; null: it is not there. */
  readonly ended?: ShownSession | null;
  /** Unit-length vectors of the texts of the action, once they are embedded. */
  readonly examples?: readonly Float32Array[];
}

/** An event between the turns of a batch. */
export type Interlude = PlacedWriting | PlacedCuration;

/** Limits of one request and of one instance. */
export const MOST_EXAMPLES = 50;
export const MOST_OWN_TOPICS = 200;
/** Fewest examples of a label. */
export const LEAST_LABEL_EXAMPLES = 3;
/** Limit of labels ever made, undone ones included. A message has 224 slots for them (views/fact.sql). */
export const MOST_LABELS = 200;
/** Limit of their examples and counterexamples, those of versions that can be brought back included. */
export const MOST_LABEL_EXAMPLES = 10_000;
/** Limit of corrections of topics in effect: each request is compared with each. */
export const MOST_CORRECTIONS = 1000;
/**
 * Limit of applied and undone curations, undos included, checks and lives not: the cost of each grows with their number.
 */
export const MOST_CURATIONS = 10_000;
/** In UTF-16 units, as the next two. */
export const LONGEST_NAME = 80;
export const LONGEST_DESCRIPTION = 500;
export const LONGEST_EXAMPLE = 500;
export const LONGEST_CORRECTED = 4000;

/** The texts of an action that may quote what somebody wrote. */
export function quotesOf(action: CurationAction): readonly string[] {
  if (action.kind === 'CREATE') return action.examples;
  if (action.kind === 'LABEL') return [...action.examples, ...action.counterexamples];
  return 'text' in action ? [action.text] : [];
}

/** Returns the action with other texts in the places of `quotesOf`. */
export function withQuotes(action: CurationAction, quotes: readonly string[]): CurationAction {
  if (action.kind === 'CREATE') return { ...action, examples: quotes };
  if (action.kind === 'LABEL') {
    const { length } = action.examples;
    return { ...action, examples: quotes.slice(0, length), counterexamples: quotes.slice(length) };
  }
  return 'text' in action ? { ...action, text: quotes[0]! } : action;
}
