/**
 * The loop of one shard: pull, enrich, assign, fold, commit, publish. A crash between any two steps changes no result.
 *
 * Test: test/worker/loop.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Enrichment } from '../domain/facts.ts';
import type { SharedShard } from '../domain/sharing.ts';
import type { Publication } from '../store/published/publication.ts';
import type { MessageNotes } from '../stream/dead-letters/message-notes.ts';
import type { IdleCollection } from '../reader/threads/idle-collection.ts';
import { isUnanalysed } from '../reader/threads/protocol.ts';
import { Applier, deliveredAs, type ApplierOptions } from './applier.ts';
import { EntriesInDoubt, SurroundingsError } from './dead-letter-decision.ts';
import { BatchSize } from './batch-size.ts';
import { messagesOf, withoutTexts, type SourceMessage } from './batch.ts';
import { workOf } from './work.ts';
import { idleCounters, type MutableWorkCounters, type WorkCounters } from './counters.ts';
import { FairShare, type FetchEntry } from './fair-share.ts';
import { InWork, type WorkMarks } from './in-work.ts';
import { Intake, type IntakeOptions, type Taken } from './intake.ts';
import { AnalysisStopped, NOTHING_FOUND, type EnrichStage } from '../reader/threads/stages.ts';

export interface WorkerLoopOptions
  extends ApplierOptions, Pick<IntakeOptions, 'source' | 'decode' | 'maxEntries' | 'maxBytes' | 'waitMs'> {
  /** Requests of up to this many messages are never divided. Default MAX_WHOLE_MESSAGES. */
  readonly wholeUpTo?: number;
  /** Work of a batch when projects take turns. Default: adapts to the measured time. */
  readonly batchSize?: Pick<BatchSize, 'work' | 'newWork' | 'noteSender' | 'took'>;
  readonly enricher: EnrichStage;
  /** Receives whether the shard is busy or idle. */
  readonly idleCollection?: Pick<IdleCollection, 'busy' | 'idle'>;
  /** The messages that count without findings. */
  readonly notes: Pick<MessageNotes, 'has' | 'add'>;
  readonly publication: Publication;
  /** Is told of each publication. */
  readonly shared?: Pick<SharedShard, 'published'>;
  /** File for the marks of entries in work, which the next process reads if this one dies. */
  readonly marks: WorkMarks;
  /** Most work of a batch, or most messages without turns. Default 20,000: larger batches are no faster. */
  readonly enoughMessages?: number;
  /** Under backlog, at most one publication per interval of this length, milliseconds. */
  readonly publishEveryMs: number;
}

/** A message in work takes about 3 KB with its vector, however short its text is. */
const ENOUGH_MESSAGES = 20_000;

interface Prepared extends Taken {
  readonly enrichments: readonly Enrichment[];
  /** Duration of enrich, milliseconds. */
  readonly enrichMs: number;
}

/**
 * Runs until stopped. While one batch is folded, the next one is pulled and enriched. A failure of the store rejects
 * `run`, and the next process goes on from the checkpoint; an entry that cannot be processed becomes a dead letter.
 */
export class WorkerLoop {
  readonly #options: WorkerLoopOptions;
  readonly #counters: MutableWorkCounters;
  readonly #applier: Applier;
  readonly #inWork: InWork;
  readonly #size: Pick<BatchSize, 'work' | 'newWork' | 'noteSender' | 'took'>;
  readonly #intake: Intake;
  readonly #fairShare: FairShare | undefined;
  #stopping = false;
  #publishedAt = -Infinity;

