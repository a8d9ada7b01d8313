/**
 * Looks for what is left of an erasure in the buckets and the stream of traces. Changes nothing.
 *
 * Test: test/doors/traces/find-erased.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import { count } from '../../domain/progress.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { readToEnd } from '../../stream/log/log-reader.ts';
import { DecodeError } from '../../stream/log/codec.ts';
import { TRACES_STREAM, TRACES_SUBJECT } from '../../stream/subjects.ts';
import { digestedUserId } from '../../web/ingest/masker.ts';
import type { AssemblyBuckets } from './assembly/buckets.ts';
import { openedName, sessionOf, type IssuesSessions } from './assembly/emit.ts';
import { OutboxKeys } from './assembly/outbox-keys.ts';
import { conversationIn, TRACES, type Conversation, type ConversationName } from './assembly/records.ts';
import { traceKey } from './assembly/trace-plan.ts';
import { CONVERSATION_STATES } from './forget-conversations.ts';
import type { SpanIds } from './observation.ts';
import { openedId, tokenKeys } from './tokens.ts';
import { decodeTraceEntries, type TraceEntry } from './trace-entry.ts';

export interface FindErasedSettings {
  readonly connection: StreamConnection;
  readonly buckets: Pick<AssemblyBuckets, 'traces' | 'outboxKeys'>;
  readonly registry: IssuesSessions;
  readonly digest: ErasureDigest;
}

/** Sentences, for people. */
export interface LookedFor {
  /** What is left. */
  readonly left: readonly string[];
  /** What was not looked at, and why. */
  readonly unseen: readonly string[];
}

/**
 * Looks for conversations and waiting spans of an erasure. `spoken`: the sessions of the instance of which the stream
 * still holds a message from before the erasure; null: the stream does not say. For an end user, only they tell whose a
 * conversation was: the erasure names nobody, and what it erased is gone.
 */
export async function findErasedTraces(
  settings: FindErasedSettings,
  erasure: Erasure,
  spoken: () => Promise<ReadonlySet<string> | null>,
): Promise<LookedFor> {
  const unseen = [
    'the bucket "traces": its values are sealed with ids of traces, and go a day after the last span of theirs',
  ];
  if (erasure.kind === 'MESSAGES') {
    unseen.push(
      'the bucket "conversations" and spans that wait: an erasure of single messages does not say what these were; ' +
        'digests of their turns go 30 days after the last span',
    );
    return { left: [], unseen };
  }
  const target = new Target(settings, erasure);
  const { waiting, silent } = await findConversations(settings, target);
  let { digests } = silent;
  if (silent.sessions.length > 0) {
    const sessions = await spoken();
    if (sessions === null)
      unseen.push(
        `the turns of ${count(silent.sessions.length)} conversations in the bucket "conversations": the stream no longer ` +
          'holds all messages, so nothing says whose they were',
      );
    else digests += silent.sessions.filter((session) => !sessions.has(session)).length;
  }
  const spans = await findSpans(settings, target);
  return {
    left: [
      ...counted(digests, 'conversations in the bucket "conversations" hold digests of turns from before it'),
      ...counted(waiting, 'messages of it in the bucket "conversations" can still be opened'),
      ...counted(spans, 'spans of it wait in the stream of traces; they are refused when their wait is over'),
    ],
    unseen,
  };
}

/** Empty if there are none. */
function counted(found: number, words: string): string[] {
  return found === 0 ? [] : [`${count(found)} ${words}`];
}

/** Decides what belongs to an erasure. */
class Target {
  readonly erasure: Erasure;
  /** What was said before it belongs to it, microseconds. */
  readonly before: number;
  readonly #settings: FindErasedSettings;
  readonly #users = new Map<string, boolean>();

  constructor(settings: FindErasedSettings, erasure: Erasure) {
    this.#settings = settings;
    this.erasure = erasure;
    this.before = Date.parse(erasure.requestedAt) * 1000;
  }

  isInstance(instanceId: string): boolean {
    return instanceId.toLowerCase() === this.erasure.instanceId;
  }

  /** The session of a conversation of the instance. */
  session(name: ConversationName): Promise<string> {
    const { registry } = this.#settings;
    return sessionOf(registry, openedName(registry, this.erasure.projectId, name));
  }

  async isSession(name: ConversationName): Promise<boolean> {
    const { kind, instanceId, digest } = this.erasure;
    if (kind !== 'SESSION') return false;
    return this.#settings.digest('SESSION', instanceId, await this.session(name)) === digest;
  }

  isUser(userId: string | undefined): boolean {
    const { kind } = this.erasure;
    if (kind !== 'END_USER' || userId === undefined || userId === '') return false;
    const known = this.#users.get(userId) ?? this.#is(userId);
    if (this.#users.size < MOST_KNOWN) this.#users.set(userId, known);
    return known;
  }

  #is(userId: string): boolean {
    const { projectId, instanceId, digest } = this.erasure;
    const { maskDigest } = this.#settings.registry;
    const id = openedId(userId, tokenKeys(maskDigest, projectId));
    return [id, digestedUserId(maskDigest, instanceId, id)].some(
      (name) => this.#settings.digest('END_USER', instanceId, name) === digest,
    );
  }
}

