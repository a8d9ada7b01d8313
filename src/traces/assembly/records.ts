/** What the assembler keeps of conversations and traces, and how it is written. */
import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KnownTurn, NewMessage } from './known-turns.ts';
import type { SeenSpan, SpanIds } from './spoken-spans.ts';

/** Names a conversation within a project. */
export interface ConversationName {
  readonly instanceId: string;
  /** The caller's; absent: it has none, and `trace` names it. */
  readonly id?: string;
  /** The trace that began it. */
  readonly trace?: string;
}

/** Messages that go out as one request. */
export interface Emission {
  /**
   * Decides the id of the request. Names the messages, too: where what is known of the conversation was lost, its
   * emissions are counted from 1 again, and others are taken for those that were stored.
   */
  readonly seed: string;
  /** Microseconds. */
  readonly acceptedAt: number;
  /** The oldest entry that it stems from: once that is gone from the stream, it has been stored. */
  readonly since: number;
  readonly messages: readonly EmittedMessage[];
}

export interface EmittedMessage extends NewMessage {
  readonly userId?: string;
}

/** What is known of a conversation. */
export interface Conversation {
  readonly projectId: string;
  readonly name: ConversationName;
  turns: KnownTurn[];
  /** Names spans with their content, the newest last. */
  merged: string[];
  /** Turns at the beginning are no longer known, but were counted. */
  forgotten: boolean;
  /** Messages that may not have been stored yet. Written before they are. */
  outbox: Emission[];
  /** How many emissions there have been. */
  emissions: number;
}

/** What is known of a trace that was let go. */
export interface TraceRecord {
  readonly ids: SpanIds;
  readonly spans: readonly SeenSpan[];
  /** Where the messages of its spans went, by span id. */
  readonly conversations: Readonly<Record<string, ConversationName>>;
}

/** A conversation without an id that can be told by what was said in it. */
export interface Candidate {
  /** The trace that began it. */
  readonly name: string;
  /** Microseconds: when it had come so far; of what is only known from history, at the latest. */
  readonly at: number;
  /** The trace that goes on with it. */
  takenBy?: string;
}

/** What is known of a conversation, when it is stored. */
export const MAX_TURNS = 2000;
/** As many spans of one conversation as may come again: what the stream holds when a process is killed. */
const MAX_MERGED = 4096;
const MAX_SPANS = 512;
const MAX_CANDIDATES = 200;
const COMPRESS_ABOVE = 2048;

/** A name for a key: the same for the same parts. */
export function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27);
}

/** Lets go of what a conversation is not told by any more. */
export function forgetOldest(conversation: Conversation): void {
  const { turns, merged } = conversation;
  if (turns.length > MAX_TURNS) {
    turns.splice(0, turns.length - MAX_TURNS);
    conversation.forgotten = true;
  }
  if (merged.length > MAX_MERGED) merged.splice(0, merged.length - MAX_MERGED);
}

export function encodeConversation(conversation: Conversation): string {
  const { projectId, name, turns, merged, forgotten, outbox, emissions } = conversation;
  return pack({
    v: 1,
    projectId,
    name,
    turns: turns.map(({ role, hash, at, inferred, trace }) => [
      `${role === 'user' ? 'u' : 'a'}${INFERRED[inferred ?? 'not']}${hash}${trace}`,
      at,
    ]),
    merged,
    forgotten,
    outbox,
    emissions,
  });
}

const INFERRED = { not: '.', history: '?', step: '~' } as const;
const INFERRED_BY = new Map([
  ['?', 'history' as const],
  ['~', 'step' as const],
]);

interface StoredConversation extends Omit<Conversation, 'turns'> {
  readonly turns: readonly (readonly [string, number])[];
}

/** Of a turn: two characters, then 11 of its text's hash, then the name of its trace. */
const [FLAGS, HASH] = [2, 13];

export function decodeConversation(text: string): Conversation {
  const { turns, ...rest } = unpack(text) as StoredConversation;
  return {
    ...rest,
    turns: turns.map(([words, at]) => ({
      role: words.startsWith('u') ? 'user' : 'assistant',
      inferred: INFERRED_BY.get(words.charAt(1)) ?? null,
      hash: words.slice(FLAGS, HASH),
      trace: words.slice(HASH),
      at,
    })),
  };
}

export function encodeTrace({ ids, spans, conversations }: TraceRecord): string {
  const kept = spans.toSorted((a, b) => Number(b.counted) - Number(a.counted)).slice(0, MAX_SPANS);
  return pack({
    v: 1,
    ids,
    conversations,
    spans: kept.map(({ spanId, parentSpanId, counted }) => [spanId, parentSpanId ?? '', counted ? 1 : 0]),
  });
}

export function decodeTrace(text: string): TraceRecord {
  const { ids, conversations, spans } = unpack(text) as Omit<TraceRecord, 'spans'> & {
    readonly spans: readonly (readonly [string, string, number])[];
  };
  return {
    ids,
    conversations,
    spans: spans.map(([spanId, parent, counted]) => ({
      spanId,
      parentSpanId: parent === '' ? undefined : parent,
      counted: counted === 1,
    })),
  };
}

export function encodeCandidates(candidates: readonly Candidate[]): string {
  return pack({ v: 1, candidates: candidates.slice(-MAX_CANDIDATES) });
}

export function decodeCandidates(text: string): Candidate[] {
  return (unpack(text) as { readonly candidates: Candidate[] }).candidates;
}

/** JSON, or `z` and zstd of it in base64. */
function pack(value: object): string {
  const json = JSON.stringify(value);
  return json.length <= COMPRESS_ABOVE ? json : `z${zstdCompressSync(json).toString('base64')}`;
}

function unpack(text: string): unknown {
  const json = text.startsWith('z') ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')) : text;
  return JSON.parse(json.toString());
}
