/**
 * What people decide about and check: naming table, kind in the facts, and the word of errors.
 *
 * Test: test/query/curations/targets.test.ts, test/e2e/steering-rules.test.ts.
 */
import type { CheckedEntity } from './checks.ts';
import type { CuratedEntity } from './curations.ts';
import type { NamesTable } from './groupings.ts';
import { KINDS } from './kinds.ts';

export type NamedEntity = CuratedEntity | CheckedEntity;

export const NAMED_ENTITIES = {
  TOPIC: { table: 'topic', kind: KINDS.topic, words: 'topic' },
  CLUSTER: { table: 'cluster', kind: KINDS.cluster, words: 'topic cluster' },
  SIGNAL: { table: 'signal', kind: KINDS.signal, words: 'signal' },
  GAP: { table: 'gap', kind: KINDS.gap, words: 'gap' },
  LABEL: { table: 'label', kind: KINDS.label, words: 'label' },
  REPEATED_REQUEST: { table: 'repeated_request', kind: KINDS.repeatedRequest, words: 'repeated request' },
} as const satisfies Readonly<Record<NamedEntity, { table: NamesTable; kind: number; words: string }>>;
