/**
 * The optional second reader of checks: asks a language model the questions that people are asked about sessions, and
 * publishes each answer as a verdict of its own. Keeps the invariant that a verdict has one id, made of the model, the
 * entity and the session, so that one that is published twice counts once.
 *
 * Test: test/doors/writer/second-reader.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECK_QUESTIONS } from '../../domain/check-questions.ts';
import type { Verdict } from '../../domain/checks.ts';
import { CHECK_MESSAGES } from '../../domain/curations.ts';
import { derivedId } from '../../domain/ids.ts';
import { roleOf, type RecordedRequest } from '../../domain/records.ts';
import type { Reading, ReadingSource } from '../../domain/second-reading.ts';
import { truncate } from '../../domain/truncate.ts';
import { redact } from '../../reader/personal/redact.ts';
import type { Logger } from '../../logger.ts';
import { CallLimits } from './call-limits.ts';
import { CallError, type TextModel } from './chat-endpoint.ts';
import { addLine, type Lines } from './ended-sessions.ts';
import { judgingPromptOf, verdictIn } from './prompts.ts';

export interface SecondReaderOptions {
  readonly model: TextModel;
  /** Publishes a record; resolves once it is durable. */
  readonly publish: (request: RecordedRequest) => Promise<unknown>;
  /** Returns the project of an instance. */
  readonly projectOf: (instanceId: string) => Promise<string>;
  readonly checksPerHour: number;
  readonly logger: Logger;
  /** Pause after the first failure. Default 2 s. */
  readonly firstPauseMs?: number;
  /** Shortest pause between two searches for sessions. Default 5 s. */
  readonly lookEveryMs?: number;
}

/** Results of calls. */
export interface SecondReaderCounters {
  /** Verdicts published. */
  readonly judged: number;
  /** Answers that are no verdict. */
  readonly rejected: number;
  /** Calls without an answer. */
  readonly failed: number;
  readonly timedOut: number;
}

/** The shard whose sessions are judged. */
export interface JudgedShard {
  /** Opens what chooses and reads its sessions, at the first look. */
  readonly open: () => Promise<ReadingSource>;
  /** Rejects once another worker may own the shard. */
  readonly guard: () => Promise<void>;
}

/** Attempts of a session in all. */
const MOST_ATTEMPTS = 3;
const LOOK_EVERY_MS = 5000;
/** Largest share of time that searches take: above it they become rarer. */
const SHARE = 0.05;
/** Sessions of one search. */
const AT_ONCE = 20;
/** Sessions remembered as judged, or as not to be judged, until the views show them or the process ends. */
const MOST_PASSED = 50_000;
/** Longest turn in a prompt, characters. */
const MOST_LINE = 2000;

/** Judges sessions of the open shards, one call at a time; shards take turns. */
export class SecondReader {
  readonly #options: SecondReaderOptions;
  readonly #limits: CallLimits;
  readonly #shards: OpenShard[] = [];
  readonly #closing = new AbortController();
  readonly #counts = { judged: 0, rejected: 0, failed: 0, timedOut: 0 };
  readonly #passed = new Set<string>();
  /** Verdicts that are not published yet, and failed attempts, by the id of the verdict. */
  readonly #attempts = new Map<string, { readonly failures: number; readonly verdict: Verdict | null }>();
  readonly #working: Promise<void>;

  constructor(options: SecondReaderOptions) {
    this.#options = options;
    this.#limits = new CallLimits(options.checksPerHour, options.firstPauseMs);
    this.#working = this.#work();
  }

