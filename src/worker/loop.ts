import type { Assignment, Enrichment, StateRow, Turn } from '../domain/facts.ts';
import type { RecordedRequest } from '../domain/records.ts';
import type { Logger } from '../logger.ts';
import type { Publication } from '../store/publication.ts';
import type { StateStore } from '../store/state-store.ts';
import type { Delivered, StreamConsumer } from '../stream/consumer.ts';
import { messagesOf, Numbering, type Entry, type NumberedBatch } from './batch.ts';
import { idleCounters, type MutableWorkCounters, type WorkCounters } from './counters.ts';

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
  assign(turns: readonly Turn[], enrichments: readonly Enrichment[]): Assignment | Promise<Assignment>;
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
  /** Rejects when another worker may own the shard by now; asked right before each commit. */
  readonly guard?: () => Promise<void>;
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

const NONE: ReadonlySet<number> = new Set();

/** Keeps the places of messages that are left out. */
const NOTHING_FOUND: Enrichment = { kind: 'none', request: '', vector: null, signals: [], gap: null };

interface Enriched {
  readonly entries: readonly Entry[];
  readonly enrichments: readonly Enrichment[];
  readonly failed: readonly { readonly sequence: number; readonly reason: string }[];
}

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
  readonly #counters: MutableWorkCounters;
  #stopping = false;
  #publishedAt = -Infinity;

  constructor(options: WorkerLoopOptions) {
    this.#options = options;
    this.#numbering = new Numbering(options.store);
    this.#counters = idleCounters(options.store.sequence, options.now());
  }

  /** What the work has come to; the same object always, with its numbers of the moment. */
  get counters(): WorkCounters {
    return this.#counters;
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
      // Waits for more only until the publication is due, so that nobody waits out a quiet stream.
      const dueMs = this.#publishedAt + this.#options.publishEveryMs - performance.now();
      if (!(await settlesWithin(ahead, dueMs))) await this.#publish();
    }
    await ahead.catch(() => undefined);
    await this.#publish();
  }

  async #publish(): Promise<void> {
    await this.#options.publication.publish();
    this.#publishedAt = performance.now();
    this.#progressed();
  }

  #progressed(): void {
    this.#counters.lastProgressAt = this.#options.now();
  }

  async #prepare(): Promise<Prepared> {
    const { source, maxEntries, maxBytes, waitMs } = this.#options;
    const delivered = await source.next({ maxMessages: maxEntries, maxBytes, waitMs });
    const entries: Entry[] = [];
    const broken: { entry: Delivered; reason: string }[] = [];
    for (const entry of delivered) {
      try {
        entries.push({
          sequence: entry.sequence,
          requests: this.#options.decode(entry.bytes),
          leftOut: NONE,
        });
      } catch (error) {
        broken.push({ entry, reason: reasonOf(error) });
      }
    }
    const enriched = await this.#enrich(entries);
    this.#progressed();
    for (const { sequence, reason } of enriched.failed)
      broken.push({ entry: deliveredAs(delivered, sequence), reason });
    return { delivered, entries: enriched.entries, enrichments: enriched.enrichments, broken };
  }

  /** Enriches all entries together; when that fails, request by request, leaving out the ones at fault. */
  async #enrich(entries: readonly Entry[]): Promise<Enriched> {
    try {
      return { entries, enrichments: await this.#options.enricher.enrich(messagesOf(entries)), failed: [] };
    } catch {
      const result = {
        entries: [] as Entry[],
        enrichments: [] as Enrichment[],
        failed: [] as Enriched['failed'][number][],
      };
      for (const entry of entries) {
        const leftOut = new Set<number>();
        for (const [place, request] of entry.requests.entries()) {
          const alone = messagesOf([{ ...entry, requests: [request] }]);
          try {
            result.enrichments.push(...(await this.#options.enricher.enrich(alone)));
          } catch (error) {
            leftOut.add(place);
            result.enrichments.push(...alone.map(() => NOTHING_FOUND));
            result.failed.push({
              sequence: entry.sequence,
              reason: `request ${request.requestId}: ${reasonOf(error)}`,
            });
          }
        }
        result.entries.push({ ...entry, leftOut });
      }
      return result;
    }
  }

  async #apply({ delivered, entries, enrichments, broken }: Prepared): Promise<void> {
    for (const { entry, reason } of broken) await this.#setAside(entry, reason);
    const last = delivered.at(-1) as Delivered;
    await this.#applyEntries(delivered, entries, enrichments, last.sequence);
    this.#counters.appliedEntryAt = last.timestamp;
  }

  /**
   * Applies entries and moves the position to `sequence`. When a request in them is at fault, splits the run
   * until it is found, sets its entry aside and applies the rest of it.
   */
  async #applyEntries(
    delivered: readonly Delivered[],
    entries: readonly Entry[],
    enrichments: readonly Enrichment[],
    sequence: number,
  ): Promise<void> {
    const startedAt = performance.now();
    let batch: NumberedBatch;
    try {
      const analysed = await this.#analyse(entries, enrichments);
      batch = analysed.batch;
      await this.#options.guard?.();
      await this.#options.store.commit({
        expectedSequence: this.#options.store.sequence,
        sequence,
        processedAt: this.#options.now(),
        instances: batch.instances,
        endUsers: batch.endUsers,
        requests: batch.requests,
        metadata: batch.metadata,
        counters: batch.counters,
        assignment: analysed.assignment,
        state: this.#options.assigner.takeState(),
      });
    } catch (error) {
      this.#forget();
      if (!isFaultOfData(error) || entries.length === 0) throw error;
      if (entries.length > 1) {
        const middle = Math.floor(entries.length / 2);
        const messages = messagesOf(entries.slice(0, middle)).length;
        const until = (entries[middle - 1] as Entry).sequence;
        await this.#applyEntries(delivered, entries.slice(0, middle), enrichments.slice(0, messages), until);
        await this.#applyEntries(delivered, entries.slice(middle), enrichments.slice(messages), sequence);
        return;
      }
      const entry = entries[0] as Entry;
      const reduced = await this.#withoutFaults(entry, enrichments);
      await this.#setAside(deliveredAs(delivered, entry.sequence), reduced?.reason ?? reasonOf(error));
      await this.#applyEntries(delivered, reduced === null ? [] : [reduced.entry], enrichments, sequence);
      return;
    }
    this.#counters.sequence = sequence;
    this.#counters.batches += 1;
    this.#counters.messages += batch.turns.length;
    this.#progressed();
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

  async #analyse(
    entries: readonly Entry[],
    enrichments: readonly Enrichment[],
  ): Promise<{ batch: NumberedBatch; assignment: Assignment }> {
    const batch = await this.#numbering.number(entries);
    await this.#restore(batch.turns);
    const found = batch.sources.map((source) => enrichments[source] as Enrichment);
    return { batch, assignment: await this.#options.assigner.assign(batch.turns, found) };
  }

  /** The entry without the requests that fail on their own; null when none of it, or all of it, does. */
  async #withoutFaults(
    entry: Entry,
    enrichments: readonly Enrichment[],
  ): Promise<{ entry: Entry; reason: string } | null> {
    const faults = new Map<number, string>();
    const places = [...entry.requests.keys()].filter((place) => !entry.leftOut.has(place));
    for (const place of places) {
      const others = new Set([...entry.requests.keys()].filter((other) => other !== place));
      try {
        await this.#analyse([{ ...entry, leftOut: others }], enrichments);
      } catch (error) {
        faults.set(place, `request ${entry.requests[place]?.requestId}: ${reasonOf(error)}`);
      }
      this.#forget();
    }
    if (faults.size === 0 || faults.size === places.length) return null;
    return {
      entry: { ...entry, leftOut: new Set([...entry.leftOut, ...faults.keys()]) },
      reason: [...faults.values()].join('; '),
    };
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
    this.#counters.entriesSetAside += 1;
    this.#options.logger.error(
      { event: 'entry_set_aside', sequence: entry.sequence, reason },
      'entry set aside: it could not be processed',
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function deliveredAs(delivered: readonly Delivered[], sequence: number): Delivered {
  return delivered.find((candidate) => candidate.sequence === sequence) as Delivered;
}

/**
 * Whether the messages themselves can be the reason. What the disk, the memory or another process did to the
 * views is not: that ends the process, and the next one goes on from the committed position.
 */
function isFaultOfData(error: unknown): boolean {
  return !/IO Error|FATAL|Out of Memory|Transaction|Connection Error|Internal Error|another worker/i.test(
    reasonOf(error),
  );
}

/** False when the time runs out first. */
async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  if (ms <= 0) return false;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  const first = await Promise.race([settled, timeout]);
  clearTimeout(timer);
  return first;
}
