/**
 * Classifies the failure of a batch: a dead letter, another try, or the end of the process.
 *
 * Test: test/worker/dead-letter-decision.test.ts.
 */
import { SetupError } from '../errors.ts';
import { DatabaseError } from '../store/duckdb.ts';
import { lacksMemory } from '../store/live/live-database.ts';
import { AnalysisFailure } from '../reader/threads/stages.ts';
import { RecordError } from './batch.ts';

/** The process must end, for a reason (`cause`) unrelated to the entries in work. */
export class SurroundingsError extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'SurroundingsError';
  }
}

/** The instances of these entries have more state than fits in memory at once. */
export class TooMuchState extends Error {
  constructor(rows: number) {
    super(`the states of their instances are ${rows} rows`);
    this.name = 'TooMuchState';
  }
}

/** The process must end, for an unknown reason. The entries in work may be the cause. */
export class EntriesInDoubt extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'EntriesInDoubt';
  }
}

/**
 * Classifies the cause of a failure. `entries`: a record or value is invalid, or its analysis takes too long. The
 * worker splits the batch until the record stands alone, and dead-letters it. `surroundings`: the disk, the memory, the
 * stream or another worker, whatever the entries say; the process ends. `unknown`: the database gave up, or the code
 * has a fault, and these entries may trigger it; the process ends, and the next ones apply the entries in smaller
 * parts.
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

/** Returns true if memory ran out: less work at a time may fit. */
export function isTooMuch(error: unknown): boolean {
  if (error instanceof AnalysisFailure) return error.fault === 'memory';
  return error instanceof TooMuchState || lacksMemory(error);
}

/** The message of an error, for logs and dead letters. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
