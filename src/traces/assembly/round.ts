/** Covered by test/traces/assembly/assembly.test.ts and laws.test.ts. */
import { createHash } from 'node:crypto';
import type { ObservedMessage } from '../observation.ts';
import {
  AnonymousConversations,
  readAnonymous,
  type AnonymousReading,
  type FoundConversation,
} from './anonymous-conversations.ts';
import type { LeftOut } from './assembly.ts';
import type { AssemblyParts, RoundLimits } from './assembly-parts.ts';
import { GiveWay } from './give-way.ts';
import type { KnownTurn } from './known-turn.ts';
import { mergeSpan, recogniseTurns } from './known-turns.ts';
import { MergedSpans } from './merged-spans.ts';
import { forgetTurns, KEPT, keyOf, NOTHING_KNOWN } from './records.ts';
import type { Conversation, ConversationName, Emission, Kept, TraceRecord } from './records.ts';
import { TextHashes, type SaidMessage, type SpokenSpan } from './spoken-span.ts';
import type { PlacedSpan } from './spoken-spans.ts';
import { traceKey, TracePlan, type ArrivedTrace } from './trace-plan.ts';

/** Of one trace; the others are asked for one after the other. */
const MAX_PREFETCHED = 100;
/** Messages of one request to ingest. */
const MAX_MESSAGES = 1000;

/** What is new in a conversation. */
interface Fresh {
  since: number;
  bytes: number;
  readonly messages: Emission['messages'][number][];
}

/**
 * Assembles some traces. It first writes where their spans belong, then what is known of their conversations together
 * with the messages that are new, and only then stores these. Repeated from its beginning, whatever part of it was
 * done, it does what is missing: nothing is lost and nothing counted twice.
 */
export class Round {
  messages = 0;
  readonly leftOut: LeftOut[] = [];
  readonly #parts: AssemblyParts;
  readonly #limits: RoundLimits;
  readonly #kept: Kept;
  readonly #plans: Map<ArrivedTrace, TracePlan>;
  readonly #readings = new Map<TracePlan, AnonymousReading>();
  readonly #changed = new Map<string, Conversation>();
  readonly #records = new Map<string, TraceRecord>();
  readonly #hashes = new TextHashes();
  readonly #giveWay = new GiveWay();
  readonly #anonymous: AnonymousConversations;
  readonly #fresh = new Map<string, Fresh>();
  #spans = 0;
  /** The most that is new in a conversation. */
  #bytes = 0;
  #compared = 0;

  /** `begun`: traces that earlier rounds have not finished. */
  constructor(parts: AssemblyParts, limits: RoundLimits, begun: ReadonlyMap<ArrivedTrace, TracePlan>) {
    this.#parts = parts;
    this.#limits = limits;
    this.#plans = new Map(begun);
    this.#kept = parts.kept ?? KEPT;
    this.#anonymous = new AnonymousConversations(
      parts.candidates,
      async ([projectId = '', instanceId = ''], trace) =>
        (await this.#conversation(projectId, { instanceId, trace })).turns,
    );
  }

