import { createHash } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Observation, ObservedMessage } from '../observation.ts';
import type { CachedBucket } from './assembly-store.ts';
import { AnonymousConversations, type FoundConversation } from './anonymous-conversations.ts';
import type { KnownTurn } from './known-turn.ts';
import { mergeSpan, recogniseTurns } from './known-turns.ts';
import { MergedSpans } from './merged-spans.ts';
import {
  boundedTrace,
  forgetTurns,
  KEPT,
  keyOf,
  type Candidate,
  type Conversation,
  type ConversationName,
  type Emission,
  type Kept,
  type TraceRecord,
} from './records.ts';
import { TextHashes, type SaidMessage, type SpokenSpan } from './spoken-span.ts';
import { chosenOf, idsOf, placing, seenSpans, spansOf, type PlacedSpan } from './spoken-spans.ts';

/** What arrived of a trace by the time it was let go. */
export interface ArrivedTrace {
  readonly projectId: string;
  readonly traceId: string;
  readonly observations: readonly Observation[];
  /** The instance for what names none. */
  readonly defaultInstanceId: string;
  /** Sequences of the oldest and the newest entry that hold a part of it. */
  readonly since: number;
  readonly until: number;
}

export interface AssemblyParts {
  readonly conversations: CachedBucket<Conversation>;
  readonly candidates: CachedBucket<Candidate[]>;
  readonly traces: CachedBucket<TraceRecord>;
  /** Digests that do not stand with their conversation any more. */
  readonly pages: CachedBucket<ReadonlySet<string>>;
  /** Stores messages of a conversation; doing it again with the same emission changes nothing. */
  readonly emit: (conversation: Conversation, emission: Emission) => Promise<void>;
  /** Whether the conversation's session had messages before anything was known of it. */
  readonly isKnownSession: (projectId: string, name: ConversationName) => Promise<boolean>;
  /** Sequence of the first entry that is still on the stream. */
  readonly firstSequence: () => number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
  /** Of what is new in a conversation, about: then it is stored before more is added. Default 1 MiB. */
  readonly roundBytes?: number;
  readonly kept?: Kept;
  /** Resolves when no other process can be the assembler. */
  readonly guard: () => Promise<void>;
}

/** What a round did. */
export interface AssembledCounts {
  traces: number;
  messages: number;
}

/** The messages of a conversation are kept with what is known of it until they are stored: both must fit one value. */
const ROUND_BYTES = 1024 * 1024;
/** Spans that bring something new, in one round: what is held of their conversations until it is stored. */
const ROUND_SPANS = 2000;
/** Of one trace; the others are asked for one after the other. */
const MAX_PREFETCHED = 100;
/** Messages that are merged before others have their turn in this process. */
const MESSAGES_AT_ONCE = 2000;
/** Messages of one request to ingest. */
const MAX_MESSAGES = 1000;

/**
 * Turns traces into messages of conversations. A round first writes where its spans belong, then what is known of
 * their conversations together with the messages that are new, and only then stores these. Repeated from its
 * beginning, whatever part of it was done, it does what is missing: nothing is lost and nothing counted twice.
 */
export async function assemble(
  traces: readonly ArrivedTrace[],
  parts: AssemblyParts,
): Promise<AssembledCounts> {
  const round = new Round(parts);
  await round.prefetch(traces);
  for (const trace of traces) await round.add(trace);
  await round.write();
  return { traces: traces.length, messages: round.messages };
}

/** What is new in a conversation. */
interface Fresh {
  since: number;
  bytes: number;
  readonly messages: Emission['messages'][number][];
}

class Round {
  messages = 0;
  readonly #parts: AssemblyParts;
  readonly #kept: Kept;
  readonly #changed = new Map<string, Conversation>();
  readonly #traces = new Map<string, TraceRecord>();
  readonly #hashes = new TextHashes();
  #anonymous: AnonymousConversations;
  readonly #fresh = new Map<string, Fresh>();
  #spans = 0;
  #merged = 0;

