/**
 * The types between the worker and the optional writer, a language model that names topics, clusters and gaps and
 * summarizes sessions.
 *
 * Test: test/doors/writer/writer.test.ts.
 */

/** The target of a written text: the name of a topic, cluster or gap, or the summary of a session. */
export type WritingTarget = 'topic' | 'cluster' | 'gap' | 'session';

export type NameTarget = Exclude<WritingTarget, 'session'>;

/** A text that replaces ours from its place in the stream on. */
export interface Writing {
  readonly target: WritingTarget;
  /** UUID of the topic, cluster, gap or session. */
  readonly id: string;
  readonly text: string;
  /** The model that wrote it. */
  readonly model: string;
  /** When the text was requested: the requests of the topic, cluster or gap, or the turns of the session. */
  readonly at: number;
}

/** A writing among the turns of a batch. */
export interface PlacedWriting {
  /** Index of the turn that it precedes; the number of turns when it follows all of them. */
  readonly before: number;
  readonly instance: number;
  readonly instanceId: string;
  /** Number of its session; null for names. */
  readonly session: number | null;
  readonly writing: Writing;
}

/** A topic, cluster or gap that is new or has twice the requests of its last report. */
export interface NameReport {
  readonly instance: number;
  readonly instanceId: string;
  readonly target: NameTarget;
  readonly id: string;
  /** Number of its requests. */
  readonly at: number;
  /** The name that the service gave it. */
  readonly name: string;
  /** Texts of users, without personal data. */
  readonly texts: readonly string[];
}

export interface TurnReport {
  readonly instance: number;
  readonly instanceId: string;
  readonly sessionId: string;
  /** Number of the session's turns, this one included. */
  readonly at: number;
  readonly speaker: 'user' | 'assistant' | 'other';
  /** The beginning of the turn, without personal data; '' for a turn that is not analysed. */
  readonly text: string;
}

/** The topics, clusters, gaps and turns of a batch that a text can be written for. */
export interface WriterReports {
  readonly names: readonly NameReport[];
  readonly turns: readonly TurnReport[];
}

export const NO_REPORTS: WriterReports = { names: [], turns: [] };

/** Receives the reports of one shard. The shard never waits for the writer. */
export interface ShardWriter {
  /** Call after a commit. `projectOf`: the project of each instance in the batch. */
  committed(reports: WriterReports, projectOf: ReadonlyMap<number, string>): void;
  /** Once this resolves, nothing more is published for the shard. */
  close(): Promise<void>;
}

/** The shard that a writer works for. */
export interface WrittenShard {
  readonly shard: number;
  /** Folder of its views. */
  readonly directory: string;
  /** Rejects once another worker may own the shard. */
  readonly guard: () => Promise<void>;
}

/** Opens the writer of a shard. */
export type OpenShardWriter = (shard: WrittenShard) => ShardWriter;
