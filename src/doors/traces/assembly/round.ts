/**
 * Assembles some traces. It first writes where their spans belong, then what is known of their conversations together
 * with the messages that are new, and only then sends these on. Keeps the invariant that a round which is repeated from
 * its beginning, whatever part of it was done, does what is missing: nothing is lost and nothing counted twice.
 * Test: test/doors/traces/assembly/assembly.test.ts, laws.test.ts.
 */
import { createHash } from 'node:crypto';
import { sumOfUsage } from '../../../domain/usage.ts';
import type { ObservedMessage, ObservedValue } from '../observation.ts';
import { boundedAttributes } from '../conventions/attributes.ts';
import type { LeftOut } from './assembly.ts';
import type { AssemblyParts, RoundLimits } from './assembly-parts.ts';
import { GiveWay } from './give-way.ts';
import { MergedSpans } from './merged-spans.ts';
import { mergeSpan } from './merge-span.ts';
import { forgetTurns, KEPT, keyOf, NOTHING_KNOWN } from './records.ts';
import type {
  Conversation,
  ConversationName,
  EmittedFeedback,
  EmittedMessage,
  Kept,
  TraceRecord,
} from './records.ts';
import { TextHashes, type HashedMessage, type HashedSpan } from './hashed-span.ts';
import type { PlacedSpan } from './spoken-spans.ts';
import {
  traceKey,
  TracePlan,
  type ArrivedTrace,
  type SpanFeedback,
  type SpeakingSpan,
} from './trace-plan.ts';

/** Of one trace, so many conversations are asked for side by side; the others one after the other. */
const MAX_PREFETCHED = 100;
/** One request to ingest has at most so many messages. */
const MAX_MESSAGES = 1000;

/** What is new in a conversation. */
interface Fresh {
  since: number;
  bytes: number;
  readonly messages: EmittedMessage[];
  /** The trace of each message. */
  readonly traces: string[];
  /** As the traces tell them, the last one last. */
  readonly attributes: Map<string, ObservedValue>;
}

/** Feedback that is new, of a conversation. */
interface FreshFeedback extends EmittedFeedback {
  readonly key: string;
  readonly digest: string;
  readonly since: number;
}

export class Round {
  messages = 0;
  /** Feedback that is on no reply. */
  lostFeedback = 0;
  readonly leftOut: LeftOut[] = [];
  readonly #parts: AssemblyParts;
  readonly #limits: RoundLimits;
  readonly #kept: Kept;
  readonly #plans: Map<ArrivedTrace, TracePlan>;
  readonly #changed = new Map<string, Conversation>();
  readonly #records = new Map<string, TraceRecord>();
  readonly #hashes = new TextHashes();
  readonly #giveWay = new GiveWay();
  readonly #fresh = new Map<string, Fresh>();
  readonly #feedback: FreshFeedback[] = [];
  #spans = 0;
  /** The most that is new in one conversation. */
  #bytes = 0;
  #compared = 0;

  /** `begun`: traces that earlier rounds have not finished. */
  constructor(parts: AssemblyParts, limits: RoundLimits, begun: ReadonlyMap<ArrivedTrace, TracePlan>) {
    this.#parts = parts;
    this.#limits = limits;
    this.#plans = new Map(begun);
    this.#kept = parts.kept ?? KEPT;
  }