  constructor(parts: AssemblyParts) {
    this.#parts = parts;
    this.#kept = parts.kept ?? KEPT;
    this.#anonymous = this.#newAnonymous();
  }

  /** Asks for what will be needed, side by side. */
  async prefetch(traces: readonly ArrivedTrace[]): Promise<void> {
    await Promise.all(
      traces.map(async ({ projectId, traceId, observations, defaultInstanceId }) => {
        await this.#parts.traces.get(keyOf(projectId, traceId));
        const keys = new Set<string>();
        for (const { conversationId: id, instanceId = defaultInstanceId } of observations) {
          if (id !== undefined) keys.add(conversationKey(projectId, { instanceId, id }));
          if (keys.size === MAX_PREFETCHED) break;
        }
        await Promise.all([...keys].map((key) => this.#parts.conversations.get(key)));
      }),
    );
  }

  async add(trace: ArrivedTrace): Promise<void> {
    const { projectId, traceId } = trace;
    const key = keyOf(projectId, traceId);
    const record = this.#traces.get(key) ?? (await this.#parts.traces.get(key)) ?? NOTHING;
    const seen = new Map(record.spans.map((span) => [span.spanId, span]));
    const spans = spansOf(trace.observations);
    const chosen = chosenOf(spans, seen).map(placing(spans, seen, record.ids));
    const ids = { ...record.ids, ...idsOf(spans) };
    const conversations = new Map(record.conversations);
    let own: ConversationName | null = [...conversations.values()].find(({ id }) => id === undefined) ?? null;
    const noteTrace = (): void => {
      const known = { ids, conversations, spans: seenSpans(seen, spans, conversations) };
      this.#traces.set(key, boundedTrace(known, this.#kept.spans));
    };
    let begun: FoundConversation['begun'];
    for (const span of chosen) {
      await this.#giveWay(span);
      const instanceId = span.ids.instanceId ?? trace.defaultInstanceId;
      const { conversationId: id } = span.ids;
      const name = conversations.get(span.spanId) ?? (id === undefined ? own : { instanceId, id });
      if (name === null) {
        const nameless = chosen.filter(({ ids }) => ids.conversationId === undefined);
        const found = await this.#findAnonymous(trace, instanceId, nameless);
        own = { instanceId, trace: found?.trace ?? traceId };
        begun = found?.begun;
        if (found?.missing !== undefined) await this.#recognise(trace, own, nameless, found.missing);
      }
      const belongsTo = name ?? own ?? { instanceId, trace: traceId };
      conversations.set(span.spanId, belongsTo);
      const bytes = await this.#merge(trace, belongsTo, span, begun);
      begun = undefined;
      if (bytes < (this.#parts.roundBytes ?? ROUND_BYTES) && this.#spans < ROUND_SPANS) continue;
      noteTrace();
      await this.write(key);
    }
    if (own !== null) await this.#noteEnd(projectId, own, traceId, chosen[0]);
    if (chosen.length === 0 && Object.values(ids).every((id) => id === undefined) && seen.size === 0) return;
    noteTrace();
  }

  /** To others in this process, after so many messages. */
  async #giveWay({ asked, answered }: PlacedSpan): Promise<void> {
    this.#merged += asked.length + answered.length;
    if (this.#merged < MESSAGES_AT_ONCE) return;
    this.#merged = 0;
    await othersTurn();
  }

  #spoken(trace: string, span: PlacedSpan): SpokenSpan {
    const { startedAt, endedAt, asked, answered, continues } = span;
    const said = (message: ObservedMessage): SaidMessage => ({
      ...message,
      hash: this.#hashes.of(message.content),
    });
    return {
      trace: traceName(trace),
      startedAt,
      endedAt,
      asked: asked.map(said),
      answered: answered.map(said),
      continues,
      alone: span.parentSpanId === undefined,
    };
  }

  #newAnonymous(): AnonymousConversations {
    return new AnonymousConversations(
      this.#parts.candidates,
      async ([projectId = '', instanceId = ''], trace) => {
        const { turns } = await this.#conversation(projectId, { instanceId, trace });
        return turns;
      },
    );
  }

  async #findAnonymous(
    { projectId, traceId }: ArrivedTrace,
    instanceId: string,
    nameless: readonly PlacedSpan[],
  ): Promise<FoundConversation | null> {
    return this.#anonymous.find({
      scope: [projectId, instanceId, nameless[0]?.ids.userId ?? ''],
      trace: traceId,
      spans: nameless.map((span) => this.#spoken(traceId, span)),
    });
  }

