/**
 * Counters of a shard's work since it was opened. Heartbeats and the metrics page read them at any moment; they start
 * at zero in each process, and nothing is decided by them.
 *
 * Test: test/worker/loop.test.ts.
 */
export interface WorkCounters {
  /** Stream sequence up to which entries are applied or deferred, and committed. */
  readonly sequence: number;
  /**
   * When the stream stored the newest entry that was applied, microseconds since 1970-01-01 UTC; null before the first.
   * With the end of the stream, it gives the shard's lag in time.
   */
  readonly appliedEntryAt: number | null;
  /** Deferred parts of entries whose instances exceed their share. */
  readonly deferredParts: number;
  /** Batches committed. */
  readonly batches: number;
  /** Messages counted; those of repeated and of dead-lettered requests are not. */
  readonly messages: number;
  /** Entries with a part that became a dead letter. */
  readonly entriesSetAside: number;
  /** Messages that count without findings because their analysis ran out of time or memory. */
  readonly analysisTimeouts: number;
  /**
   * When the shard last made progress, microseconds since 1970-01-01 UTC: it analysed, committed or published a batch,
   * or asked the stream and got nothing new. A quiet shard moves it at least every two seconds; a shard that does not
   * move it for longer than a batch can take is stuck.
   */
  readonly lastProgressAt: number;
}

/** The counters as the loop sees them, their only writer. */
export type MutableWorkCounters = { -readonly [Name in keyof WorkCounters]: WorkCounters[Name] };

/** Counters of a shard that does no work. */
export function idleCounters(sequence: number, at: number): MutableWorkCounters {
  return {
    sequence,
    appliedEntryAt: null,
    deferredParts: 0,
    batches: 0,
    messages: 0,
    entriesSetAside: 0,
    analysisTimeouts: 0,
    lastProgressAt: at,
  };
}