  /** Asks for what will be needed, side by side. */
  async prefetch(traces: readonly ArrivedTrace[]): Promise<void> {
    await Promise.all(traces.map((trace) => this.#parts.traces.get(traceKey(trace))));
    await Promise.all(
      traces.map(async (trace) => {
        const { projectId, traceId } = trace;
        const plan = await this.#planOf(trace);
        const keys = new Set<string>();
        for (const span of plan.chosen.slice(plan.done)) {
          const name = plan.nameOf(span) ?? { instanceId: plan.instanceOf(span.ids), trace: traceId };
          keys.add(conversationKey(projectId, name));
          if (keys.size === MAX_PREFETCHED) break;
        }
        await Promise.all([...keys].map((key) => this.#parts.conversations.get(key)));
        if (plan.own !== null || plan.nameless.length === 0) return;
        await this.#anonymous.prefetch(await this.#readingOf(plan));
      }),
    );
  }

  /** Nothing more is to be added. */
  get isFull(): boolean {
    const { messages, spans, bytes } = this.#limits;
    return this.#bytes >= bytes || this.#spans >= spans || this.#compared >= messages;
  }

  /** Takes in a trace, or goes on with it. Returns what has to wait: the round is full before the trace is done. */
  async add(trace: ArrivedTrace): Promise<TracePlan | null> {
    const key = traceKey(trace);
    const plan = await this.#planOf(trace);
    let begun: FoundConversation['begun'];
    while (plan.done < plan.chosen.length) {
      const span = plan.chosen[plan.done] as PlacedSpan;
      let name = plan.nameOf(span);
      if (name === null) {
        const found = await this.#findAnonymous(plan, span);
        name = found.name;
        begun = found.begun;
      }
      plan.conversations.set(span.spanId, name);
      const bytes = await this.#merge(plan, name, span, begun);
      begun = undefined;
      plan.done += 1;
      this.#bytes = Math.max(this.#bytes, bytes);
      if (this.isFull) break;
    }
    const isDone = plan.done === plan.chosen.length;
    if (isDone && plan.own !== null) await this.#noteEnd(plan, plan.own);
    const record = plan.recordOf(this.#kept.spans);
    if (record !== null) this.#records.set(key, record);
    const { projectId, traceId } = trace;
    if (plan.leftOut > 0) this.leftOut.push({ projectId, traceId, messages: plan.leftOut });
    plan.leftOut = 0;
    return isDone ? null : plan;
  }

  async #planOf(trace: ArrivedTrace): Promise<TracePlan> {
    const key = traceKey(trace);
    const known = this.#plans.get(trace);
    // More of a trace may come in one round; what the first part says is known to the second.
    const changed = this.#records.get(key);
    if (known !== undefined && (known.done > 0 || changed === undefined)) {
      // What is written has to be read before.
      await this.#parts.traces.get(key);
      return known;
    }
    const plan = new TracePlan(trace, changed ?? (await this.#parts.traces.get(key)) ?? NOTHING_KNOWN);
    this.#plans.set(trace, plan);
    return plan;
  }

  async #readingOf(plan: TracePlan): Promise<AnonymousReading> {
    const { projectId, traceId } = plan.trace;
    const { nameless } = plan;
    const [first] = nameless as readonly [PlacedSpan, ...PlacedSpan[]];
    const reading =
      this.#readings.get(plan) ??
      (await readAnonymous(
        {
          scope: [projectId, plan.instanceOf(first.ids), first.ids.userId ?? ''],
          trace: traceId,
          spans: nameless.map((span) => this.#spoken(traceId, span)),
        },
        this.#giveWay,
      ));
    this.#readings.set(plan, reading);
    return reading;
  }

  /** The conversation of a trace whose spans name none. */
  async #findAnonymous(
    plan: TracePlan,
    span: PlacedSpan,
  ): Promise<{ readonly name: ConversationName; readonly begun: FoundConversation['begun'] }> {
    const found = await this.#anonymous.find(await this.#readingOf(plan));
    const name = { instanceId: plan.instanceOf(span.ids), trace: found?.trace ?? plan.trace.traceId };
    plan.own = name;
    if (found?.missing !== undefined) await this.#recognise(plan, name, found.missing);
    return { name, begun: found?.begun };
  }

  /** What a trace says had been counted out of the history of a later one. */
  async #recognise(plan: TracePlan, name: ConversationName, missing: readonly KnownTurn[]): Promise<void> {
    const { projectId, traceId, until } = plan.trace;
    const conversation = await this.#conversation(projectId, name);
    const isSame = missing.every(({ role, hash }, index) => {
      const turn = conversation.turns[index];
      return turn?.role === role && turn.hash === hash;
    });
    if (!isSame) return;
    recogniseTurns(conversation.turns, missing);
    for (const span of plan.nameless)
      conversation.merged.add(digestOf(span.spanId, this.#spoken(traceId, span)), until);
    this.#changed.set(conversationKey(projectId, name), conversation);
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

  async #conversation(projectId: string, name: ConversationName): Promise<Conversation> {
    const key = conversationKey(projectId, name);
    const changed = this.#changed.get(key);
    if (changed !== undefined) return changed;
    const known = await this.#parts.conversations.get(key);
    const conversation = known ?? {
      projectId,
      name,
      isIssued: name.id === undefined,
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

  /** Returns the bytes, about, that are new in the conversation. */
  async #merge(
    plan: TracePlan,
    name: ConversationName,
    span: PlacedSpan,
    begun: number | undefined,
  ): Promise<number> {
    const { trace } = plan;
    const messages = span.asked.length + span.answered.length;
    this.#compared += messages;
    await this.#giveWay.after(messages);
    const conversation = await this.#conversation(trace.projectId, name);
    const what = this.#spoken(trace.traceId, span);
    const digest = digestOf(span.spanId, what);
    const key = conversationKey(trace.projectId, name);
    if (await this.#isMerged(key, conversation, digest, trace.until)) return 0;
    this.#changed.set(key, conversation);
    const found = mergeSpan(conversation.turns, what, { forgotten: conversation.forgotten, begun });
    const added = plan.admit(digest, found, this.#parts.perTrace);
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

  async #noteEnd({ trace, chosen }: TracePlan, name: ConversationName): Promise<void> {
    const { projectId, traceId } = trace;
    const { turns } = await this.#conversation(projectId, name);
    const [first] = chosen;
    const scope = [projectId, name.instanceId, first?.ids.userId ?? ''];
    const alone = first?.parentSpanId === undefined;
    await this.#anonymous.note({ scope, trace: traceId, name: name.trace ?? traceId, turns, alone });
  }

  async write(): Promise<void> {
    const { traces, conversations, candidates, pages, emit, guard } = this.#parts;
    this.#fillOutboxes();
    const letGo = [...this.#changed].flatMap(([key, conversation]) => this.#forgetOldest(key, conversation));
    await guard();
    await Promise.all([
      ...[...this.#records].map(([key, record]) => traces.put(key, record)),
      ...letGo.map(([key, digests]) => this.#writePage(key, digests)),
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
    for (const cached of [traces, conversations, candidates, pages]) cached.release();
  }

  #fillOutboxes(): void {
    for (const [key, fresh] of this.#fresh) {
      const conversation = this.#changed.get(key) as Conversation;
      for (let from = 0; from < fresh.messages.length; from += MAX_MESSAGES) {
        conversation.emissions += 1;
        const messages = fresh.messages.slice(from, from + MAX_MESSAGES);
        conversation.outbox.push({
          seed: `conversation:${key}:${conversation.emissions}:${keyOf(JSON.stringify(messages))}`,
          acceptedAt: this.#parts.clock(),
          since: fresh.since,
          messages,
        });
      }
      this.messages += fresh.messages.length;
    }
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