  constructor(options: WorkerLoopOptions) {
    this.#options = options;
    this.#counters = idleCounters(options.store.sequence, options.now());
    const { store, source, enoughMessages = ENOUGH_MESSAGES } = options;
    this.#inWork = new InWork(options.marks, store, options.logger);
    this.#applier = new Applier(options, this.#counters, this.#inWork);
    this.#size = options.batchSize ?? new BatchSize(enoughMessages);
    const fairShare = source.fetch === undefined ? undefined : this.#shareOut(source.fetch);
    this.#fairShare = fairShare;
    this.#intake = new Intake({
      ...options,
      fairShare,
      inWork: this.#inWork,
      size: this.#size,
      enoughMessages,
    });
  }

  #shareOut(fetch: FetchEntry): FairShare {
    const { store, decode, logger, wholeUpTo } = this.#options;
    return new FairShare({
      wholeUpTo,
      parts: store.deferred,
      fetch,
      // Deferred entries are never carried over from other views.
      decode: (bytes) => decode(bytes, Infinity),
      onGone: ({ sequence, instanceId }) =>
        logger.error(
          { event: 'deferred_entry_gone', sequence, instanceId },
          'an entry that was not counted yet is no longer on the stream: its messages are lost',
        ),
    });
  }

  /** The live counters: always the same object. */
  get counters(): WorkCounters {
    return this.#counters;
  }

  /** Makes `run` return after the batch in work. */
  stop(): void {
    this.#stopping = true;
  }

  async run(): Promise<void> {
    const { publication, store } = this.#options;
    if (publication.revision < store.revision) await this.#publish();
    try {
      await this.#work();
    } catch (error) {
      if (error instanceof EntriesInDoubt) this.#inWork.failed(error.message);
      else this.#inWork.end();
      if (error instanceof EntriesInDoubt || error instanceof SurroundingsError) throw error.cause;
      if (!this.#stopping || !(error instanceof AnalysisStopped)) throw error;
    }
    this.#inWork.end();
    await this.#publish();
  }

  async #work(): Promise<void> {
    let ahead: Promise<Prepared> | null = null;
    while (!this.#stopping && !(ahead === null && this.#options.source.ended === true)) {
      const prepared: Prepared = ahead === null ? await this.#prepare() : await this.#withNewest(await ahead);
      ahead = null;
      if (prepared.delivered.length === 0 && prepared.entries.length === 0) {
        await this.#publish();
        if (prepared.isPaused === true) continue;
        this.#options.alerts?.idle();
        this.#options.idleCollection?.idle();
        continue;
      }
      this.#options.idleCollection?.busy();
      // Suspected entries are applied alone.
      const assigning = Promise.withResolvers<void>();
      if (this.#inWork.limit === Infinity) {
        ahead = this.#prepare(assigning.promise);
        ahead.catch(() => undefined);
      }
      await this.#applyTimed(prepared, assigning.resolve).finally(assigning.resolve);
      // Waits for the next batch only until the publication is due, so that rows become visible on a quiet stream.
      const dueMs = this.#publishedAt + this.#options.publishEveryMs - performance.now();
      if (ahead === null ? dueMs <= 0 : !(await settlesWithin(ahead, dueMs))) await this.#publish();
    }
    await ahead?.catch(() => undefined);
  }

  async #publish(): Promise<void> {
    const { publication, alerts, shared, store, now } = this.#options;
    await store.withMemory(() => publication.publish(), { raise: true });
    shared?.published();
    alerts?.published(publication.revision, this.#fairShare?.oldestAt ?? null);
    this.#publishedAt = performance.now();
    this.#counters.lastProgressAt = now();
  }

  /**
   * `mayEnrich` resolves once assign of the previous batch was requested; its fold then leaves the threads free to
   * enrich.
   */
  async #prepare(mayEnrich?: Promise<void>): Promise<Prepared> {
    const taken = await this.#intake.next();
    await mayEnrich;
    return this.#prepared(taken);
  }

  /**
   * Adds to a prepared batch the entries that arrived meanwhile. When the batch holds only deferred entries, the new
   * ones are applied first, and published at once.
   */
  async #withNewest(batch: Prepared): Promise<Prepared> {
    const taken = await this.#intake.since(batch);
    if (taken === null) return batch;
    const newest = await this.#prepared(taken);
    if (batch.last === null && newest.enrichments.length > 0) {
      await this.#apply(newest);
      await this.#publish();
      return batch;
    }
    return {
      delivered: [...batch.delivered, ...newest.delivered],
      entries: [...batch.entries, ...newest.entries],
      enrichments: [...batch.enrichments, ...newest.enrichments],
      enrichMs: batch.enrichMs + newest.enrichMs,
      broken: [...batch.broken, ...newest.broken],
      last: newest.last,
    };
  }

  /**
   * Enriches messages without a note. A message that cannot be analysed is noted. Noted messages go on without text.
   */
  async #prepared(taken: Taken): Promise<Prepared> {
    const { enricher, notes, now } = this.#options;
    const startedAt = performance.now();
    const messages = messagesOf(taken.entries);
    const asked = messages.filter(({ request: { requestId }, index }) => !notes.has({ requestId, index }));
    const findings = await enricher.enrich(asked.map(({ role, content }) => ({ role, content })));
    const found = new Map<SourceMessage, Enrichment>();
    for (const [number, finding] of findings.entries()) {
      const message = asked[number] as SourceMessage;
      if (isUnanalysed(finding)) {
        const { sequence, subject } = deliveredAs(taken.delivered, message.entry.sequence);
        await this.#applier.note(subject, { ...message, sequence, reason: finding.unanalysed });
      } else found.set(message, finding);
    }
    this.#counters.lastProgressAt = now();
    return {
      ...taken,
      entries: taken.entries.map((entry) => withoutTexts(entry, (message) => notes.has(message))),
      enrichments: messages.map((message) => found.get(message) ?? NOTHING_FOUND),
      enrichMs: performance.now() - startedAt,
    };
  }

  async #applyTimed(prepared: Prepared, onAssigning: () => void): Promise<void> {
    const startedAt = performance.now();
    await this.#apply(prepared, onAssigning);
    const endedAt = performance.now();
    const work = prepared.entries.reduce((sum, { requests }) => sum + workOf(requests), 0);
    // Two batches are in work at a time: the slower half sets the pace.
    this.#size.took(work, Math.max(endedAt - startedAt, prepared.enrichMs), endedAt);
  }

  async #apply(
    { delivered, entries, enrichments, broken, last }: Prepared,
    onAssigning?: () => void,
  ): Promise<void> {
    for (const { entry, reason } of broken) await this.#applier.setAside(entry, reason);
    const sequence = last?.sequence ?? this.#options.store.sequence;
    await this.#applier.apply({ delivered, entries, enrichments, sequence }, onAssigning);
    this.#counters.appliedEntryAt = last?.timestamp ?? this.#counters.appliedEntryAt;
    this.#counters.deferredParts = this.#fairShare?.waiting ?? 0;
  }
}

/** Resolves to false when the time runs out first. */
async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  if (ms <= 0) return false;
  const timer = new AbortController();
  const settled = Promise.allSettled([work]).then(() => true);
  const first = await Promise.race([settled, sleep(ms, false, { signal: timer.signal })]);
  timer.abort();
  return first;
}
