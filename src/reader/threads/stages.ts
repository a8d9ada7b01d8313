/**
 * The two stages that the worker hands messages to, enrich and assign, and the errors that both may reject with.
 *
 * Test: test/reader/threads/pool.test.ts.
 */
import type { Assignment, Enrichment, StateRow, Turn } from '../../domain/facts.ts';
import type { Interlude } from '../../domain/curations.ts';
import type { WriterReports } from '../../domain/writings.ts';

/** A message whose analysis cannot be completed. It is counted, with no findings. */
export interface Unanalysed {
  /** The reason, without any of the message's text. */
  readonly unanalysed: string;
}

export interface EnrichStage {
  /** Returns one finding per message, in order. */
  enrich(messages: readonly Pick<Turn, 'role' | 'content'>[]): Promise<readonly (Enrichment | Unanalysed)[]>;
}

export interface AssignStage {
  hasInstance(instance: number): boolean;
  hasSession(instance: number, session: number): boolean;
  restoreInstance(instance: number, instanceId: string, rows: readonly StateRow[]): void;
  restoreSession(instance: number, session: number, value: Uint8Array | null): void;
  /**
   * Assigns a batch in stream order. Rejects with AnalysisFailure if a text hangs or fills the memory; `place` is then
   * its index in `turns`. After a rejection the stage remembers nothing: call `reset`, then restore.
   */
  assign(
    turns: readonly Turn[],
    enrichments: readonly Enrichment[],
    interludes?: readonly Interlude[],
  ): Assignment | Promise<Assignment>;
  takeState(): StateRow[];
  /** Takes the reports on the last batch for the writer. */
  takeReports(): WriterReports;
  reset(): void;
}

/** The finding of a message that was not analysed. */
export const NOTHING_FOUND: Enrichment = {
  kind: 'none',
  request: '',
  vector: null,
  sentences: [],
  signals: [],
  gap: null,
};

/**
 * Why an analysis failed. `time`: over the time limit. `memory`: over the memory limit. `error`: it threw. `ended`: its
 * thread ended.
 */
export type AnalysisFault = 'time' | 'memory' | 'error' | 'ended';

/** An analysis that failed for a reason that may lie in one of the texts. */
export class AnalysisFailure extends Error {
  readonly fault: AnalysisFault;
  /** Index of the text in work among those given; null during a step on several texts. */
  readonly place: number | null;

  constructor(fault: AnalysisFault, place: number | null, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'AnalysisFailure';
    this.fault = fault;
    this.place = place;
  }
}

/** The thread lost its memory through no fault of these messages. Restore the state and ask again. */
export class AnalysisInterrupted extends Error {
  constructor() {
    super('the analysis was interrupted and begins again');
    this.name = 'AnalysisInterrupted';
  }
}

/** The worker stops or hands the shard over, so nobody needs the answer. */
export class AnalysisStopped extends Error {
  constructor() {
    super('the analysis was stopped');
    this.name = 'AnalysisStopped';
  }
}
