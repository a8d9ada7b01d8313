/**
 * Applies a stretch of entries: assign, fold, commit. One entry that fails for its own sake never holds up the rest:
 * splitting finds it, and it becomes a dead letter.
 *
 * Test: test/worker/loop.test.ts, test/worker/unanalysed.test.ts.
 */
import type { Interlude } from '../domain/curations.ts';
import type { Assignment, Enrichment } from '../domain/facts.ts';
import type { ShardAlerts } from '../domain/alerting.ts';
import type { ShardWriter } from '../domain/writings.ts';
import type { Logger } from '../logger.ts';
import type { Batch } from '../store/live/batch.ts';
import type { StateStore } from '../store/live/state-store.ts';
import type { Delivered } from '../stream/log/consumer.ts';
import { digestOfEntry } from '../stream/log/log-reader.ts';
import type { MessageNotes } from '../stream/dead-letters/message-notes.ts';
import {
  messagesOf,
  Numbering,
  withoutTexts,
  type Entry,
  type NumberedBatch,
  type SourceMessage,
} from './batch.ts';
import type { MutableWorkCounters } from './counters.ts';
import {
  causeOf,
  EntriesInDoubt,
  isTooMuch,
  reasonOf,
  SurroundingsError,
  TooMuchState,
} from './dead-letter-decision.ts';
import type { Turn } from './fair-share.ts';
import type { InWork } from './in-work.ts';
import {
  AnalysisFailure,
  AnalysisInterrupted,
  AnalysisStopped,
  NOTHING_FOUND,
  type AssignStage,
} from '../reader/threads/stages.ts';

export interface ApplierOptions {
  readonly assigner: AssignStage;
  readonly store: StateStore;
  /** Rejects when another worker may own the shard by now. Called right before each commit and each note. */
  readonly guard?: () => Promise<void>;
  /** Stores an entry that cannot be processed, durably, with the reason. */
  readonly setAside: (entry: Delivered, reason: string) => Promise<void>;
  readonly notes: Pick<MessageNotes, 'add'>;
  /** Receives what was committed. */
  readonly writer?: Pick<ShardWriter, 'committed'>;
  readonly alerts?: Pick<ShardAlerts, 'committed' | 'published' | 'idle'>;
  readonly logger: Logger;
  /** Microseconds since 1970-01-01 UTC. */
  readonly now: () => number;
}

/**
 * Most state rows that a batch of several entries may restore; a batch drops none before it ends. The largest instance
 * has a thousand micro-clusters and 5 MB, so this many rows take a tenth of a gigabyte.
 */
const MOST_STATE_ROWS = 20_000;
/** Up to this many instances, the rows are not counted. */
const FEW_INSTANCES = 8;

async function outside(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new SurroundingsError(cause);
  }
}

/** Consecutive entries with what enrich found. `delivered` may hold others, too. */
export interface Stretch extends Turn {
  /** One for each message of the entries. */
  readonly enrichments: readonly Enrichment[];
  /** The position behind the entries. */
  readonly sequence: number;
  /** Messages that assign failed on. Their texts are removed, and each is noted before the stretch is committed. */
  readonly unanalysed?: readonly UnanalysedMessage[];
}

/** A message that counts without findings. */
export interface UnanalysedMessage extends Pick<SourceMessage, 'request' | 'message' | 'index'> {
  readonly sequence: number;
  readonly reason: string;
}

