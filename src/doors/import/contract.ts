/**
 * Types of an import: its options, its progress and its summary.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import type { OpenedInstance, ServiceClient } from './client.ts';
import type { Omissions } from '../traces/omissions.ts';
import type { MadeUp } from './made-up.ts';
import type { FilePlan } from './plan.ts';
import type { Warning } from './warnings.ts';

/** The methods of the service that the importer calls. */
export type ImportTarget = Pick<
  ServiceClient,
  'ingest' | 'ingestBatch' | 'giveFeedback' | 'issueSessionIds' | 'query' | 'openInstance'
>;

/** The instance that receives the conversations: an existing one, the project's default, or a new one. */
export type Destination =
  | { readonly kind: 'named'; readonly instanceId: string }
  | { readonly kind: 'default' }
  | { readonly kind: 'new'; readonly name?: string };

/** A place in a file where something was left out, and the reason. */
export interface Finding {
  readonly file: string;
  /** Counted from 1; counts lines unless `unit` is given. */
  readonly line: number;
  readonly unit?: 'entry' | 'row';
  readonly message: string;
}

/** Callbacks of a running import. */
export interface ImportObserver {
  /** Called once the instance is known, before anything is sent. `opened` is null if the caller named the instance. */
  instance?(instanceId: string, opened: OpenedInstance | null): void;
  progress?(progress: ImportProgress): void;
  /** An empty turn was left out. */
  notice?(finding: Finding): void;
  /** A line was not imported. */
  failure?(finding: Finding): void;
  /** The service returned this warning for an accepted line for the first time. */
  warning?(finding: Finding): void;
}

export interface ImportProgress {
  readonly readBytes: number;
  readonly totalBytes: number;
  readonly conversations: number;
  readonly messages: number;
}

export interface ImportOptions {
  readonly plans: readonly FilePlan[];
  readonly into: Destination;
  /** Source of lines that name none, in place of the file name; '' names conversations by their ids alone. */
  readonly source?: string | undefined;
  /** End user of conversations that name none. */
  readonly user?: string | undefined;
  readonly target: ImportTarget;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** The import pauses while the service is further behind than this. Default: never. */
  readonly maxLagMs?: number | undefined;
  readonly observer?: ImportObserver;
  /** Stops reading; requests in flight finish. */
  readonly signal?: AbortSignal;
}

/** A position of the stream, and how many messages the import had sent up to it. */
export interface Mark {
  readonly position: number;
  readonly sessionId: string;
  readonly sent: number;
}

export interface ImportSummary {
  readonly instanceId: string | null;
  /** Conversations that sent at least one message. A repeat within a day is answered but not stored again. */
  readonly conversations: number;
  readonly messages: number;
  /** Conversations that the service already held in full. */
  readonly alreadyThere: number;
  /** Messages that the service already held, including those of continued conversations. */
  readonly messagesAlreadyThere: number;
  /** Pieces of feedback that the service accepted; what it had before counts once there. */
  readonly feedback: number;
  /** Distinct end users of all conversations, sent or already there. */
  readonly users: number;
  /** Times of messages that were sent, and end users, that no file names. */
  readonly madeUp: MadeUp;
  readonly emptyTurns: number;
  readonly failedLines: number;
  /** Files that could not be read to their end; everything before the fault is imported. */
  readonly brokenFiles: readonly { readonly name: string; readonly message: string }[];
  /** Counts of parts that became no message, by reason. */
  readonly leftOut: Omissions;
  /** Distinct warnings of the service about accepted messages. */
  readonly warnings: readonly Warning[];
  /** Error that ended the import early; null when every line was read. */
  readonly stopped: Error | null;
  readonly interrupted: boolean;
  readonly durationMs: number;
  /** The accepted message or feedback with the highest position; null when nothing was sent. */
  readonly last: { readonly position: number; readonly sessionId: string; readonly messages: number } | null;
  /** A few positions before `last`, which show how far the service has processed. */
  readonly marks: readonly Mark[];
}
