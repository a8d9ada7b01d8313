/**
 * Decides what a failure of a batch means: a dead letter, another try, or the end of the process. Covered by
 * test/worker/dead-letter-decision.test.ts.
 */
import { SetupError } from '../errors.ts';
import { DatabaseError } from '../store/duckdb.ts';
import { lacksMemory } from '../store/live/live-database.ts';
import { AnalysisFailure } from '../reader/threads/stages.ts';
import { RecordError } from './batch.ts';

/** The process has to end for a reason (`cause`) that has nothing to do with the entries in work. */
export class SurroundingsError extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'SurroundingsError';
  }
}

/** What is kept of the instances of these entries is too much to have in memory at once. */
export class TooMuchState extends Error {
  constructor(rows: number) {
    super(`the states of their instances are ${rows} rows`);
    this.name = 'TooMuchState';
  }
}

/** The process has to end, and nobody knows why but that these entries were in work. */
export class EntriesInDoubt extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'EntriesInDoubt';
  }
}

/**
 * Where the cause of a failure lies. `entries`: a record or a value is not as it should be, or its analysis takes too
 * long. The worker splits the batch until the record stands alone, and dead-letters it. `surroundings`: the disk, the
 * memory, the stream or another worker, whatever the entries say; the process ends. `unknown`: the database gave up, or
 * the code has a fault, and these entries may bring it about; the process ends, and the next ones take the entries up
 * in smaller parts.
 */
export function causeOf(error: unknown): 'entries' | 'surroundings' | 'unknown' {
  if (error instanceof RecordError) return 'entries';
  if (error instanceof SurroundingsError || error instanceof SetupError || isTooMuch(error))
    return 'surroundings';
  if (error instanceof AnalysisFailure) return error.fault === 'error' ? 'unknown' : 'entries';
  if (!(error instanceof DatabaseError)) return 'unknown';
  if (error.fault === 'io' || error.fault === 'checkpoint-failed' || error.file !== null)
    return 'surroundings';
  return error.fault === 'data' ? 'entries' : 'unknown';
}

/** Whether there was too little memory: less work at a time may fit into it. */
export function isTooMuch(error: unknown): boolean {
  if (error instanceof AnalysisFailure) return error.fault === 'memory';
  return error instanceof TooMuchState || lacksMemory(error);
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
