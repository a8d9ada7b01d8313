/**
 * What the assembler keeps of conversations and traces, and how it is written. Keeps the invariant that a value is
 * bounded, whatever comes. Test: test/doors/traces/assembly/assembly.test.ts, merged-spans.test.ts.
 */
import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Codec } from './assembly-store.ts';
import type { Usage } from '../../../domain/usage.ts';
import type { ObservedAttributes, SpanIds } from '../observation.ts';
import type { NewMessage } from './merge-span.ts';
import { MERGED_LIMITS, MergedSpans, type MergedLimits, type StoredMerged } from './merged-spans.ts';
import type { SeenSpan } from './spoken-spans.ts';
import type { Inferred, Turn } from './turn.ts';

/** Names a conversation within a project. */
export interface ConversationName {
  readonly instanceId: string;
  /** The caller's; absent: it is one trace. */
  readonly id?: string;
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
  /** How many messages in a row stem from one trace each. Missing in what versions before 0.5.0 stored. */
  readonly runs?: readonly number[];
  /** Of the conversation, as the traces of the messages tell them. */
  readonly attributes?: ObservedAttributes;
  /** Feedback on a message that was sent before, in place of messages. */
  readonly feedback?: EmittedFeedback;
}

/** A thumb on the reply with this event time, microseconds. */
export interface EmittedFeedback {
  readonly value: 1 | -1;
  readonly at: number;
}

export interface EmittedMessage extends NewMessage {
  readonly userId?: string;
  readonly usage?: Usage;
}

/** What is known of a conversation. */
export interface Conversation {
  readonly projectId: string;
  readonly name: ConversationName;
  turns: Turn[];
  /** Digests of spans with their content. */
  readonly merged: MergedSpans;
  /** Turns at the beginning are no longer known, but were counted. */
  forgotten: boolean;
  /** Its turns until then were erased, microseconds; missing: none were. */
  readonly erasedAt?: number | undefined;
  /** Usage of calls that brought no message: it lies on the next one. */
  usage?: Usage | undefined;
  /** Messages that may not have been stored yet. Written, sealed, before they are. */
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
  /** What its spans told of conversations, by the conversation's id; '' for those that name none. */
  readonly attributes: ReadonlyMap<string, ObservedAttributes>;
  /** Usage of spans that counts, and had no message to lie on, by span id. */
  readonly usage: ReadonlyMap<string, Usage>;
  /** Event times of the replies that its spans brought, by span id, microseconds. */
  readonly replies: ReadonlyMap<string, number>;
  /** How many messages its spans added, by the newest entry and the digest; of the oldest together by ''. */
  readonly added: ReadonlyMap<string, number>;
}

/** Of a trace that nobody has seen. */
export const NOTHING_KNOWN: TraceRecord = {
  ids: {},
  spans: [],
  conversations: new Map(),
  attributes: new Map(),
  usage: new Map(),
  replies: new Map(),
  added: new Map(),
};

/** How much is kept. */
export interface Kept {
  /** Turns of a conversation. */
  readonly turns: number;
  /** Spans of a trace: as many that were counted, and as many others. */
  readonly spans: number;
  readonly merged: MergedLimits;
}

export const KEPT: Kept = { turns: 2000, spans: 4096, merged: MERGED_LIMITS };
/** Of so many conversations of one trace, attributes are kept: those told of last. */
const KEPT_ATTRIBUTES = 64;
/** Of so many spans of one trace, usage waits for messages: the newest. */
const KEPT_USAGE = 64;
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
export function boundedTrace(
  { ids, spans, conversations, attributes, usage, replies, added }: TraceRecord,
  kept: number,
): TraceRecord {
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
    attributes: new Map([...attributes].slice(-KEPT_ATTRIBUTES)),
    usage: new Map([...usage].slice(-KEPT_USAGE)),
    replies: new Map([...replies].slice(-kept)),
    added: new Map(oldest > 0 ? [['', oldest], ...counts] : counts),
  };
}

/** Seals messages that are about to be stored. Opens to null what has been stored. */
export interface OutboxSeal {
  seal(bytes: Uint8Array): string;
  open(sealed: string): Uint8Array | null;
}

export function encodeConversation(conversation: Conversation, outboxSeal: OutboxSeal): string {
  const { projectId, name, turns, merged, forgotten, erasedAt, usage, outbox, emissions } = conversation;
  return pack({
    v: 1,
    projectId,
    name,
    turns: turns.map(({ role, hash, at, inferred, trace }) => [
      `${role === 'user' ? 'u' : 'a'}${INFERRED[inferred ?? 'not']}${hash}${trace}`,
      at,
    ]),
    merged: merged.stored,
    forgotten,
    erasedAt,
    usage,
    // What is sealed does not get smaller.
    ...(outbox.length === 0 ? {} : { sealed: outboxSeal.seal(zstdCompressSync(JSON.stringify(outbox))) }),
    emissions,
  });
}

const INFERRED = { not: '.', history: '?', step: '~', elsewhere: '!' } as const;
const INFERRED_BY: ReadonlyMap<string, Inferred> = new Map([
  ['?', 'history'],
  ['~', 'step'],
  ['!', 'elsewhere'],
]);

interface StoredConversation extends Omit<Conversation, 'turns' | 'merged' | 'outbox'> {
  /** In clear until 2026-11-29. */
  readonly outbox?: Emission[];
  readonly sealed?: string;
  readonly turns: readonly (readonly [string, number])[];
  /** A list of digests until 2026-11-22. */
  readonly merged: StoredMerged | readonly string[];
}

/** Of a turn: two characters, then 11 of its text's hash, then the name of its trace. */
const [FLAGS, HASH] = [2, 13];

