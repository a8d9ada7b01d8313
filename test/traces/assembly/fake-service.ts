import { recall } from '../../../src/traces/assembly/assembler.ts';
import { assemble, type AssemblyParts } from '../../../src/traces/assembly/assembly.ts';
import { CachedBucket } from '../../../src/traces/assembly/assembly-store.ts';
import * as records from '../../../src/traces/assembly/records.ts';
import { TraceBuffer } from '../../../src/traces/assembly/trace-buffer.ts';
import type { Observation } from '../../../src/traces/observation.ts';
import type { Dice } from './exports.ts';

class Crash extends Error {}

interface Process {
  readonly buffer: TraceBuffer;
  readonly parts: AssemblyParts;
  read: number;
}

const CRASH_SHARE = 0.03;
const HEAD = { projectId: 'p', instanceId: null, defaultInstanceId: 'i', unknownInstanceIds: [] };

/** Stream, buckets and ingest in memory; with dice, any write may be the last that a process does. */
export class FakeService {
  readonly #dice: Dice | null;
  readonly #kept: records.Kept;
  readonly #log: { readonly sequence: number; readonly observations: readonly Observation[] }[] = [];
  readonly #buckets = new Map<string, Map<string, { value: string; revision: number }>>();
  /** By seed: what comes again is dropped. */
  readonly #requests = new Map<string, { readonly session: string; readonly messages: readonly object[] }>();
  readonly #crashShare: number;
  #first = 1;
  #now = 0;
  #revision = 0;
  #process: Process | null = null;

  constructor(dice: Dice | null, { kept = records.KEPT, crashShare = CRASH_SHARE } = {}) {
    this.#dice = dice;
    this.#kept = kept;
    this.#crashShare = crashShare;
  }

  send(observations: readonly Observation[]): void {
    this.#log.push({ sequence: this.#log.length + 1, observations });
  }

  /** Does what can be done now; a process that crashes is followed by another. */
  async run(): Promise<void> {
    for (;;) {
      try {
        await this.#work();
        return;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        this.#process = null;
      }
    }
  }

  /** Of all conversations that are known. */
  get turnsKept(): number {
    const stored = [...(this.#buckets.get('conversations')?.values() ?? [])];
    return stored.reduce((sum, { value }) => sum + (records.decodeConversation(value).turns?.length ?? 0), 0);
  }

  /** The largest value in a bucket, characters. */
  get largestValue(): number {
    const values = [...this.#buckets.values()].flatMap((bucket) => [...bucket.values()]);
    return Math.max(0, ...values.map(({ value }) => value.length));
  }

  /** As after a restore of a backup that has the messages alone. */
  forget(): void {
    this.#buckets.clear();
    this.#process = null;
  }

  /** What was under way and in memory is gone; what is on the stream is read again. */
  kill(): void {
    this.#process = null;
  }

  /** Everything that still waits has waited long enough. */
  async runOut(): Promise<void> {
    while (this.#first <= this.#log.length) {
      await this.run();
      this.#now += 60_000;
      await this.run();
    }
  }

  /** What was said in each session, by the conversation's id, or the trace that began it. */
  sessions(): Map<string, object[]> {
    const sessions = new Map<string, object[]>();
    for (const { session, messages } of this.#requests.values())
      sessions.set(session, [...(sessions.get(session) ?? []), ...messages]);
    return sessions;
  }

  async #work(): Promise<void> {
    const working = (this.#process ??= this.#start());
    for (const { sequence, observations } of this.#log) {
      if (sequence <= working.read) continue;
      working.buffer.add({ ...HEAD, observations }, sequence);
      working.read = sequence;
    }
    await recall(working.buffer, working.parts.traces);
    for (;;) {
      const ready = working.buffer.takeReady(3);
      if (ready.length === 0) break;
      await assemble(ready, working.parts);
    }
    this.#first = working.buffer.oldestSequence ?? working.read + 1;
  }

  #start(): Process {
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
    return {
      read: this.#first - 1,
      buffer: new TraceBuffer({ waitMs: 30_000, maxBytes: 2 ** 30, now: () => this.#now }),
      parts: {
        conversations: new CachedBucket(
          conversations,
          {
            encode: records.encodeConversation,
            decode: (text: string) => records.decodeConversation(text, this.#kept),
          },
          10_000,
        ),
        candidates: new CachedBucket(
          conversations,
          { encode: records.encodeCandidates, decode: records.decodeCandidates },
          10_000,
        ),
        pages: new CachedBucket(
          conversations,
          { encode: records.encodePage, decode: records.decodePage },
          10_000,
        ),
        traces: new CachedBucket(
          store('traces'),
          { encode: records.encodeTrace, decode: records.decodeTrace },
          10_000,
        ),
        emit: async ({ name }, { seed, messages }) => {
          this.#mayCrash();
          const session = name.id ?? `trace ${name.trace}`;
          const said = messages.map((message) => ({ ...message, at: undefined }));
          if (!this.#requests.has(seed)) this.#requests.set(seed, { session, messages: said });
          this.#mayCrash();
        },
        isKnownSession: async () => false,
        firstSequence: () => this.#first,
        roundBytes: this.#dice?.chance(0.5) === true ? 1 : 1_000_000,
        kept: this.#kept,
        clock: () => 0,
        guard: async () => undefined,
      },
    };
  }

  #mayCrash(): void {
    if (this.#dice?.chance(this.#crashShare) === true) throw new Crash();
  }
}
