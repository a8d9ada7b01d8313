/** What an import is asked for, and what it says. It has types only, and no test of its own. */
import type { Ingested } from '../client/answers.ts';
import type { BatchItem, IngestBody, OpenedInstance, QueryAnswer } from './client.ts';
import type { Omissions } from '../traces/omissions.ts';
import type { FilePlan } from './plan.ts';
import type { Warning } from './warnings.ts';

/** What the importer needs of the service. */
export interface ImportTarget {
  ingest(body: IngestBody, idempotencyKey: string): Promise<Ingested>;
  /** Many at once: for each its answer, or why it is refused. */
  ingestBatch(items: readonly BatchItem[]): Promise<(Ingested | Error)[]>;
  /** Session ids for ids of ours, the same for the same. Null: the service is older and cannot. */
  issueSessionIds(instanceId: string, externalIds: readonly string[]): Promise<readonly string[] | null>;
  query(params: Readonly<Record<string, string>>, waitFor?: number): Promise<QueryAnswer>;
  openInstance(options: { readonly name?: string; readonly default?: true }): Promise<OpenedInstance>;
}

/** The instance that conversations go into: one that there is, the project's default, or a new one. */
export type Destination =
  | { readonly kind: 'named'; readonly instanceId: string }
  | { readonly kind: 'default' }
  | { readonly kind: 'new'; readonly name?: string };

/** A place in a file where something was left out, and why. */
export interface Finding {
  readonly file: string;
  /** Counted from 1; a line, or what `unit` says. */
  readonly line: number;
  readonly unit?: 'entry' | 'row';
  readonly message: string;
}

/** Hears of what happens, as it happens. */
export interface ImportObserver {
  /** The instance is known; nothing has been sent yet. `opened` is null when it was named from the start. */
  instance?(instanceId: string, opened: OpenedInstance | null): void;
  progress?(progress: ImportProgress): void;
  /** Something was left out that the file cannot be blamed for (an empty turn) or should be told about. */
  notice?(finding: Finding): void;
  /** A line was not imported. */
  failure?(finding: Finding): void;
  /** The service says something of an accepted line for the first time. */
  warning?(finding: Finding): void;
}

export interface ImportProgress {
  readonly readBytes: number;
  readonly totalBytes: number;
  readonly conversations: number;
  readonly messages: number;
}

export interface ImportOptions {
  /** How each file is read. */
  readonly plans: readonly FilePlan[];
  readonly into: Destination;
  /** Of lines that name none, in place of their file's name; '': their ids alone name them. */
  readonly source?: string;
  /** The end user of conversations that name none. */
  readonly user?: string;
  readonly target: ImportTarget;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Waits while the service is more than this behind with counting. Default: never. */
  readonly maxLagMs?: number;
  readonly observer?: ImportObserver;
  /** Stops reading; what is in flight is finished. */
  readonly signal?: AbortSignal;
}

/** Where the service is once it has counted so many of the messages that were sent. */
export interface Mark {
  readonly position: number;
  readonly sessionId: string;
  readonly sent: number;
}

export interface ImportSummary {
  readonly instanceId: string | null;
  /** Conversations of which something was sent. A repeat within a day is answered but not stored again. */
  readonly conversations: number;
  readonly messages: number;
  /** Conversations that the service already held in full. */
  readonly alreadyThere: number;
  /** Messages that the service already held, those of conversations that were continued among them. */
  readonly messagesAlreadyThere: number;
  /** Distinct end users of all conversations, sent or already there. */
  readonly users: number;
  readonly emptyTurns: number;
  readonly failedLines: number;
  /** Files that could not be read to their end, and why; what came before the fault is imported. */
  readonly brokenFiles: readonly { readonly name: string; readonly message: string }[];
  /** What no message was made of, and how often, by the reason. */
  readonly leftOut: Omissions;
  /** What the service says of accepted messages, each distinct warning once. */
  readonly warnings: readonly Warning[];
  /** Why the import ended early; null when every line was read. */
  readonly stopped: Error | null;
  readonly interrupted: boolean;
  readonly durationMs: number;
  /** Where the last accepted conversation stands, to wait for; null when nothing was sent. */
  readonly last: { readonly position: number; readonly sessionId: string; readonly messages: number } | null;
  /** Places on the way there, to tell how far the service is with counting; not many. */
  readonly marks: readonly Mark[];
}