/** Runs assign, fold and commit, and splits a stretch that fails until it finds the entry at fault. */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #numbering: Numbering;
  readonly #counters: MutableWorkCounters;
  readonly #inWork: InWork;

  constructor(options: ApplierOptions, counters: MutableWorkCounters, inWork: InWork) {
    this.#options = options;
    this.#counters = counters;
    this.#inWork = inWork;
    this.#numbering = new Numbering(options.store);
  }

  /**
   * Applies entries and moves the position. When memory does not suffice for all, it applies them in smaller parts.
   * When a request is at fault, it splits the stretch until it finds the request, sets its entry aside and applies the
   * rest. `onAssigning` is called once assign was requested: a later request to the threads queues behind it.
   *
   * @throws EntriesInDoubt when the kind of error is unknown; other errors as they are when the entries are not at
   * fault
   */
  async apply(stretch: Stretch, onAssigning: () => void = () => undefined): Promise<void> {
    try {
      await this.#withMemory(stretch.entries, () => this.#commit(stretch, onAssigning));
    } catch (error) {
      await this.#recover(stretch, error);
    }
  }

  /** Stores an entry as a dead letter. */
  async setAside(entry: Delivered, reason: string): Promise<void> {
    await outside(() => this.#options.setAside(entry, reason));
    this.#counters.entriesSetAside += 1;
    this.#options.logger.error(
      { event: 'entry_set_aside', sequence: entry.sequence, reason },
      'an entry could not be processed: kept as a dead letter',
    );
  }

  /** Notes, durably, that a message counts without findings. */
  async note(subject: string, unanalysed: UnanalysedMessage): Promise<void> {
    const { guard, notes } = this.#options;
    const { sequence, request, index, reason } = unanalysed;
    await outside(async () => {
      await guard?.();
      await notes.add({ sequence, subject }, unanalysed, reason);
    });
    this.#counters.analysisTimeouts += 1;
    this.#options.logger.error(
      { event: 'message_not_analysed', sequence, requestId: request.requestId, index, reason },
      'analysis of a message ran out of time or memory: it counts without findings',
    );
  }

  /**
   * Runs the work with the memory rules of the store. A single entry may raise the limit, as it cannot be divided. A
   * failed try is forgotten.
   */
  #withMemory<T>(entries: readonly Entry[], work: () => Promise<T>): Promise<T> {
    const orForget = async (): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        this.#forget();
        throw error;
      }
    };
    return this.#options.store.withMemory(orForget, { raise: entries.length < 2 });
  }

  async #commit(stretch: Stretch, onAssigning: () => void): Promise<void> {
    const { entries, sequence } = stretch;
    const { assigner, store, writer, alerts, logger, now } = this.#options;
    const startedAt = performance.now();
    const { batch, assignment } = await this.#analyse(entries, stretch.enrichments, onAssigning);
    for (const message of stretch.unanalysed ?? [])
      await this.note(deliveredAs(stretch.delivered, message.sequence).subject, message);
    await outside(async () => this.#options.guard?.());
    const taken = entries.flatMap(({ deferral }) => deferral?.taken ?? []);
    const left = entries.flatMap(({ deferral }) => deferral?.left ?? []);
    const isDeferring = taken.length + left.length > 0;
    await store.commit({
      ...this.#batchOf(batch, assignment, { sequence, lastEntry: this.#lastEntryOf(stretch) }),
      ...(isDeferring && { deferral: { taken, left: this.#numbering.withoutDropped(left) } }),
    });
    this.#inWork.moved(store, taken);
    this.#counters.sequence = sequence;
    this.#counters.batches += 1;
    this.#counters.messages += batch.turns.length;
    this.#counters.lastProgressAt = now();
    const projects = new Map(batch.instances.map(({ instance, projectId }) => [instance, projectId]));
    writer?.committed(assigner.takeReports(), projects);
    if (alerts !== undefined) this.#tellAlerts(alerts, stretch, batch);
    logger.debug(
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

  /** Deferred instances are reported with the time since which they waited. */
  #tellAlerts(
    alerts: Pick<ShardAlerts, 'committed'>,
    { delivered, entries, sequence }: Stretch,
    { instances }: NumberedBatch,
  ): void {
    const waited = new Map<string, number>();
    for (const { sequence: of, deferral } of entries) {
      const storedAt = delivered.find((candidate) => candidate.sequence === of)?.timestamp;
      if (storedAt === undefined) continue;
      for (const { instanceId } of deferral?.taken ?? [])
        waited.set(instanceId, Math.min(waited.get(instanceId) ?? Infinity, storedAt));
    }
    for (const [instanceId, since] of waited) alerts.committed([instanceId], 0, since - 1);
    const newest = delivered.find((candidate) => candidate.sequence === sequence);
    const others = instances.map(({ id }) => id).filter((id) => !waited.has(id));
    if (newest !== undefined) alerts.committed(others, newest.timestamp);
  }

  /** When only deferred parts are applied, the position does not move, and neither does its digest. */
  #lastEntryOf({ delivered, sequence }: Stretch): string | null {
    const there = delivered.find((candidate) => candidate.sequence === sequence);
    return there === undefined ? this.#options.store.lastEntry : digestOfEntry(there.bytes);
  }

  #batchOf(batch: NumberedBatch, assignment: Assignment, at: Pick<Batch, 'sequence' | 'lastEntry'>): Batch {
    const { assigner, store, now } = this.#options;
    const { turns: _, interludes: __, sources: ___, repeated: ____, ...rows } = batch;
    return {
      ...rows,
      ...at,
      expectedSequence: store.sequence,
      processedAt: now(),
      assignment,
      state: assigner.takeState(),
    };
  }

  async #recover(stretch: Stretch, error: unknown): Promise<void> {
    if (error instanceof AnalysisInterrupted) return this.apply(stretch);
    if (error instanceof AnalysisStopped) throw error;
    const { delivered, entries, enrichments, sequence } = stretch;
    if (isTooMuch(error) && entries.length > 1) return this.#applyHalves(stretch);
    const reduced = withoutSuspect(stretch, error);
    if (reduced !== null) return this.apply(reduced);
    if (entries.every(({ requests, leftOut }) => leftOut.size === requests.length)) throw error;
    const cause = causeOf(error);
    if (cause !== 'entries') throw cause === 'unknown' ? new EntriesInDoubt(error) : error;
    if (entries.length > 1) return this.#applyHalves(stretch);
    const entry = entries[0] as Entry;
    const good = await this.#withoutFaults(entry, enrichments);
    await this.setAside(deliveredAs(delivered, entry.sequence), good?.reason ?? reasonOf(error));
    // The parts that the entry defers stay deferred.
    const without = good?.entry ?? { ...entry, leftOut: new Set(entry.requests.keys()) };
    await this.apply({ delivered, entries: [without], enrichments, sequence });
  }

  async #applyHalves({ delivered, entries, enrichments, sequence, unanalysed = [] }: Stretch): Promise<void> {
    const middle = Math.floor(entries.length / 2);
    const messages = messagesOf(entries.slice(0, middle)).length;
    // Deferred entries come first; their sequences are below the position.
    const until = Math.max(this.#options.store.sequence, (entries[middle - 1] as Entry).sequence);
    const first = new Set(entries.slice(0, middle).map((entry) => entry.sequence));
    const halves = [
      { entries: entries.slice(0, middle), enrichments: enrichments.slice(0, messages), sequence: until },
      { entries: entries.slice(middle), enrichments: enrichments.slice(messages), sequence },
    ];
    for (const [place, half] of halves.entries()) {
      const noted = unanalysed.filter((message) => first.has(message.sequence) === (place === 0));
      await this.apply({ ...half, delivered, unanalysed: noted });
    }
  }

  /** Assigns the entries. Counts `place` of an AnalysisFailure among the messages of the entries. */
  async #analyse(
    entries: readonly Entry[],
    enrichments: readonly Enrichment[],
    onAssigning: () => void = () => undefined,
  ): Promise<{ batch: NumberedBatch; assignment: Assignment }> {
    const batch = await this.#numbering.number(entries);
    await this.#restore(batch, entries.length > 1);
    const found = batch.sources.map((source) => enrichments[source] as Enrichment);
    try {
      const interludes = await this.#withShown(batch.interludes);
      const assigning = this.#options.assigner.assign(batch.turns, found, interludes);
      onAssigning();
      return { batch, assignment: await assigning };
    } catch (error) {
      if (!(error instanceof AnalysisFailure) || error.place === null) throw error;
      const place = batch.sources[error.place] ?? null;
      throw new AnalysisFailure(error.fault, place, error.message, { cause: error });
    }
  }

  /** Returns the entry without the requests that fail on their own, or null when none or all of them do. */
  async #withoutFaults(
    entry: Entry,
    enrichments: readonly Enrichment[],
  ): Promise<{ entry: Entry; reason: string } | null> {
    const faults = new Map<number, string>();
    const places = [...entry.requests.keys()].filter((place) => !entry.leftOut.has(place));
    if (places.length < 2) return null;
    for (const place of places) {
      const others = new Set([...entry.requests.keys()].filter((other) => other !== place));
      try {
        await this.#withMemory([entry], () => this.#rehearse({ ...entry, leftOut: others }, enrichments));
      } catch (error) {
        const cause = causeOf(error);
        if (cause !== 'entries') throw cause === 'unknown' ? new EntriesInDoubt(error) : error;
        faults.set(place, `request ${entry.requests[place]?.requestId}: ${reasonOf(error)}`);
      } finally {
        this.#forget();
      }
    }
    if (faults.size === 0 || faults.size === places.length) return null;
    return {
      entry: { ...entry, leftOut: new Set([...entry.leftOut, ...faults.keys()]) },
      reason: [...faults.values()].join('; '),
    };
  }

  async #rehearse(entry: Entry, enrichments: readonly Enrichment[]): Promise<void> {
    const { batch, assignment } = await this.#analyse([entry], enrichments);
    const alone = this.#batchOf(batch, assignment, { sequence: entry.sequence, lastEntry: null });
    await this.#options.store.commit(alone, { rehearsal: true });
  }

  /** Gives corrections of messages and sessions what those of earlier batches show. */
  async #withShown(interludes: readonly Interlude[]): Promise<readonly Interlude[]> {
    const { store } = this.#options;
    const positions = new Set(interludes.flatMap((one) => correctedPosition(one) ?? []));
    const ids = new Set(interludes.flatMap((one) => correctedSession(one) ?? []));
    if (positions.size === 0 && ids.size === 0) return interludes;
    const shown = await store.findShown([...positions]);
    const ended = await store.findEnded([...ids]);
    return interludes.map((one) => {
      const [position, id] = [correctedPosition(one), correctedSession(one)];
      if (position !== null) return { ...one, shown: shown.get(position) ?? null };
      if (id === null) return one;
      const ofInstance = ended.get(id)?.find(({ instance }) => instance === one.instance);
      return { ...one, ended: ofInstance ?? null };
    });
  }

  /**
   * Restores the states that the batch needs.
   *
   * @throws TooMuchState when the batch can be divided and its instances have too many state rows
   */
  async #restore(
    { turns, interludes }: Pick<NumberedBatch, 'turns' | 'interludes'>,
    isDivisible: boolean,
  ): Promise<void> {
    const { assigner, store } = this.#options;
    const instances = new Map<number, string>();
    const sessions = new Map<number, number>();
    for (const { instance, instanceId, session } of [...turns, ...interludes]) {
      if (!assigner.hasInstance(instance)) instances.set(instance, instanceId);
      if (session !== null && !assigner.hasSession(instance, session)) sessions.set(session, instance);
    }
    if (isDivisible && instances.size > FEW_INSTANCES) {
      const rows = await store.countInstanceStates([...instances.keys()]);
      if (rows > MOST_STATE_ROWS) throw new TooMuchState(rows);
    }
    for (const [instance, rows] of await store.loadInstanceStates([...instances.keys()]))
      assigner.restoreInstance(instance, instances.get(instance) as string, rows);
    const states = await store.loadSessionStates([...sessions.keys()]);
    for (const [session, instance] of sessions)
      assigner.restoreSession(instance, session, states.get(session) ?? null);
  }

  #forget(): void {
    this.#options.assigner.reset();
    this.#numbering.forget();
  }
}