  /** Asks for what will be needed, side by side. */
  async prefetch(traces: readonly ArrivedTrace[]): Promise<void> {
    await Promise.all(traces.map((trace) => this.#parts.traces.get(traceKey(trace))));
    const keys = traces.map(async (trace) => {
      const plan = await this.#planOf(trace);
      const names = plan.chosen.slice(plan.done, plan.done + MAX_PREFETCHED).map((span) => plan.nameOf(span));
      const ofTrace = new Set(names.map((name) => conversationKey(trace.projectId, name)));
      await Promise.all([...ofTrace].map((key) => this.#parts.conversations.get(key)));
    });
    await Promise.all(keys);
  }

  /** Nothing more is to be added. */
  get isFull(): boolean {
    const { messages, spans, bytes } = this.#limits;
    return this.#bytes >= bytes || this.#spans >= spans || this.#compared >= messages;
  }

  /** Takes in a trace, or goes on with it. Returns what has to wait: the round is full before the trace is done. */
  async add(trace: ArrivedTrace): Promise<TracePlan | null> {
    const plan = await this.#planOf(trace);
    while (plan.done < plan.chosen.length) {
      await this.#merge(plan, plan.chosen[plan.done] as SpeakingSpan);
      plan.done += 1;
      if (this.isFull) break;
    }
    while (plan.done === plan.chosen.length && plan.feedbackDone < plan.feedback.length && !this.isFull) {
      await this.#addFeedback(plan, plan.feedback[plan.feedbackDone] as SpanFeedback);
      plan.feedbackDone += 1;
    }
    const record = plan.recordOf(this.#kept.spans);
    if (record !== null) this.#records.set(traceKey(trace), record);
    const { projectId, traceId } = trace;
    if (plan.leftOut > 0) this.leftOut.push({ projectId, traceId, messages: plan.leftOut });
    plan.leftOut = 0;
    return plan.isDone ? null : plan;
  }

  async #planOf(trace: ArrivedTrace): Promise<TracePlan> {
    const key = traceKey(trace);
    const known = this.#plans.get(trace);
    // More of a trace may come in one round; what the first part says is known to the second.
    const changed = this.#records.get(key);
    // What is written has to be read before.
    const stored = await this.#parts.traces.get(key);
    if (known !== undefined && (known.done > 0 || changed === undefined)) return known;
    const plan = new TracePlan(trace, changed ?? stored ?? NOTHING_KNOWN);
    this.#plans.set(trace, plan);
    return plan;
  }

  async #conversation(key: string, projectId: string, name: ConversationName): Promise<Conversation> {
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

  async #merge(plan: TracePlan, span: SpeakingSpan): Promise<void> {
    const { trace } = plan;
    const messages = span.asked.length + span.answered.length;
    this.#compared += messages;
    await this.#giveWay.after(messages);
    const name = plan.nameOf(span);
    const key = conversationKey(trace.projectId, name);
    const conversation = await this.#conversation(key, trace.projectId, name);
    plan.conversations.set(span.spanId, name);
    await this.#addUsage(key, conversation, span, trace);
    if (messages === 0) return;
    const hashed = this.#hashedSpan(span, trace.traceId);
    const digest = digestOf(span.spanId, hashed);
    if (await this.#isMerged(key, conversation, digest, trace.until)) return;
    this.#changed.set(key, conversation);
    const { turns, forgotten, erasedAt, merged } = conversation;
    const found = mergeSpan(turns, hashed, { forgotten, erasedAt, isTrace: name.id === undefined });
    merged.add(digest, trace.until);
    // Each call is compared with all turns.
    if (turns.length > 2 * this.#kept.turns) forgetTurns(conversation, this.#kept.turns);
    this.#spans += 1;
    const fresh = this.#fresh.get(key) ?? {
      since: trace.since,
      messages: [],
      traces: [],
      bytes: 0,
      attributes: new Map<string, ObservedValue>(),
    };
    this.#fresh.set(key, fresh);
    fresh.since = Math.min(fresh.since, trace.since);
    const { userId } = span.ids;
    const admitted = plan.admit(digest, found, this.#parts.perTrace);
    for (const [index, message] of admitted.entries()) {
      fresh.bytes += message.content.length;
      fresh.traces.push(trace.traceId);
      const { usage } = conversation;
      const isLast = index === admitted.length - 1;
      fresh.messages.push({
        ...message,
        ...(message.role === 'user' && userId !== undefined ? { userId } : {}),
        ...(isLast && usage !== undefined ? { usage } : {}),
      });
      if (isLast) conversation.usage = undefined;
      if (isLast && message.role === 'assistant' && message.at === span.endedAt)
        plan.replies.set(span.spanId, message.at);
    }
    for (const [attribute, value] of Object.entries(plan.attributesOf(name)))
      fresh.attributes.set(attribute, value);
    this.#bytes = Math.max(this.#bytes, fresh.bytes);
  }

  /** Notes the usage that lies on a span, each once. It waits in the conversation for the next message. */
  async #addUsage(
    key: string,
    conversation: Conversation,
    { usages }: SpeakingSpan,
    { traceId, until }: ArrivedTrace,
  ): Promise<void> {
    for (const { spanId, usage } of usages) {
      const digest = nameOf(['usage', traceName(traceId), spanId]);
      if (await this.#isMerged(key, conversation, digest, until)) continue;
      this.#changed.set(key, conversation);
      conversation.merged.add(digest, until);
      conversation.usage = sumOfUsage(conversation.usage, usage);
      this.#spans += 1;
    }
  }

  /** Notes feedback on a reply, once. */
  async #addFeedback(plan: TracePlan, given: SpanFeedback): Promise<void> {
    const { projectId, traceId, since, until } = plan.trace;
    const reply = plan.replyOf(given);
    if (reply === null) {
      this.lostFeedback += 1;
      return;
    }
    const key = conversationKey(projectId, reply.name);
    const conversation = await this.#conversation(key, projectId, reply.name);
    const digest = nameOf(['feedback', traceName(traceId), given.spanId, given.at, given.value]);
    if (await this.#isMerged(key, conversation, digest, until)) return;
    this.#changed.set(key, conversation);
    conversation.merged.add(digest, until);
    this.#feedback.push({ key, digest, since, value: given.value, at: reply.at });
    this.#spans += 1;
  }

  #hashedSpan(span: PlacedSpan, traceId: string): HashedSpan {
    const { startedAt, endedAt, asked, answered, continues = false, parentSpanId } = span;
    const hashed = (message: ObservedMessage): HashedMessage => ({
      ...message,
      hash: this.#hashes.of(message.content),
    });
    return {
      trace: traceName(traceId),
      startedAt,
      endedAt,
      asked: asked.map(hashed),
      answered: answered.map(hashed),
      continues,
      alone: parentSpanId === undefined,
    };
  }

  /** Tells whether a span was taken in before, and notes that it stands in a newer entry, too. */
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

  async write(): Promise<void> {
    const { traces, conversations, pages, outboxKeys, emit, guard } = this.#parts;
    this.#fillOutboxes();
    const letGo = [...this.#changed].flatMap(([key, conversation]) => this.#forgetOldest(key, conversation));
    await guard();
    const waits = [...this.#changed.values()].some(({ outbox }) => outbox.length > 0);
    await Promise.all([
      ...(waits ? [outboxKeys.prepare()] : []),
      ...[...this.#records].map(([key, record]) => traces.put(key, record)),
      ...letGo.map(async ([key, digests]) => {
        // The number may have been used for a page whose spans cannot come again.
        await pages.get(key);
        await pages.put(key, digests);
      }),
    ]);
    await guard();
    await Promise.all([...this.#changed].map(([key, conversation]) => conversations.put(key, conversation)));
    await Promise.all(
      [...this.#changed].map(async ([key, conversation]) => {
        const refused: EmittedMessage[] = [];
        for (const emission of conversation.outbox) refused.push(...(await emit(conversation, emission)));
        conversation.outbox = [];
        if (refused.length > 0) await conversations.put(key, this.#without(conversation, refused));
      }),
    );
    for (const cached of [traces, conversations, pages]) cached.release();
  }

  #fillOutboxes(): void {
    for (const [key, fresh] of this.#fresh) {
      const attributes = boundedAttributes(fresh.attributes);
      const conversation = this.#changed.get(key) as Conversation;
      for (let from = 0; from < fresh.messages.length; from += MAX_MESSAGES) {
        conversation.emissions += 1;
        const messages = fresh.messages.slice(from, from + MAX_MESSAGES);
        conversation.outbox.push({
          seed: `conversation:${key}:${conversation.emissions}:${keyOf(JSON.stringify(messages))}`,
          acceptedAt: this.#parts.clock(),
          since: fresh.since,
          messages,
          runs: runsOf(fresh.traces.slice(from, from + MAX_MESSAGES)),
          ...(fresh.attributes.size === 0 ? {} : { attributes }),
        });
      }
      this.messages += fresh.messages.length;
    }
    for (const { key, digest, since, value, at } of this.#feedback)
      (this.#changed.get(key) as Conversation).outbox.push({
        seed: `feedback:${key}:${digest}`,
        acceptedAt: this.#parts.clock(),
        since,
        messages: [],
        feedback: { value, at },
      });
  }

  /** Forgets turns that are refused, as an erasure does: what repeats them does not count. Later ones stay. */
  #without(conversation: Conversation, refused: readonly EmittedMessage[]): Conversation {
    const until = Math.max(...refused.map(({ at }) => at));
    const gone = new Set(refused.map(({ role, content }) => `${role}${this.#hashes.of(content)}`));
    conversation.turns = conversation.turns.filter(
      ({ role, hash, at }) => at > until || !gone.has(`${role}${hash}`),
    );
    conversation.forgotten = true;
    return conversation;
  }

  /** Returns the pages that have to be written before the conversation is. */
  #forgetOldest(key: string, conversation: Conversation): [key: string, digests: ReadonlySet<string>][] {
    forgetTurns(conversation, this.#kept.turns);
    // A span from before an erasure that waited over it.
    const { erasedAt = -Infinity } = conversation;
    conversation.turns = conversation.turns.filter(({ at }) => at > erasedAt);
    const pages = conversation.merged.shrink(this.#parts.firstSequence());
    return pages.map(({ number, digests }) => [pageKey(key, number), digests]);
  }
}

/** Lengths of the runs of equal values. */
function runsOf(values: readonly string[]): number[] {
  const runs: number[] = [];
  for (const [index, value] of values.entries())
    if (index > 0 && values[index - 1] === value) runs[runs.length - 1]! += 1;
    else runs.push(1);
  return runs;
}

function conversationKey(projectId: string, { instanceId, id, trace }: ConversationName): string {
  return keyOf(projectId, instanceId, id === undefined ? 'trace' : 'id', id ?? trace ?? '');
}

function pageKey(conversation: string, number: number): string {
  return keyOf('merged', conversation, String(number));
}

/**
 * Returns enough of a trace id to tell the traces of one conversation from each other. Ids are random on the right (W3C
 * Trace Context): on the left, X-Ray and Datadog write the time, and ids of 64 bits are padded with zeros.
 */
function traceName(traceId: string): string {
  return traceId.slice(-12);
}

function digestOf(spanId: string, { trace, asked, answered }: HashedSpan): string {
  const hashed = [...asked, ...answered].map(({ role, hash }) => `${role}${hash}`);
  return nameOf([trace, spanId, asked.length, hashed]);
}

function nameOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 10);
}
