/**
 * Messages between the process and the thread that assembles traces.
 *
 * Test: test/doors/traces/assembly/assembly-thread.test.ts.
 */
import type { RequestAuthor } from '../../../stream/ledgers/erasure-holds.ts';
import type { ConversationName, EmittedFeedback } from './records.ts';
import type { AssembledCounts } from './assembly.ts';

/** Messages of a conversation, serialised as an ingest request. */
export interface EmittedRequest {
  readonly projectId: string;
  readonly name: ConversationName;
  /** Seed of the request id. */
  readonly seed: string;
  /** Microseconds. */
  readonly acceptedAt: number;
  readonly messages: number;
  readonly authors: readonly RequestAuthor[];
  /** If it is refused, its parts are sent. */
  readonly isDivisible?: boolean;
  /** Texts or ids hold tokens. */
  readonly hasTokens: boolean;
  /** Serialised as in RequestDraft. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** On a message of the conversation, in place of messages. */
  readonly feedback?: EmittedFeedback;
}

/** Methods of the process that the thread calls: the thread itself has no lease, registry or stream. */
export interface AssemblyHost {
  /** Resolves when no other process can be the assembler. */
  confirm(): Promise<void>;
  /** Resolves to true if the session had messages before this assembler knew the conversation. */
  isKnownSession(projectId: string, name: ConversationName): Promise<boolean>;
  /** Stores messages; repeating a request changes nothing. Resolves to false if they are refused for good. */
  emit(request: EmittedRequest): Promise<boolean>;
}

/** Work that is not assembled yet. */
export interface WaitingFigures {
  /** Traces in memory. */
  readonly traces: number;
  /** Spans and log records, including those on the stream. */
  readonly spans: number;
}

/** A call of a host method. */
export type HostCall = {
  readonly [Name in keyof AssemblyHost]: {
    readonly name: Name;
    readonly parameters: Parameters<AssemblyHost[Name]>;
  };
}[keyof AssemblyHost];

export type ToThread =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'fault'; readonly id: number; readonly message: string; readonly isForGood: boolean }
  /** Finish the current round and end. */
  | { readonly kind: 'close' };

export type FromThread =
  /** The thread reads the stream. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly id: number; readonly call: HostCall }
  | { readonly kind: 'round'; readonly counts: AssembledCounts }
  | ({ readonly kind: 'waiting' } & WaitingFigures);