  /** What a trace says had been counted out of the history of a later one. */
  async #recognise(
    { projectId, traceId, until }: ArrivedTrace,
    name: ConversationName,
    spans: readonly PlacedSpan[],
    missing: readonly KnownTurn[],
  ): Promise<void> {
    const conversation = await this.#conversation(projectId, name);
    const isSame = missing.every(({ role, hash }, index) => {
      const turn = conversation.turns[index];
      return turn?.role === role && turn.hash === hash;
    });
    if (!isSame) return;
    recogniseTurns(conversation.turns, missing);
    for (const span of spans)
      conversation.merged.add(digestOf(span.spanId, this.#spoken(traceId, span)), until);
    this.#changed.set(conversationKey(projectId, name), conversation);
  }

  async #conversation(projectId: string, name: ConversationName): Promise<Conversation> {
    const key = conversationKey(projectId, name);
    const changed = this.#changed.get(key);
    if (changed !== undefined) return changed;
    const known = await this.#parts.conversations.get(key);
    const conversation = known ?? {
      projectId,
      name,
      turns: [],
      merged: new MergedSpans(this.#kept.merged),
      forgotten: name.id !== undefined && (await this.#parts.isKnownSession(projectId, name)),
      outbox: [],
      emissions: 0,
    };
    // What left the stream had been stored before.
    conversation.outbox = conversation.outbox.filter(({ since }) => since >= this.#parts.firstSequence());
    if (known === null || conversation.outbox.length > 0) this.#changed.set(key, conversation);
    return conversation;
  }

  async #merge(
    trace: ArrivedTrace,
    name: ConversationName,
    span: PlacedSpan,
    begun: number | undefined,
  ): Promise<number> {
    const conversation = await this.#conversation(trace.projectId, name);
    const what = this.#spoken(trace.traceId, span);
    const digest = digestOf(span.spanId, what);
    const key = conversationKey(trace.projectId, name);
    if (await this.#isMerged(key, conversation, digest, trace.until)) return 0;
    this.#changed.set(key, conversation);
    const added = mergeSpan(conversation.turns, what, { forgotten: conversation.forgotten, begun });
    conversation.merged.add(digest, trace.until);
    // Each call is compared with all turns.
    const { turns: kept } = this.#kept;
    if (conversation.turns.length > 2 * kept) forgetTurns(conversation, kept);
    const { userId } = span.ids;
    const fresh = this.#fresh.get(key) ?? { since: trace.since, messages: [], bytes: 0 };
    this.#spans += 1;
    fresh.since = Math.min(fresh.since, trace.since);
    for (const message of added) {
      fresh.bytes += message.content.length;
      fresh.messages.push(message.role === 'user' && userId !== undefined ? { ...message, userId } : message);
    }
    this.#fresh.set(key, fresh);
    return fresh.bytes;
  }

  /** Whether it was taken in before. */
  async #isMerged(key: string, conversation: Conversation, digest: string, until: number): Promise<boolean> {
    const { merged } = conversation;
    let found = merged.has(digest);
    let inPage: number | undefined;
    for (const number of found ? [] : merged.pages(this.#parts.firstSequence())) {
      const page = await this.#parts.pages.get(pageKey(key, number));
      if (page?.has(digest) !== true) continue;
      [found, inPage] = [true, number];
      break;
    }
    if (found && merged.renew(digest, until, inPage)) this.#changed.set(key, conversation);
    return found;
  }

  async #noteEnd(
    projectId: string,
    name: ConversationName,
    trace: string,
    first: PlacedSpan | undefined,
  ): Promise<void> {
    const { turns } = await this.#conversation(projectId, name);
    const scope = [projectId, name.instanceId, first?.ids.userId ?? ''];
    const alone = first?.parentSpanId === undefined;
    await this.#anonymous.note({ scope, trace, name: name.trace ?? trace, turns, alone });
  }

  /** `unfinished`: the key of a trace of which more is to come. */
  async write(unfinished?: string): Promise<void> {
    const { traces: bucket, conversations, candidates, pages, emit, guard, clock } = this.#parts;
    for (const [key, fresh] of this.#fresh) {
      const conversation = this.#changed.get(key) as Conversation;
      for (let from = 0; from < fresh.messages.length; from += MAX_MESSAGES) {
        conversation.emissions += 1;
        const messages = fresh.messages.slice(from, from + MAX_MESSAGES);
        conversation.outbox.push({
          seed: `conversation:${key}:${conversation.emissions}:${keyOf(JSON.stringify(messages))}`,
          acceptedAt: clock(),
          since: fresh.since,
          messages,
        });
      }
      this.messages += fresh.messages.length;
    }
    const letGo = [...this.#changed].map(([key, conversation]) => this.#forgetOldest(key, conversation));
    await guard();
    await Promise.all([
      ...[...this.#traces].map(([key, record]) => bucket.put(key, record)),
      ...letGo.flat().map(([key, digests]) => this.#writePage(key, digests)),
      this.#anonymous.write(),
    ]);
    await guard();
    await Promise.all([...this.#changed].map(([key, conversation]) => conversations.put(key, conversation)));
    await Promise.all(
      [...this.#changed.values()].map(async (conversation) => {
        for (const emission of conversation.outbox) await emit(conversation, emission);
        conversation.outbox = [];
      }),
    );
    bucket.release(unfinished);
    for (const cached of [conversations, candidates, pages]) cached.release();
    this.#changed.clear();
    this.#traces.clear();
    this.#fresh.clear();
    this.#spans = 0;
    this.#anonymous = this.#newAnonymous();
  }

  /** Returns the pages that have to be written before the conversation is. */
  #forgetOldest(key: string, conversation: Conversation): [key: string, digests: ReadonlySet<string>][] {
    forgetTurns(conversation, this.#kept.turns);
    const pages = conversation.merged.shrink(this.#parts.firstSequence());
    return pages.map(({ number, digests }) => [pageKey(key, number), digests]);
  }

  async #writePage(key: string, digests: ReadonlySet<string>): Promise<void> {
    // The number may have been used for a page whose spans cannot come again.
    await this.#parts.pages.get(key);
    await this.#parts.pages.put(key, digests);
  }
}

const NOTHING: TraceRecord = { ids: {}, spans: [], conversations: new Map() };

function conversationKey(projectId: string, { instanceId, id, trace }: ConversationName): string {
  return keyOf(projectId, instanceId, id === undefined ? 'trace' : 'id', id ?? trace ?? '');
}

function pageKey(conversation: string, number: number): string {
  return keyOf('merged', conversation, String(number));
}

/**
 * Enough to tell the traces of one conversation from each other. Ids are random on the right (W3C Trace Context): on
 * the left, X-Ray and Datadog write the time, and ids of 64 bits are padded with zeros.
 */
function traceName(traceId: string): string {
  return traceId.slice(-12);
}

function digestOf(spanId: string, { trace, asked, answered }: SpokenSpan): string {
  const said = [...asked, ...answered].map(({ role, hash }) => `${role}${hash}`);
  const parts = JSON.stringify([trace, spanId, asked.length, said]);
  return createHash('sha256').update(parts).digest('base64url').slice(0, 10);
}
