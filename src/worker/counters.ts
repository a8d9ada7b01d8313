/**
 * What a shard's work has come to since it was opened: plain numbers, read by a heartbeat or a metrics page at
 * any moment. They start at nothing with each process, and nothing is decided by them.
 */
export interface WorkCounters {
  /** Stream sequence up to which entries are applied or deferred, and committed. */
  readonly sequence: number;
  /**
   * When the stream stored the newest entry that was applied, microseconds since 1970-01-01 UTC; null before the
   * first. Together with the stream's end it tells how far behind the shard is, in time.
   */
  readonly appliedEntryAt: number | null;
  /** Entries of which something is deferred, because their instances have more than their share. */
  readonly deferredEntries: number;
  /** Batches committed. */
  readonly batches: number;
  /** Messages counted; those of repeated and of dead-lettered requests are not. */
  readonly messages: number;
  /** Entries with a part that became a dead letter. */
  readonly entriesSetAside: number;
  /** Messages that count without findings because their analysis ran out of time or memory. */
  readonly analysisTimeouts: number;
  /**
   * When something was last done, microseconds since 1970-01-01 UTC: a batch was analysed, committed or published,
   * or the stream was asked and had nothing new. A quiet shard moves it at least every two seconds; one that
   * stands still for longer than a batch can take is stuck.
   */
  readonly lastProgressAt: number;
}

/** The loop's own counters, which it alone writes. */
export type MutableWorkCounters = { -readonly [Name in keyof WorkCounters]: WorkCounters[Name] };

/** The numbers of a shard at whose views nobody works. */
export function idleCounters(sequence: number, at: number): MutableWorkCounters {
  return {
    sequence,
    appliedEntryAt: null,
    deferredEntries: 0,
    batches: 0,
    messages: 0,
    entriesSetAside: 0,
    analysisTimeouts: 0,
    lastProgressAt: at,
  };
}
