import type { Assignment, Enrichment, StateRow, Turn } from '../../domain/facts.ts';
import type { Interlude } from '../../domain/curations.ts';
import type { WriterReports } from '../../domain/writings.ts';

/** What the loop hands messages to. */

/** A message whose analysis cannot be completed: it is counted, and nothing is found in it. */
export interface Unanalysed {
  /** Why, in words that say nothing of its text. */
  readonly unanalysed: string;
}

export interface EnrichStage {
  /** One finding a message, in order. */
  enrich(messages: readonly Pick<Turn, 'role' | 'content'>[]): Promise<readonly (Enrichment | Unanalysed)[]>;
}

export interface AssignStage {
  hasInstance(instance: number): boolean;
  hasSession(instance: number, session: number): boolean;
  restoreInstance(instance: number, instanceId: string, rows: readonly StateRow[]): void;
  restoreSession(instance: number, session: number, value: Uint8Array | null): void;
  /**
   * Rejects with AnalysisFailure when a text makes it hang or fill the memory; `place` is then that turn's.
   * After a rejection nothing is remembered any more: call `reset`, and restore.
   */
  assign(
    turns: readonly Turn[],
    enrichments: readonly Enrichment[],
    interludes?: readonly Interlude[],
  ): Assignment | Promise<Assignment>;
  takeState(): StateRow[];
  /** What a writer could write about, since the last `assign`. */
  takeReports(): WriterReports;
  reset(): void;
}

/** What counts as found in a message that was not analysed. */
export const NOTHING_FOUND: Enrichment = {
  kind: 'none',
  request: '',
  vector: null,
  sentences: [],
  signals: [],
  gap: null,
};

/**
 * `time`: it took longer than any text may. `memory`: it filled the memory. `error`: it threw. `ended`: the thread
 * that it ran in ended.
 */
export type AnalysisFault = 'time' | 'memory' | 'error' | 'ended';

/** An analysis that was not completed, for a reason that may lie in one of the texts. */
export class AnalysisFailure extends Error {
  readonly fault: AnalysisFault;
  /** Which text was in work, by its place among those given; null when it was not one alone. */
  readonly place: number | null;

  constructor(fault: AnalysisFault, place: number | null, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'AnalysisFailure';
    this.fault = fault;
    this.place = place;
  }
}

/** What was remembered is gone through no fault of these messages: restore it, and ask again. */
export class AnalysisInterrupted extends Error {
  constructor() {
    super('the analysis was interrupted and begins again');
    this.name = 'AnalysisInterrupted';
  }
}

/** Nobody waits for the analysis any more: the worker stops, or passes the shard on. */
export class AnalysisStopped extends Error {
  constructor() {
    super('the analysis was stopped');
    this.name = 'AnalysisStopped';
  }
}
