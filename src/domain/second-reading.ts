/**
 * The types between the optional second reader, a language model that judges sessions as people who check do, and what
 * chooses the sessions.
 *
 * Test: test/doors/writer/second-reader.test.ts.
 */
import type { Checked } from './checks.ts';

/** A session to judge. */
export interface Reading {
  readonly instanceId: string;
  readonly of: Checked;
  /** UUID under which verdicts on it are stored. */
  readonly entityId: string;
  /** What is checked, as people see it. */
  readonly name: string;
  readonly sessionId: string;
}

/** A message of a transcript. */
export interface ReadLine {
  readonly role: string;
  readonly content: string;
}

/** Chooses the sessions of one shard, and reads them. */
export interface ReadingSource {
  /**
   * Returns the next sessions that `model` has not judged, at most `limit`; without those that `isPassed`. Rejects while
   * the views cannot be read.
   */
  next(model: string, limit: number, isPassed: (reading: Reading) => boolean): Promise<readonly Reading[]>;
  /** Returns the messages whose text is still there. Rejects while the views or the stream cannot be read. */
  linesOf(reading: Reading): Promise<readonly ReadLine[]>;
  close(): Promise<void>;
}
