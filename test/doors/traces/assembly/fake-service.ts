import type { Usage } from '../../../../src/domain/usage.ts';
import { recall } from '../../../../src/doors/traces/assembly/assembler.ts';
import { Assembly, RoundFailure, type LeftOut } from '../../../../src/doors/traces/assembly/assembly.ts';
import { Backlog } from '../../../../src/doors/traces/assembly/backlog.ts';
import type { AssemblyParts, RoundLimits } from '../../../../src/doors/traces/assembly/assembly-parts.ts';
import { CachedBucket } from '../../../../src/doors/traces/assembly/assembly-store.ts';
import { OutboxKeys, type OutboxKey } from '../../../../src/doors/traces/assembly/outbox-keys.ts';
import * as records from '../../../../src/doors/traces/assembly/records.ts';
import { TraceBuffer } from '../../../../src/doors/traces/assembly/trace-buffer.ts';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import type { TraceEntry } from '../../../../src/doors/traces/trace-entry.ts';
import { UNSEALED } from '../../../support/memory-keys.ts';
import type { Dice } from './exports.ts';

class Crash extends Error {}

interface Process {
  readonly buffer: TraceBuffer;
  readonly backlog: Backlog;
  readonly assembly: Assembly;
  readonly parts: AssemblyParts;
  read: number;
}

const CRASH_SHARE = 0.03;
const TRACES_AT_ONCE = 3;
const HEAD = { instanceId: null, defaultInstanceId: 'i', unknownInstanceIds: [] };

export interface FakeServiceOptions {
  readonly kept?: records.Kept;
  readonly crashShare?: number;
  readonly maxBytes?: number;
  readonly limits?: Partial<RoundLimits>;
  readonly perTrace?: number;
}

/** Stream, buckets and ingest in memory; with dice, any write may be the last that a process does. */
export class FakeService {
  /** There was no room for something. */
  wasDeferred = false;
  /** Messages that did not count, because their traces were full. */
  readonly leftOut: LeftOut[] = [];
  /** Feedback that was on no reply. */
  lostFeedback = 0;
  readonly #dice: Dice | null;
  readonly #options: Required<FakeServiceOptions>;
  readonly #log: { readonly sequence: number; readonly requests: readonly TraceEntry[] }[] = [];
  readonly #buckets = new Map<string, Map<string, { value: string; revision: number }>>();
  readonly #outboxKeys = new Map<string, OutboxKey>();
  /** By seed: what comes again is dropped. */
  readonly #requests = new Map<
    string,
    { readonly session: string; readonly messages: readonly object[]; readonly attributes: unknown }
  >();
  /** By seed, in the order in which they were sent first. */
  readonly #feedback = new Map<string, object>();
  #first = 1;
  #now = 0;
  /** Microseconds. */
  #refusedBefore = -Infinity;
  #revision = 0;
  #process: Process | null = null;

