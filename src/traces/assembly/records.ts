/** What the assembler keeps of conversations and traces, and how it is written. */
import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Codec } from './assembly-store.ts';
import type { KnownTurn } from './known-turn.ts';
import type { NewMessage } from './known-turns.ts';
import { MERGED_LIMITS, MergedSpans, type MergedLimits, type StoredMerged } from './merged-spans.ts';
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
  /** Its session is one that we issued. Missing: its id is derived from its name. */
  readonly isIssued?: boolean;
  turns: KnownTurn[];
  /** Digests of spans with their content. */
  readonly merged: MergedSpans;
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
  readonly conversations: ReadonlyMap<string, ConversationName>;
  /** How many messages its spans added, by the newest entry and the digest; of the oldest together by ''. */
  readonly added: ReadonlyMap<string, number>;
}

/** Of a trace that nobody has seen. */
export const NOTHING_KNOWN: TraceRecord = { ids: {}, spans: [], conversations: new Map(), added: new Map() };

/** A conversation without an id that can be told by what was said in it. */
export interface Candidate {
  /** The trace that began it. */
  readonly name: string;
  /** Microseconds: when it had come so far; of what is only known from history, at the latest. */
  readonly at: number;
  /** Of one that is told by its last turns: how many turns it had, as it may end so again. */
  readonly turns?: number;
  /** The trace that goes on with it. */
  takenBy?: string;
}

/** How much is kept. */
export interface Kept {
  /** Turns of a conversation. */
  readonly turns: number;
  /** Spans of a trace: as many that were counted, and as many others. */
  readonly spans: number;
  readonly merged: MergedLimits;
}

export const KEPT: Kept = { turns: 2000, spans: 4096, merged: MERGED_LIMITS };
/** Conversations that end alike, and are kept. */
export const MAX_CANDIDATES = 200;
const COMPRESS_ABOVE = 2048;

/** A name for a key: the same for the same parts. */
export function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27);
}

/** Lets go of the turns that a conversation is not told by any more. */
export function forgetTurns(conversation: Conversation, kept: number): void {
  const { turns } = conversation;
  if (turns.length <= kept) return;
  turns.splice(0, turns.length - kept);
  conversation.forgotten = true;
}

/** A trace of which no more is known than can be kept: what was counted first says least. */
export function boundedTrace({ ids, spans, conversations, added }: TraceRecord, kept: number): TraceRecord {
  const isCounted = ({ counted }: SeenSpan): boolean => counted;
  const counts = [...added].filter(([, count]) => count > 0);
  const oldest = counts.splice(0, counts.length - kept).reduce((sum, [, count]) => sum + count, 0);
  return {
    ids,
    spans: [
      ...spans.filter(isCounted).slice(-kept),
      ...spans.filter((span) => !isCounted(span)).slice(-kept),
    ],
    conversations: new Map([...conversations].slice(-kept)),
    added: new Map(oldest > 0 ? [['', oldest], ...counts] : counts),
  };
}

