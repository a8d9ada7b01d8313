/** What the thread that assembles traces and the process that it belongs to say to each other. It has types only. */
import type { SaidBy } from '../../../stream/ledgers/erasure-holds.ts';
import type { ConversationName } from './records.ts';
import type { AssembledCounts } from './assembly.ts';

/** Messages of a conversation, written out as a request to ingest. */
export interface EmittedRequest {
  readonly projectId: string;
  readonly name: ConversationName;
  /** Decides the id of the request. */
  readonly seed: string;
  /** Microseconds. */
  readonly acceptedAt: number;
  readonly messages: number;
  readonly saidBy: readonly SaidBy[];
  /** See RequestDraft. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What the process does for the thread, which has neither the lease, nor the registry, nor a way into the stream. */
export interface AssemblyHost {
  /** Resolves when no other process can be the assembler. */
  confirm(): Promise<void>;
  /** Whether the conversation's session had messages before anything was known of it. */
  isKnownSession(projectId: string, name: ConversationName): Promise<boolean>;
  /**
   * Stores messages; doing it again with the same request changes nothing. Resolves also if they are refused for good.
   */
  emit(request: EmittedRequest): Promise<void>;
}

/** What waits to be assembled. */
export interface WaitingFigures {
  /** In memory. */
  readonly traces: number;
  /** Spans and log records, on the stream as well. */
  readonly spans: number;
}

/** A question to the host: the name of a method, and what it is called with. */
export type HostCall = {
  readonly [Name in keyof AssemblyHost]: {
    readonly name: Name;
    readonly parameters: Parameters<AssemblyHost[Name]>;
  };
}[keyof AssemblyHost];

export type ToThread =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'fault'; readonly id: number; readonly message: string; readonly isForGood: boolean }
  /** Finish the round that is under way, and end. */
  | { readonly kind: 'close' };

export type FromThread =
  /** It reads the stream. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly id: number; readonly call: HostCall }
  | { readonly kind: 'round'; readonly counts: AssembledCounts }
  | ({ readonly kind: 'waiting' } & WaitingFigures);
