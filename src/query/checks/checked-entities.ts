/**
 * The naming tables and kinds of what can be checked.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import type { Checked } from '../../domain/checks.ts';
import type { NamesTable } from '../../domain/groupings.ts';
import { KINDS } from '../../domain/kinds.ts';

export const CHECKED_ENTITIES = {
  TOPIC: { table: 'topic', kind: KINDS.topic, words: 'topic' },
  SIGNAL: { table: 'signal', kind: KINDS.signal, words: 'signal' },
  GAP: { table: 'gap', kind: KINDS.gap, words: 'gap' },
  REPEATED_REQUEST: { table: 'repeated_request', kind: KINDS.repeatedRequest, words: 'repeated request' },
} as const satisfies Readonly<Record<Checked, { table: NamesTable; kind: number; words: string }>>;
