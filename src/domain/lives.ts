/**
 * The life of what is found: a person says that a topic, signal, gap or repeated request is open, planned, fixed or not
 * worth a change. Keeps the invariant that the latest statement is the whole life: what it leaves out is empty.
 *
 * Test: test/query/curations/lives.test.ts, test/web/ingest/life-body.test.ts.
 */
import { isPlainName } from './printable.ts';

/** Entities that have a life. */
export const TRACKED_ENTITIES = ['TOPIC', 'SIGNAL', 'GAP', 'REPEATED_REQUEST'] as const;
export type TrackedEntity = (typeof TRACKED_ENTITIES)[number];

/** True for a kind of entity, by its name in the API, that has a life. */
function isTrackedEntity(kind: string): kind is TrackedEntity {
  return TRACKED_ENTITIES.some((known) => known === kind);
}

/** What the rows of a grouping are tracked as; null: they have no life. */
export function trackedAs(groupBy: string): TrackedEntity | null {
  if (groupBy === 'CSAT_DSAT') return 'SIGNAL';
  return isTrackedEntity(groupBy) ? groupBy : null;
}

export const LIFE_STATES = ['OPEN', 'PLANNED', 'FIXED', 'WONT_DO'] as const;
export type LifeState = (typeof LIFE_STATES)[number];

/** What people read for a state. */
export const LIFE_STATE_WORDS: Readonly<Record<LifeState, string>> = {
  OPEN: 'Open',
  PLANNED: 'Planned',
  FIXED: 'Fixed',
  WONT_DO: 'Won’t do',
};

/** The attribute of sessions, and its value, from which on something is fixed. */
export interface Release {
  readonly name: string;
  readonly value: string;
}

/** One statement of a whole life. */
export interface StatedLife {
  readonly state: LifeState;
  /** FIXED without `release`: since when, microseconds since 1970-01-01 UTC; left out: since it was said. */
  readonly fixedAt?: number;
  /** FIXED alone, without `fixedAt`: in which release. */
  readonly release?: Release;
  readonly owner?: string;
  readonly note?: string;
  /** An http or https URL. */
  readonly link?: string;
}

/** Limit of the statements of one instance, undone ones included: each takes memory while the instance is in work. */
export const MOST_TRACKED = 10_000;
/** In UTF-16 units, as the next two. */
export const LONGEST_OWNER = 100;
export const LONGEST_NOTE = 1000;
export const LONGEST_LINK = 2000;

/** True for an http or https URL, which a page may render as a link. */
export function isWebLink(text: string): boolean {
  return /^https?:\/\/\S+$/iu.test(text) && isPlainName(text) && URL.canParse(text);
}