export function decodeConversation(text: string, outboxSeal: OutboxSeal, kept: Kept = KEPT): Conversation {
  return conversationOf(unpack(text) as StoredConversation, outboxSeal, kept);
}

/** As `decodeConversation`, of any value in the bucket; null if it is no conversation. */
export function conversationIn(text: string, outboxSeal: Pick<OutboxSeal, 'open'>): Conversation | null {
  const stored = text === '' ? {} : (unpack(text) as Partial<StoredConversation>);
  return stored.name === undefined ? null : conversationOf(stored as StoredConversation, outboxSeal, KEPT);
}

function conversationOf(
  { turns, merged, outbox = [], sealed, ...rest }: StoredConversation,
  outboxSeal: Pick<OutboxSeal, 'open'>,
  kept: Kept,
): Conversation {
  const opened = sealed === undefined ? null : outboxSeal.open(sealed);
  const stored = 'blocks' in merged ? merged : { blocks: [[0, merged] as const], pages: [] };
  return {
    ...rest,
    outbox: opened === null ? outbox : (JSON.parse(zstdDecompressSync(opened).toString()) as Emission[]),
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

/**
 * Returns a stored conversation without digests of its turns, so that what it repeats of its history does not count;
 * null if the value is none, or has none. `erasedAt`: microseconds.
 */
export function forgottenConversation(
  text: string,
  erasedAt: number,
): { readonly projectId: string; readonly name: ConversationName; readonly text: string } | null {
  const stored = text === '' ? {} : (unpack(text) as Partial<StoredConversation>);
  const { projectId, name, turns } = stored;
  if (projectId === undefined || name === undefined || turns === undefined || turns.length === 0) return null;
  const { outbox: _, sealed: __, usage: ___, ...rest } = stored;
  return { projectId, name, text: pack({ ...rest, turns: [], forgotten: true, erasedAt }) };
}

function encodeTrace(record: TraceRecord): string {
  const { ids, spans, conversations, attributes, usage, replies, added } = record;
  const byName = Map.groupBy(conversations, ([, { instanceId, id, trace }]) =>
    JSON.stringify([instanceId, id ?? null, trace ?? null]),
  );
  return pack({
    v: 1,
    ids,
    conversations: [...byName.values()].map((group) => [group[0]?.[1], group.map(([spanId]) => spanId)]),
    added: [...added],
    ...(attributes.size === 0 ? {} : { attributes: [...attributes] }),
    ...(usage.size === 0 ? {} : { usage: [...usage] }),
    ...(replies.size === 0 ? {} : { replies: [...replies] }),
    spans: spans.map(({ spanId, parentSpanId, counted, spent }) => [
      spanId,
      parentSpanId ?? '',
      (counted ? COUNTED : 0) + (spent === true ? SPENT : 0),
    ]),
  });
}

/** What is known of a span, as bits. */
const [COUNTED, SPENT] = [1, 2];

interface StoredTrace {
  readonly ids: SpanIds;
  readonly conversations: readonly (readonly [name: ConversationName, spanIds: readonly string[]])[];
  readonly spans: readonly (readonly [string, string, number])[];
  readonly added?: readonly (readonly [digest: string, messages: number])[];
  readonly attributes?: readonly (readonly [conversationId: string, attributes: ObservedAttributes])[];
  readonly usage?: readonly (readonly [spanId: string, usage: Usage])[];
  readonly replies?: readonly (readonly [spanId: string, at: number])[];
}

function decodeTrace(text: string): TraceRecord {
  const stored = unpack(text) as StoredTrace;
  const { ids, conversations, spans, added, attributes = [], usage = [], replies = [] } = stored;
  // What versions before 2026-11-24 wrote is a day old at most.
  if (added === undefined) return NOTHING_KNOWN;
  const named = conversations.flatMap(([name, spanIds]) => spanIds.map((spanId) => [spanId, name] as const));
  return {
    ids,
    conversations: new Map(named),
    attributes: new Map(attributes),
    usage: new Map(usage),
    replies: new Map(replies),
    added: new Map(added),
    spans: spans.map(([spanId, parent, bits]) => ({
      spanId,
      parentSpanId: parent === '' ? undefined : parent,
      counted: (bits & COUNTED) !== 0,
      spent: (bits & SPENT) !== 0,
    })),
  };
}

/** What one of each takes in memory, bytes, about. */
const [TURN_BYTES, DIGEST_BYTES, SPAN_BYTES, PLACE_BYTES, TOLD_BYTES] = [160, 90, 220, 100, 1000];

function weightOf({ turns, merged, outbox }: Conversation): number {
  const waiting = outbox.flatMap(({ messages }) => messages);
  const texts = waiting.reduce((sum, { content }) => sum + TURN_BYTES + 2 * content.length, 0);
  return 600 + TURN_BYTES * turns.length + DIGEST_BYTES * merged.size + texts;
}

export function conversationCodec(seal: OutboxSeal, kept = KEPT): Codec<Conversation> {
  return {
    encode: (conversation) => encodeConversation(conversation, seal),
    decode: (text) => decodeConversation(text, seal, kept),
    weigh: weightOf,
  };
}

export const TRACES: Codec<TraceRecord> = {
  encode: encodeTrace,
  decode: decodeTrace,
  weigh: ({ spans, conversations, attributes, usage, replies, added }) =>
    300 +
    TOLD_BYTES * attributes.size +
    SPAN_BYTES * spans.length +
    PLACE_BYTES * (conversations.size + usage.size + replies.size + added.size),
};

export const PAGES: Codec<ReadonlySet<string>> = {
  encode: (digests) => JSON.stringify({ v: 1, digests: [...digests] }),
  decode: (text) => new Set((JSON.parse(text) as { readonly digests: readonly string[] }).digests),
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
