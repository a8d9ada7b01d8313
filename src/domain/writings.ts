/**
 * What an optional writer, a language model, writes for an instance, and what it is told for that.
 *
 * It has types and one constant, and no test of its own.
 */

/** What a text is written for: the name of the first three, the summary of a session. */
export type WritingTarget = 'topic' | 'cluster' | 'gap' | 'session';

/** Names that can be written. */
export type NameTarget = Exclude<WritingTarget, 'session'>;

/** A text that stands, from its place in the stream on, where ours would stand. */
export interface Writing {
  readonly target: WritingTarget;
  /** UUID of the topic, cluster, gap or session. */
  readonly id: string;
  readonly text: string;
  /** The model that wrote it. */
  readonly model: string;
  /** Requests that the topic, cluster or gap had, or turns that the session had, when the text was asked for. */
  readonly at: number;
}

/** A writing among the turns of a batch. */
export interface PlacedWriting {
  /** Place of the turn that it comes before; the number of turns when it comes after all of them. */
  readonly before: number;
  readonly instance: number;
  readonly instanceId: string;
  /** Number of the session that is written about; null for names. */
  readonly session: number | null;
  readonly writing: Writing;
}

/** A topic, cluster or gap that was made, or has twice the requests of the last time. */
export interface NameReport {
  readonly instance: number;
  readonly instanceId: string;
  readonly target: NameTarget;
  readonly id: string;
  /** Requests that it has. */
  readonly at: number;
  /** The name that we gave it. */
  readonly name: string;
  /** What users said, without personal data. */
  readonly texts: readonly string[];
}

/** A turn of a session. */
export interface TurnReport {
  readonly instance: number;
  readonly instanceId: string;
  readonly sessionId: string;
  /** Turns that the session has by now, this one included. */
  readonly at: number;
  readonly speaker: 'user' | 'assistant' | 'other';
  /** Without personal data; the beginning of a long turn. '' of a turn that is not analysed. */
  readonly text: string;
}

/** What a batch brought that could be written about. */
export interface WriterReports {
  readonly names: readonly NameReport[];
  readonly turns: readonly TurnReport[];
}

export const NO_REPORTS: WriterReports = { names: [], turns: [] };

/** Where a shard tells what could be written about; it never waits for what becomes of it. */
export interface ShardWriter {
  /** Call with what is committed. `projectOf`: the project of each instance of the batch. */
  committed(reports: WriterReports, projectOf: ReadonlyMap<number, string>): void;
  /** Nothing more is published for the shard once this resolves. */
  close(): Promise<void>;
}

/** Opens the writer of a shard. `guard` rejects when another worker may own the shard by now. */
export type OpenShardWriter = (guard: () => Promise<void>) => ShardWriter;