/**
 * Returns the stretch without the text at which assign hung or ran out of memory. Null when the error names none, or
 * the text was removed before: then the text is not the cause.
 */
function withoutSuspect(stretch: Stretch, error: unknown): Stretch | null {
  if (!(error instanceof AnalysisFailure) || error.fault === 'error' || error.place === null) return null;
  const { entries, enrichments, unanalysed = [] } = stretch;
  const { place, message: reason } = error;
  const suspect = messagesOf(entries)[place];
  if (suspect === undefined) return null;
  const { entry, request, message, index } = suspect;
  const { sequence } = entry;
  const { requestId } = request;
  const known = unanalysed.some((one) => one.request.requestId === requestId && one.index === index);
  if (known) return null;
  return {
    ...stretch,
    entries: entries.map((one) =>
      one === entry
        ? withoutTexts(one, (message) => message.requestId === requestId && message.index === index)
        : one,
    ),
    enrichments: enrichments.with(place, NOTHING_FOUND),
    unanalysed: [...unanalysed, { sequence, request, message, index, reason }],
  };
}

/** Returns the delivered entry with this sequence, which must be there. */
export function deliveredAs(delivered: readonly Delivered[], sequence: number): Delivered {
  return delivered.find((candidate) => candidate.sequence === sequence) as Delivered;
}

/** Position of the message that an interlude corrects, or null. */
function correctedPosition(interlude: Interlude): number | null {
  if (!('curation' in interlude)) return null;
  const { action } = interlude.curation;
  return 'position' in action ? action.position : null;
}

/** Id of the session whose outcome an interlude corrects, or null. */
function correctedSession(interlude: Interlude): string | null {
  if (!('curation' in interlude)) return null;
  const { action } = interlude.curation;
  return 'outcome' in action ? action.id : null;
}