export function encodeConversation(conversation: Conversation): string {
  const { projectId, name, isIssued, turns, merged, forgotten, outbox, emissions } = conversation;
  return pack({
    v: 1,
    projectId,
    name,
    isIssued,
    turns: turns.map(({ role, hash, at, inferred, trace }) => [
      `${role === 'user' ? 'u' : 'a'}${INFERRED[inferred ?? 'not']}${hash}${trace}`,
      at,
    ]),
    merged: merged.stored,
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

interface StoredConversation extends Omit<Conversation, 'turns' | 'merged'> {
  readonly turns: readonly (readonly [string, number])[];
  /** A list of digests until 2026-11-22. */
  readonly merged: StoredMerged | readonly string[];
}

/** Of a turn: two characters, then 11 of its text's hash, then the name of its trace. */
const [FLAGS, HASH] = [2, 13];

export function decodeConversation(text: string, kept: Kept = KEPT): Conversation {
  const { turns, merged, ...rest } = unpack(text) as StoredConversation;
  const stored = 'blocks' in merged ? merged : { blocks: [[0, merged] as const], pages: [] };
  return {
    ...rest,
    merged: new MergedSpans(kept.merged, stored),
    turns: turns.map(([words, at]) => ({
      role: words.startsWith('u') ? 'user' : 'assistant',
      inferred: INFERRED_BY.get(words.charAt(1)) ?? null,
      hash: words.slice(FLAGS, HASH),
      trace: words.slice(HASH),
      at,
    })),
  };
}

function encodeTrace({ ids, spans, conversations, added }: TraceRecord): string {
  const byName = Map.groupBy(conversations, ([, { instanceId, id, trace }]) =>
    JSON.stringify([instanceId, id ?? null, trace ?? null]),
  );
  return pack({
    v: 1,
    ids,
    conversations: [...byName.values()].map((group) => [group[0]?.[1], group.map(([spanId]) => spanId)]),
    added: [...added],
    spans: spans.map(({ spanId, parentSpanId, counted }) => [spanId, parentSpanId ?? '', counted ? 1 : 0]),
  });
}

interface StoredTrace {
  readonly ids: SpanIds;
  /** By span id until 2026-11-22. */
  readonly conversations:
    | readonly (readonly [name: ConversationName, spanIds: readonly string[]])[]
    | Readonly<Record<string, ConversationName>>;
  readonly spans: readonly (readonly [string, string, number])[];
  /** Missing until 2026-11-24. */
  readonly added?: readonly (readonly [digest: string, messages: number])[];
}

function decodeTrace(text: string): TraceRecord {
  const { ids, conversations, spans, added } = unpack(text) as StoredTrace;
  const named = isList(conversations)
    ? conversations.flatMap(([name, spanIds]) => spanIds.map((spanId) => [spanId, name] as const))
    : Object.entries(conversations);
  return {
    ids,
    conversations: new Map(named),
    added: new Map(added),
    spans: spans.map(([spanId, parent, counted]) => ({
      spanId,
      parentSpanId: parent === '' ? undefined : parent,
      counted: counted === 1,
    })),
  };
}

function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}

function encodePage(digests: ReadonlySet<string>): string {
  return JSON.stringify({ v: 1, digests: [...digests] });
}

function decodePage(text: string): ReadonlySet<string> {
  return new Set((JSON.parse(text) as { readonly digests: readonly string[] }).digests);
}

function encodeCandidates(candidates: readonly Candidate[]): string {
  return pack({ v: 1, candidates });
}

function decodeCandidates(text: string): Candidate[] {
  return (unpack(text) as { readonly candidates: Candidate[] }).candidates;
}

/** What one of each takes in memory, bytes, about. */
const [TURN_BYTES, DIGEST_BYTES, SPAN_BYTES, PLACE_BYTES, CANDIDATE_BYTES] = [160, 90, 220, 100, 120];

function weightOf({ turns, merged, outbox }: Conversation): number {
  const waiting = outbox.flatMap(({ messages }) => messages);
  const texts = waiting.reduce((sum, { content }) => sum + TURN_BYTES + 2 * content.length, 0);
  return 600 + TURN_BYTES * turns.length + DIGEST_BYTES * merged.size + texts;
}

export const CONVERSATIONS: Codec<Conversation> = {
  encode: encodeConversation,
  decode: (text) => decodeConversation(text),
  weigh: weightOf,
};

export const TRACES: Codec<TraceRecord> = {
  encode: encodeTrace,
  decode: decodeTrace,
  weigh: ({ spans, conversations, added }) =>
    300 + SPAN_BYTES * spans.length + PLACE_BYTES * (conversations.size + added.size),
};

export const CANDIDATES: Codec<Candidate[]> = {
  encode: encodeCandidates,
  decode: decodeCandidates,
  weigh: (candidates) => CANDIDATE_BYTES * candidates.length,
};

export const PAGES: Codec<ReadonlySet<string>> = {
  encode: encodePage,
  decode: decodePage,
  weigh: (digests) => DIGEST_BYTES * digests.size,
};

/** JSON, or `z` and zstd of it in base64. */
function pack(value: object): string {
  const json = JSON.stringify(value);
  return json.length <= COMPRESS_ABOVE ? json : `z${zstdCompressSync(json).toString('base64')}`;
}

function unpack(text: string): unknown {
  const json = text.startsWith('z') ? zstdDecompressSync(Buffer.from(text.slice(1), 'base64')) : text;
  return JSON.parse(json.toString());
}
