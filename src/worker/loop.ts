import type { Assignment, Enrichment, StateRow, Turn } from '../domain/facts.ts';
import type { RecordedRequest } from '../domain/records.ts';
import type { Logger } from '../logger.ts';
import type { Publication } from '../store/publication.ts';
import type { StateStore } from '../store/state-store.ts';
import type { Delivered, StreamConsumer } from '../stream/consumer.ts';
import { messagesOf, Numbering, type Entry, type NumberedBatch } from './batch.ts';

/** The ordered source of a shard's entries, from the position that the views are at. */
export type EntrySource = Pick<StreamConsumer, 'next'>;

export interface EnrichStage {
  enrich(messages: readonly Pick<Turn, 'role' | 'content'>[]): Promise<readonly Enrichment[]>;
}

export interface AssignStage {
  hasInstance(instance: number): boolean;
  hasSession(instance: number, session: number): boolean;
  restoreInstance(instance: number, instanceId: string, rows: readonly StateRow[]): void;
  restoreSession(instance: number, session: number, value: Uint8Array | null): void;
  assign(turns: readonly Turn[], enrichments: readonly Enrichment[]): Assignment;
  takeState(): StateRow[];
  evictSessions(keepAtMost: number): void;
  reset(): void;
}

export interface WorkerLoopOptions {
  readonly source: EntrySource;
  readonly decode: (bytes: Uint8Array) => readonly RecordedRequest[];
  readonly enricher: EnrichStage;
  readonly assigner: AssignStage;
  readonly store: StateStore;
  readonly publication: Publication;
  /** Keeps an entry that cannot be processed, durably, with the reason. */
  readonly setAside: (entry: Delivered, reason: string) => Promise<void>;
  readonly logger: Logger;
  /** Microseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Most stream entries in a batch. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly waitMs: number;
  /** Under backlog, at most one publication in this time (milliseconds). */
  readonly publishEveryMs: number;
}

const SESSIONS_IN_MEMORY = 20_000;

interface Prepared {
  readonly delivered: readonly Delivered[];
  readonly entries: readonly Entry[];
  readonly enrichments: readonly Enrichment[];
  /** Entries that could not be decoded or enriched, with the reason. */
  readonly broken: readonly { entry: Delivered; reason: string }[];
}

/**
 * Pull → enrich → assign → fold → commit → publish, until stopped. While one batch is folded the next is
 * pulled and enriched. A failure of the store ends `run` with the error (the process restarts from the
 * committed position); an entry that fails for its own sake is set aside and the shard goes on.
 */
export class WorkerLoop {
  readonly #options: WorkerLoopOptions;
  readonly #numbering: Numbering;
  #stopping = false;
  #publishedAt = -Infinity;

  constructor(options: WorkerLoopOptions) {
    this.#options = options;
    this.#numbering = new Numbering(options.store);
  }

  /** Lets the batch in work finish; `run` then returns. */
  stop(): void {
    this.#stopping = true;
  }

  async run(): Promise<void> {
    const { publication, store } = this.#options;
    if (publication.sequence < store.sequence) await this.#publish();
    let ahead = this.#prepare();
    while (!this.#stopping) {
      const prepared = await ahead;
      if (prepared.delivered.length === 0) {
        await this.#publish();
        ahead = this.#prepare();
        continue;
      }
      ahead = this.#prepare();
      ahead.catch(() => undefined);
      await this.#apply(prepared);
      if (performance.now() - this.#publishedAt >= this.#options.publishEveryMs) await this.#publish();
    }
    await ahead.catch(() => undefined);
    await this.#publish();
  }

  async #publish(): Promise<void> {
    await this.#options.publication.publish();
    this.#publishedAt = performance.now();
  }