  constructor(dice: Dice | null, options: FakeServiceOptions = {}) {
    this.#dice = dice;
    this.#options = {
      kept: records.KEPT,
      crashShare: CRASH_SHARE,
      maxBytes: 2 ** 30,
      limits: {},
      perTrace: Infinity,
      ...options,
    };
  }

  /** An entry of the stream. */
  send(observations: readonly Observation[], projectId = 'p'): void {
    const requests = [{ ...HEAD, projectId, observations }];
    this.#log.push({ sequence: this.#log.length + 1, requests });
  }

  /** Does what can be done now; a process that crashes is followed by another. */
  async run(): Promise<void> {
    for (;;) {
      try {
        await this.#work();
        return;
      } catch (error) {
        if (!(error instanceof Crash) && !(error instanceof RoundFailure && error.cause instanceof Crash))
          throw error;
        this.#process = null;
      }
    }
  }

  /** Of all conversations that are known. */
  get turnsKept(): number {
    const stored = [...(this.#buckets.get('conversations')?.values() ?? [])];
    return stored.reduce(
      (sum, { value }) => sum + (records.decodeConversation(value, UNSEALED).turns?.length ?? 0),
      0,
    );
  }

  /** The largest value in a bucket, characters. */
  get largestValue(): number {
    const values = [...this.#buckets.values()].flatMap((bucket) => [...bucket.values()]);
    return Math.max(0, ...values.map(({ value }) => value.length));
  }

  /** As after a restore of a backup that has the messages alone. */
  forget(): void {
    this.#buckets.clear();
    this.#outboxKeys.clear();
    this.#process = null;
  }

  /** As an erasure of all that was said: what is known of conversations goes, and ingest refuses it. Microseconds. */
  erase(before: number): void {
    this.#refusedBefore = before;
    this.#requests.clear();
    this.#process = null;
    const values =
      this.#buckets.get('conversations') ?? new Map<string, { value: string; revision: number }>();
    for (const [key, { value }] of values) {
      const forgotten = records.forgottenConversation(value, before);
      if (forgotten !== null) values.set(key, { value: forgotten.text, revision: (this.#revision += 1) });
    }
  }

  /** What was under way and in memory is gone; what is on the stream is read again. */
  kill(): void {
    this.#process = null;
  }

  wait(ms: number): void {
    this.#now += ms;
  }

  /** Everything that still waits has waited long enough. */
  async runOut(): Promise<void> {
    while (this.#first <= this.#log.length) {
      await this.run();
      this.wait(60_000);
      await this.run();
    }
  }

  /** Input tokens on messages, and those that wait for a message. */
  tokens(): { readonly counted: number; readonly waiting: number } {
    const messages = [...this.sessions().values()].flat() as { readonly usage?: Usage }[];
    const stored = [...(this.#buckets.get('conversations')?.values() ?? [])];
    const sum = (usages: readonly (Usage | undefined)[]): number =>
      usages.reduce((all, usage) => all + (usage?.inputTokens ?? 0), 0);
    return {
      counted: sum(messages.map(({ usage }) => usage)),
      waiting: sum(stored.map(({ value }) => records.conversationIn(value, UNSEALED)?.usage)),
    };
  }

  /** Feedback that was sent on. */
  get feedback(): object[] {
    return [...this.#feedback.values()];
  }

  /** The attributes of each request, with its session, in the order of sending. */
  attributes(): (readonly [session: string, attributes: unknown])[] {
    return [...this.#requests.values()].map(({ session, attributes }) => [session, attributes]);
  }

  /** What was said in each session, by the conversation's id, or the trace that began it. */
  sessions(): Map<string, object[]> {
    const sessions = new Map<string, object[]>();
    for (const { session, messages } of this.#requests.values())
      sessions.set(session, [...(sessions.get(session) ?? []), ...messages]);
    return sessions;
  }

  async #work(): Promise<void> {
    const working = (this.#process ??= await this.#start());
    const { buffer, backlog, assembly, parts } = working;
    for (const { sequence, requests } of this.#log) {
      if (sequence <= working.read) continue;
      backlog.take(sequence, requests);
      working.read = sequence;
    }
    for (let isBusy = true; isBusy;) {
      this.wasDeferred ||= backlog.size > 0;
      const isRefilled = await backlog.refill(async (sequence) => this.#log[sequence - 1]?.requests ?? null);
      await recall(buffer, parts.traces);
      const { traces, messages, lostFeedback, leftOut } = await assembly.round(buffer, TRACES_AT_ONCE);
      this.lostFeedback += lostFeedback;
      this.leftOut.push(...leftOut);
      if (this.#dice?.chance(0.5) === true) {
        const oldest = Math.min(buffer.oldestSequence, backlog.oldestSequence, working.read + 1);
        await parts.outboxKeys.settle(oldest, working.read);
      }
      isBusy = isRefilled || traces > 0 || messages > 0 || buffer.nextMs === 0;
    }
    this.#first = Math.min(buffer.oldestSequence, backlog.oldestSequence, working.read + 1);
    await parts.outboxKeys.settle(this.#first, working.read);
  }

  async #start(): Promise<Process> {
    const bucket = (name: string): Map<string, { value: string; revision: number }> => {
      const found = this.#buckets.get(name) ?? new Map<string, { value: string; revision: number }>();
      this.#buckets.set(name, found);
      return found;
    };
    const store = (name: string) => {
      const values = bucket(name);
      const write = async (key: string, value: string, expected: number): Promise<number | null> => {
        this.#mayCrash();
        if ((values.get(key)?.revision ?? 0) !== expected) return null;
        values.set(key, { value, revision: (this.#revision += 1) });
        this.#mayCrash();
        return this.#revision;
      };
      return {
        get: async (key: string) => values.get(key) ?? null,
        create: (key: string, value: string) => write(key, value, 0),
        update: write,
      };
    };
    const conversations = store('conversations');
    const outboxKeys = await OutboxKeys.open({
      list: async () => [...this.#outboxKeys.values()],
      add: async (key) => {
        this.#mayCrash();
        this.#outboxKeys.set(key.id, key);
        this.#mayCrash();
      },
      erase: async (id) => {
        this.#mayCrash();
        this.#outboxKeys.delete(id);
        this.#mayCrash();
      },
    });
    const buffer = new TraceBuffer({
      waitMs: 30_000,
      maxBytes: this.#options.maxBytes,
      now: () => this.#now,
    });
    const parts: AssemblyParts = {
      conversations: new CachedBucket(
        conversations,
        records.conversationCodec(outboxKeys, this.#options.kept),
        10_000,
      ),
      pages: new CachedBucket(conversations, records.PAGES, 10_000),
      traces: new CachedBucket(store('traces'), records.TRACES, 10_000),
      outboxKeys,
      emit: async ({ name }, { seed, messages, attributes, feedback }) => {
        this.#mayCrash();
        if (messages.some(({ at }) => at < this.#refusedBefore)) return messages;
        const session = name.id ?? `trace ${name.trace}`;
        const untimed = messages.map((message) => ({ ...message, at: undefined }));
        if (feedback !== undefined) this.#feedback.set(seed, { session, ...feedback });
        else if (!this.#requests.has(seed))
          this.#requests.set(seed, { session, messages: untimed, attributes });
        this.#mayCrash();
        return [];
      },
      isKnownSession: async () => false,
      perTrace: this.#options.perTrace,
      firstSequence: () => this.#first,
      limits: { bytes: this.#dice?.chance(0.5) === true ? 1 : 1_000_000, ...this.#options.limits },
      kept: this.#options.kept,
      clock: () => 0,
      guard: async () => undefined,
    };
    const read = this.#first - 1;
    return { read, buffer, backlog: new Backlog(buffer), assembly: new Assembly(parts), parts };
  }

  #mayCrash(): void {
    if (this.#dice?.chance(this.#options.crashShare) === true) throw new Crash();
  }
}
