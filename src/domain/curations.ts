/**
 * What people decide about the topics, clusters and gaps of an instance: records of the stream, with a place among its
 * messages.
 *
 * It has types and constants, and no test of its own.
 */

import type { PlacedWriting } from './writings.ts';

/** What can be renamed. */
export const CURATED_ENTITIES = ['TOPIC', 'CLUSTER', 'GAP'] as const;
export type CuratedEntity = (typeof CURATED_ENTITIES)[number];

/** A decision takes about as much work as so many messages, beside those that it moves: names and groups follow it. */
export const CURATION_MESSAGES = 200;

/** Every `id` is the UUID of what is curated. */
export type CurationAction =
  | { readonly kind: 'RENAME'; readonly entity: CuratedEntity; readonly id: string; readonly name: string }
  /** Keeps the name that is shown at the record's place in the stream. */
  | { readonly kind: 'PIN'; readonly entity: CuratedEntity; readonly id: string }
  /** Topic `id` counts as topic `into`. */
  | { readonly kind: 'MERGE'; readonly id: string; readonly into: string }
  /** Topic `id` belongs to cluster `cluster`: with `clusterName`, a new one of this id and name. */
  | { readonly kind: 'MOVE'; readonly id: string; readonly cluster: string; readonly clusterName?: string }
  /** What topic `id` holds counts as without a topic. */
  | { readonly kind: 'HIDE'; readonly id: string }
  /** Topic `id` is a new one that claims requests near its examples; `fromBeginning`: earlier ones too. */
  | {
      readonly kind: 'CREATE';
      readonly id: string;
      readonly name: string;
      readonly description: string;
      readonly examples: readonly string[];
      readonly fromBeginning: boolean;
    }
  /** Curation `id` no longer applies. */
  | { readonly kind: 'UNDO'; readonly id: string };

export interface Curation {
  /** UUID. */
  readonly id: string;
  /** Id of the API key that asked for it. */
  readonly keyId: string;
  readonly action: CurationAction;
  /** As how many messages it counts, from what was known when it was accepted; decides nothing but the pace. */
  readonly messages?: number;
}

/**
 * Why a curation changes nothing. `UNKNOWN`: what it names is not there. `CIRCULAR`: a topic would merge into itself.
 * `NOT_UNDOABLE`: what it undoes is refused, undone or an undo. `TOO_MANY`: the instance has as many as it may.
 */
export type CurationRefusal = 'UNKNOWN' | 'CIRCULAR' | 'NOT_UNDOABLE' | 'TOO_MANY';

/** A curation among the turns of a batch. */
export interface PlacedCuration {
  /** Place of the turn that it comes before; the number of turns when it comes after all of them. */
  readonly before: number;
  readonly session: null;
  /** Its place in the stream: that of the message that comes next in its entry. */
  readonly position: number;
  readonly instance: number;
  readonly instanceId: string;
  /** Microseconds since 1970-01-01 UTC. */
  readonly acceptedAt: number;
  readonly curation: Curation;
  /** Unit-length vectors of the examples, once they are known. */
  readonly examples?: readonly Float32Array[];
}

/** What stands between the turns of a batch. */
export type Interlude = PlacedWriting | PlacedCuration;

/** Bounds of what one request may hold, and of what an instance may have. */
export const MOST_EXAMPLES = 50;
export const MOST_OWN_TOPICS = 200;
/** Decisions that are applied or undone, undos among them: each costs as much as there are. */
export const MOST_CURATIONS = 10_000;
/** UTF-16 units. */
export const LONGEST_NAME = 80;
export const LONGEST_DESCRIPTION = 500;
export const LONGEST_EXAMPLE = 500;
