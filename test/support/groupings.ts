import { GROUP_BYS, type GroupBy } from '../../src/domain/groupings.ts';

/** The groupings that every instance answers: SEGMENT needs an attribute of its sessions (test/e2e/segment-rules.test.ts). */
export const PLAIN_GROUP_BYS: readonly Exclude<GroupBy, 'SEGMENT'>[] = GROUP_BYS.filter(
  (groupBy) => groupBy !== 'SEGMENT',
);