  async #prepare(): Promise<Prepared> {
    const { source, maxEntries, maxBytes, waitMs } = this.#options;
    // With something unpublished, look only for what is there already, so that readers see it soon.
    const idle = this.#options.publication.sequence >= this.#options.store.sequence;
    const delivered = await source.next({
      maxMessages: maxEntries,
      maxBytes,
      waitMs: idle ? waitMs : Math.min(waitMs, this.#options.publishEveryMs),
    });
    const entries: Entry[] = [];
    const broken: { entry: Delivered; reason: string }[] = [];
    for (const entry of delivered) {
      try {
        entries.push({ sequence: entry.sequence, requests: this.#options.decode(entry.bytes) });
      } catch (error) {
        broken.push({ entry, reason: reasonOf(error) });
      }
    }
    const enriched = await this.#enrich(entries);
    for (const { sequence, reason } of enriched.failed) {
      const entry = delivered.find((candidate) => candidate.sequence === sequence);
      if (entry !== undefined) broken.push({ entry, reason });
    }
    return { delivered, entries: enriched.entries, enrichments: enriched.enrichments, broken };
  }

  /** Enriches all entries together; when that fails, one by one to find the ones at fault. */
  async #enrich(entries: readonly Entry[]): Promise<{
    entries: Entry[];
    enrichments: Enrichment[];
    failed: { sequence: number; reason: string }[];
  }> {
    try {
      return {
        entries: [...entries],
        enrichments: [...(await this.#options.enricher.enrich(messagesOf(entries)))],
        failed: [],
      };
    } catch (error) {
      if (entries.length <= 1) {
        return {
          entries: [],
          enrichments: [],
          failed: entries.map((entry) => ({ sequence: entry.sequence, reason: reasonOf(error) })),
        };
      }
    }
    const result: {
      entries: Entry[];
      enrichments: Enrichment[];
      failed: { sequence: number; reason: string }[];
    } = { entries: [], enrichments: [], failed: [] };
    for (const entry of entries) {
      const one = await this.#enrich([entry]);
      result.entries.push(...one.entries);
      result.enrichments.push(...one.enrichments);
      result.failed.push(...one.failed);
    }
    return result;
  }

  async #apply({ delivered, entries, enrichments, broken }: Prepared): Promise<void> {
    for (const { entry, reason } of broken) await this.#setAside(entry, reason);
    const last = delivered.at(-1) as Delivered;
    await this.#applyEntries(delivered, entries, enrichments, last.sequence);
  }

  /** Applies entries and moves the position to `sequence`; splits the run when an entry in it is at fault. */
  async #applyEntries(
    delivered: readonly Delivered[],
    entries: readonly Entry[],
    enrichments: readonly Enrichment[],
    sequence: number,
  ): Promise<void> {
    const startedAt = performance.now();
    let batch: NumberedBatch;
    let assignment: Assignment;
    try {
      batch = await this.#numbering.number(entries);
      await this.#restore(batch.turns);
      assignment = this.#options.assigner.assign(
        batch.turns,
        batch.sources.map((source) => enrichments[source] as Enrichment),
      );
    } catch (error) {
      this.#forget();
      if (entries.length > 1) {
        const middle = Math.floor(entries.length / 2);
        const messages = messagesOf(entries.slice(0, middle)).length;
        const until = (entries[middle - 1] as Entry).sequence;
        await this.#applyEntries(delivered, entries.slice(0, middle), enrichments.slice(0, messages), until);
        await this.#applyEntries(delivered, entries.slice(middle), enrichments.slice(messages), sequence);
        return;
      }
      const entry = delivered.find((candidate) => candidate.sequence === entries[0]?.sequence);
      if (entry === undefined) throw error;
      await this.#setAside(entry, reasonOf(error));
      await this.#applyEntries(delivered, [], [], sequence);
      return;
    }
    const state = this.#options.assigner.takeState();
    try {
      await this.#options.store.commit({
        expectedSequence: this.#options.store.sequence,
        sequence,
        processedAt: this.#options.now(),
        instances: batch.instances,
        endUsers: batch.endUsers,
        requests: batch.requests,
        metadata: batch.metadata,
        counters: batch.counters,
        assignment,
        state,
      });
    } catch (error) {
      this.#forget();
      throw error;
    }
    this.#options.assigner.evictSessions(SESSIONS_IN_MEMORY);
    this.#options.logger.debug(
      {
        event: 'batch_folded',
        entries: entries.length,
        messages: batch.turns.length,
        repeatedRequests: batch.repeated,
        lastSequence: sequence,
        durationMs: Math.round(performance.now() - startedAt),
      },
      'batch folded',
    );
  }

  async #restore(turns: readonly Turn[]): Promise<void> {
    const { assigner, store } = this.#options;
    const sessions = new Map<number, Turn>();
    for (const turn of turns) {
      if (!assigner.hasInstance(turn.instance))
        assigner.restoreInstance(
          turn.instance,
          turn.instanceId,
          await store.loadInstanceState(turn.instance),
        );
      if (!assigner.hasSession(turn.instance, turn.session)) sessions.set(turn.session, turn);
    }
    const states = await store.loadSessionStates([...sessions.keys()]);
    for (const [session, turn] of sessions)
      assigner.restoreSession(turn.instance, session, states.get(session) ?? null);
  }

  #forget(): void {
    this.#options.assigner.reset();
    this.#numbering.forget();
  }

  async #setAside(entry: Delivered, reason: string): Promise<void> {
    await this.#options.setAside(entry, reason);
    this.#options.logger.error(
      { event: 'entry_set_aside', sequence: entry.sequence, reason },
      'entry set aside: it could not be processed',
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