/** Size of the cache of names. It changes no result. */
const MOST_KNOWN = 100_000;

interface FoundConversations {
  /** Messages that wait to be stored. */
  readonly waiting: number;
  readonly silent: {
    /** Conversations that belong to the erasure, and hold turns from before it. */
    readonly digests: number;
    /** Sessions of an end user's instance whose conversations hold turns from before it. */
    readonly sessions: readonly string[];
  };
}

async function findConversations(
  { connection, buckets }: FindErasedSettings,
  target: Target,
): Promise<FoundConversations> {
  const { projectId, kind } = target.erasure;
  const keys = await OutboxKeys.open(buckets.outboxKeys);
  let waiting = 0;
  let digests = 0;
  const sessions: string[] = [];
  const take = async (conversation: Conversation): Promise<void> => {
    const { name, turns, outbox } = conversation;
    if (conversation.projectId !== projectId || !target.isInstance(name.instanceId)) return;
    const isWhole = kind === 'INSTANCE' || (await target.isSession(name));
    const messages = outbox.flatMap((emission) => emission.messages);
    const left = messages.filter(
      ({ userId, at }) => at < target.before && (isWhole || target.isUser(userId)),
    );
    waiting += left.length;
    if (!turns.some(({ at }) => at < target.before)) return;
    if (isWhole) digests += 1;
    // The stream does not have what waits.
    else if (kind === 'END_USER' && messages.length === 0) sessions.push(await target.session(name));
  };
  await readToEnd(connection, CONVERSATION_STATES, async ({ bytes }) => {
    const found = conversationIn(Buffer.from(bytes).toString(), keys);
    if (found !== null) await take(found);
  });
  return { waiting, silent: { digests, sessions } };
}

/** What the waiting spans of a trace say together: each inherits from the others. */
interface WaitingTrace {
  /** Spans that began before the erasure. */
  before: number;
  readonly defaultInstanceId: string;
  namesInstance: boolean;
  namesSession: boolean;
  isInstance: boolean;
  isTarget: boolean;
}

async function findSpans({ connection, buckets }: FindErasedSettings, target: Target): Promise<number> {
  const { projectId, kind } = target.erasure;
  const traces = new Map<string, WaitingTrace>();
  const add = async (
    trace: WaitingTrace,
    { instanceId, conversationId: id, userId }: SpanIds,
  ): Promise<void> => {
    if (instanceId !== undefined) trace.namesInstance = true;
    if (instanceId !== undefined && target.isInstance(instanceId)) trace.isInstance = true;
    if (id !== undefined) trace.namesSession = true;
    trace.isTarget ||=
      kind === 'INSTANCE' ||
      target.isUser(userId) ||
      (id !== undefined && (await target.isSession({ instanceId: target.erasure.instanceId, id })));
  };
  const take = async (entry: TraceEntry): Promise<void> => {
    if (entry.projectId !== projectId) return;
    for (const observation of entry.observations) {
      const { traceId, startedAt } = observation;
      const trace = traces.get(traceId) ?? newTrace(entry);
      traces.set(traceId, trace);
      if (startedAt < target.before) trace.before += 1;
      await add(trace, { ...observation, instanceId: entry.instanceId ?? observation.instanceId });
    }
  };
  await readToEnd(
    connection,
    { stream: TRACES_STREAM, filterSubjects: [TRACES_SUBJECT] },
    async ({ bytes }) => {
      for (const entry of entriesIn(bytes)) await take(entry);
    },
  );
  let spans = 0;
  for (const [traceId, trace] of traces) {
    if (trace.before === 0) continue;
    // What is known of the trace from spans that are done.
    const known = await buckets.traces.get(traceKey({ projectId, traceId }));
    if (known !== null) await add(trace, TRACES.decode(known.value).ids);
    const { namesInstance, namesSession, defaultInstanceId } = trace;
    if (!trace.isInstance && (namesInstance || !target.isInstance(defaultInstanceId))) continue;
    const isAlone = !namesSession && !trace.isTarget;
    const isTarget = isAlone
      ? await target.isSession({ instanceId: target.erasure.instanceId, trace: traceId })
      : trace.isTarget;
    if (isTarget) spans += trace.before;
  }
  return spans;
}

function newTrace({ defaultInstanceId }: TraceEntry): WaitingTrace {
  return {
    before: 0,
    defaultInstanceId,
    namesInstance: false,
    namesSession: false,
    isInstance: false,
    isTarget: false,
  };
}

/** None for an entry that no version can decode: the assembly leaves it out, too. */
function entriesIn(bytes: Uint8Array): readonly TraceEntry[] {
  try {
    return decodeTraceEntries(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return [];
    throw error;
  }
}
