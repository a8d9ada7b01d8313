/** Covered by test/domain/groupings.test.ts. */
/** Kinds of entity as the views number them (views/fact.sql). */
export const KINDS = { all: 0, topic: 1, cluster: 2, signal: 3, repeatedRequest: 4, gap: 5 } as const;