  get counters(): SecondReaderCounters {
    return { ...this.#counts };
  }

  /** Opens the second reader of a shard. Once `close` resolves, nothing more is published for it. */
  openShard(shard: JudgedShard): { close(): Promise<void> } {
    const open = new OpenShard(shard);
    this.#shards.push(open);
    return {
      close: async () => {
        this.#shards.splice(this.#shards.indexOf(open), 1);
        await open.close();
      },
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    const everyMs = this.#options.lookEveryMs ?? LOOK_EVERY_MS;
    let pauseMs = everyMs;
    while (!signal.aborted) {
      const waitMs = Math.max(pauseMs, this.#limits.waitMs(performance.now()));
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      const lookedAt = performance.now();
      const shard = this.#shards.shift();
      if (shard === undefined || signal.aborted) continue;
      this.#shards.push(shard);
      const looking = this.#look(shard, AbortSignal.any([signal, shard.closing]));
      shard.inWork = looking;
      const searchedMs = await looking;
      pauseMs = Math.max(everyMs, searchedMs / SHARE - (performance.now() - lookedAt));
    }
  }

  /** Judges the next sessions of a shard while calls are allowed. Returns how long the search took, milliseconds. */
  async #look(shard: OpenShard, signal: AbortSignal): Promise<number> {
    const startedAt = performance.now();
    let searchedMs = 0;
    try {
      const model = await this.#options.model.name(signal);
      const source = await shard.source();
      const isPassed = (reading: Reading): boolean => this.#passed.has(idOf(model, reading));
      const readings = await source.next(model, AT_ONCE, isPassed);
      searchedMs = performance.now() - startedAt;
      for (const reading of readings) {
        if (signal.aborted || this.#limits.waitMs(performance.now()) > 0) break;
        await this.#judge(reading, { model, source, guard: shard.guard, signal });
      }
    } catch (error) {
      if (signal.aborted) return searchedMs;
      if (error instanceof CallError) this.#failed(error);
      // Nothing is published yet, or readers are away, which others report: the next look searches again.
      else this.#options.logger.debug({ event: 'nothing_to_judge', err: error }, 'no sessions could be read');
    }
    return searchedMs;
  }

  async #judge(reading: Reading, { model, source, guard, signal }: Judging): Promise<void> {
    const id = idOf(model, reading);
    const { failures, verdict } = this.#attempts.get(id) ?? { failures: 0, verdict: null };
    let said = verdict;
    try {
      said ??= await this.#verdictOn(reading, source, signal);
      if (signal.aborted) return;
      if (said !== null) {
        await guard();
        await this.#publish(reading, { id, model, verdict: said });
        this.#counts.judged += 1;
      }
      this.#pass(id);
    } catch (error) {
      if (signal.aborted) return;
      this.#failed(error);
      if (failures + 1 >= MOST_ATTEMPTS) this.#pass(id);
      else this.#attempts.set(id, { failures: failures + 1, verdict: said });
    }
  }

  /** Returns null where there is nothing to read, or the answer is no verdict. */
  async #verdictOn(reading: Reading, source: ReadingSource, signal: AbortSignal): Promise<Verdict | null> {
    const read: Lines = { lines: [], length: 0 };
    for (const { role, content } of await source.linesOf(reading)) {
      const speaker = roleOf(role);
      if (speaker !== 'other') addLine(read, { speaker, text: truncate(redact(content), MOST_LINE) });
    }
    if (read.lines.length === 0) return null;
    const question = `${CHECK_QUESTIONS[reading.of]} “${redact(reading.name)}”?`;
    this.#limits.called(performance.now());
    const { text } = await this.#options.model.complete(judgingPromptOf(question, read.lines), signal);
    this.#limits.succeeded();
    const verdict = verdictIn(text);
    if (verdict === null) this.#counts.rejected += 1;
    return verdict;
  }

  async #publish(
    { instanceId, of, entityId, sessionId }: Reading,
    { id, model, verdict }: { id: string; model: string; verdict: Verdict },
  ): Promise<void> {
    const { projectOf, publish, logger } = this.#options;
    await publish({
      requestId: id,
      projectId: await projectOf(instanceId),
      instanceId,
      sessionId: '',
      acceptedAt: Date.now() * 1000,
      messages: [],
      curation: {
        id,
        keyId: '',
        action: { kind: 'CHECK', of, id: entityId, session: sessionId, verdict, reader: model },
        messages: CHECK_MESSAGES,
      },
    });
    logger.debug(
      { event: 'session_judged', of, id: entityId, session: sessionId, model },
      'the second reader has judged a session',
    );
  }

  #pass(id: string): void {
    this.#attempts.delete(id);
    this.#passed.add(id);
    if (this.#passed.size <= MOST_PASSED) return;
    const [oldest] = this.#passed;
    if (oldest !== undefined) this.#passed.delete(oldest);
  }

  #failed(error: unknown): void {
    const { logger } = this.#options;
    const now = performance.now();
    if (!(error instanceof CallError)) {
      this.#limits.failed(now);
      logger.warn({ event: 'judging_failed', err: error }, 'the second reader tries again later');
      return;
    }
    this.#counts[error.kind === 'timed_out' ? 'timedOut' : 'failed'] += 1;
    this.#limits.failed(now, error.retryAfterMs);
    logger.warn(
      { event: 'second_reader_call_failed', reason: error.message },
      'the second reader got no answer: it asks again later',
    );
  }
}

interface Judging {
  readonly model: string;
  readonly source: ReadingSource;
  readonly guard: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** UUID of the verdict of a model on a session. */
function idOf(model: string, { instanceId, of, entityId, sessionId }: Reading): string {
  return derivedId(instanceId, 'reading', `${of}:${entityId}:${sessionId}:${model}`);
}

class OpenShard {
  readonly guard: () => Promise<void>;
  /** The current search and the calls that follow from it. */
  inWork: Promise<unknown> = Promise.resolve();
  readonly #open: () => Promise<ReadingSource>;
  readonly #closing = new AbortController();
  #source: Promise<ReadingSource> | null = null;

  constructor({ open, guard }: JudgedShard) {
    this.#open = open;
    this.guard = guard;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  source(): Promise<ReadingSource> {
    const opening = (this.#source ??= this.#open());
    opening.catch(() => (this.#source = null));
    return opening;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.inWork;
    await (await this.#source?.catch(() => null))?.close();
  }
}
