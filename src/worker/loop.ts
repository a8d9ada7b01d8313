import type { Enrichment } from '../domain/facts.ts';
import type { RecordedRequest } from '../domain/records.ts';
import type { Publication } from '../store/published/publication.ts';
import { inflatedSizeOf } from '../stream/log/codec.ts';
import type { Delivered, StreamConsumer } from '../stream/log/consumer.ts';
import type { MessageNotes } from '../stream/dead-letters/message-notes.ts';
import type { IdleCollection } from './analysis/idle-collection.ts';
import { isUnanalysed } from './analysis/protocol.ts';
import { Applier, deliveredAs, type ApplierOptions } from './applier.ts';
import { EntriesInDoubt, reasonOf, SurroundingsError } from './dead-letter-decision.ts';
import { messagesOf, withoutTexts, type Entry } from './batch.ts';
import { idleCounters, type MutableWorkCounters, type WorkCounters } from './counters.ts';
import { InWork, type WorkMarks } from './in-work.ts';
import { AnalysisStopped, NOTHING_FOUND, type EnrichStage } from './analysis/stages.ts';

/** The ordered source of a shard's entries, from the position that the views are at. */
export interface EntrySource extends Pick<StreamConsumer, 'next'> {
  /** Nothing more will come: the loop ends when all that came is applied. Left out: never. */
  readonly ended?: boolean;
}

export interface WorkerLoopOptions extends ApplierOptions {
  readonly source: EntrySource;
  readonly decode: (bytes: Uint8Array) => readonly RecordedRequest[];
  readonly enricher: EnrichStage;
  /** Hears whether anything is in work. */
  readonly idleCollection?: Pick<IdleCollection, 'busy' | 'idle'>;
  /** The messages that count without findings. */
  readonly notes: Pick<MessageNotes, 'has' | 'add'>;
  readonly publication: Publication;
  /** Where the entries in work are marked, for the process that comes after a death of this one. */
  readonly marks: WorkMarks;
  /** Most stream entries in a batch, and their most bytes, inflated; one entry may have more. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** A batch takes no further entry once it has so many messages. Default 20,000: larger batches are no faster. */
  readonly enoughMessages?: number;
  readonly waitMs: number;
  /** Under backlog, at most one publication in this time (milliseconds). */
  readonly publishEveryMs: number;
}

const NONE: ReadonlySet<number> = new Set();
/** A message takes about 3 KB while it is in work, with its vector, however short its text is. */
const ENOUGH_MESSAGES = 20_000;

interface Prepared {
  readonly delivered: readonly Delivered[];
  readonly entries: readonly Entry[];
  readonly enrichments: readonly Enrichment[];
  /** Entries that could not be decoded, with the reason. */
  readonly broken: readonly { entry: Delivered; reason: string }[];
}

/**
 * Pull → enrich → assign → fold → commit → publish, until stopped. While one batch is folded the next is
 * pulled and enriched. A failure of the store ends `run` with the error (the process restarts from the
 * committed position); an entry that cannot be processed becomes a dead letter, and the shard goes on.
 */
export class WorkerLoop {
  readonly #options: WorkerLoopOptions;
  readonly #counters: MutableWorkCounters;
  readonly #applier: Applier;
  readonly #inWork: InWork;
  /** Read, and left for the next batches. */
  #waiting: readonly Delivered[] = [];
  #stopping = false;
  #publishedAt = -Infinity;

  constructor(options: WorkerLoopOptions) {
    this.#options = options;
    this.#counters = idleCounters(options.store.sequence, options.now());
    this.#inWork = new InWork(options.marks, options.store.sequence, options.logger);
    this.#applier = new Applier(options, this.#counters, (sequence) => this.#inWork.moved(sequence));
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
      const prepared: Prepared = await (ahead ?? this.#prepare());
      ahead = null;
      if (prepared.delivered.length === 0) {
        await this.#publish();
        this.#options.alerts?.idle();
        this.#options.idleCollection?.idle();
        continue;
      }
      this.#options.idleCollection?.busy();
      // What a process has died of is taken up alone.
      if (this.#inWork.limit === Infinity) {
        ahead = this.#prepare();
        ahead.catch(() => undefined);
      }
      await this.#apply(prepared);
      // Waits for more only until the publication is due, so that nobody waits out a quiet stream.
      const dueMs = this.#publishedAt + this.#options.publishEveryMs - performance.now();
      if (ahead === null ? dueMs <= 0 : !(await settlesWithin(ahead, dueMs))) await this.#publish();
    }
    await ahead?.catch(() => undefined);
  }

  async #publish(): Promise<void> {
    const { publication, alerts } = this.#options;
    await publication.publish();
    alerts?.published(publication.sequence);
    this.#publishedAt = performance.now();
    this.#progressed();
  }

  #progressed(): void {
    this.#counters.lastProgressAt = this.#options.now();
  }

  async #prepare(): Promise<Prepared> {
    const { notes, enoughMessages = ENOUGH_MESSAGES } = this.#options;
    let delivered = await this.#take();
    this.#inWork.begin(delivered.map(({ sequence }) => sequence));
    const entries: Entry[] = [];
    const broken: { entry: Delivered; reason: string }[] = [];
    let messages = 0;
    for (const [place, entry] of delivered.entries()) {
      if (messages >= enoughMessages) {
        const rest = delivered.slice(place);
        this.#inWork.leave(rest.map(({ sequence }) => sequence));
        this.#waiting = [...rest, ...this.#waiting];
        delivered = delivered.slice(0, place);
        break;
      }
      const verdict = this.#inWork.verdict(entry.sequence);
      if (verdict !== null) {
        broken.push({ entry, reason: verdict });
        continue;
      }
      try {
        const requests = this.#options.decode(entry.bytes);
        for (const request of requests) messages += request.messages.length;
        const decoded = { sequence: entry.sequence, requests, leftOut: NONE };
        entries.push(withoutTexts(decoded, (message) => notes.has(message)));
      } catch (error) {
        broken.push({ entry, reason: reasonOf(error) });
      }
    }
    const enriched = await this.#enrich(delivered, entries);
    this.#progressed();
    return { delivered, ...enriched, broken };
  }

  /** As many entries as a batch may have: what a few megabytes inflate to is no few megabytes. */
  async #take(): Promise<readonly Delivered[]> {
    const { source, maxEntries, maxBytes, waitMs } = this.#options;
    const maxMessages = Math.min(maxEntries, this.#inWork.limit);
    if (this.#waiting.length === 0) this.#waiting = await source.next({ maxMessages, maxBytes, waitMs });
    let taken = 0;
    let bytes = 0;
    for (const entry of this.#waiting.slice(0, maxMessages)) {
      bytes += inflatedSizeOf(entry.bytes);
      if (taken > 0 && bytes > maxBytes) break;
      taken += 1;
    }
    const entries = this.#waiting.slice(0, taken);
    this.#waiting = this.#waiting.slice(taken);
    return entries;
  }

  /** Enriches what is not noted. What cannot be analysed is noted, and goes on without its text. */
  async #enrich(
    delivered: readonly Delivered[],
    entries: readonly Entry[],
  ): Promise<{ entries: readonly Entry[]; enrichments: readonly Enrichment[] }> {
    const { enricher, notes } = this.#options;
    const messages = messagesOf(entries);
    const isNoted = ({ request: { requestId }, index }: (typeof messages)[number]): boolean =>
      notes.has({ requestId, index });
    const wanted = messages.flatMap((message, place) => (isNoted(message) ? [] : [place]));
    const asked = wanted.map((place) => messages[place] as (typeof messages)[number]);
    const found = await enricher.enrich(asked.map(({ role, content }) => ({ role, content })));
    const enrichments = messages.map(() => NOTHING_FOUND);
    let noted = false;
    for (const [number, finding] of found.entries()) {
      const { entry, request, index } = asked[number] as (typeof messages)[number];
      if (isUnanalysed(finding)) {
        const { sequence } = entry;
        const { subject } = deliveredAs(delivered, sequence);
        await this.#applier.note(subject, { sequence, request, index, reason: finding.unanalysed });
        noted = true;
      } else enrichments[wanted[number] as number] = finding;
    }
    if (!noted) return { entries, enrichments };
    return {
      entries: entries.map((entry) => withoutTexts(entry, (message) => notes.has(message))),
      enrichments,
    };
  }

  async #apply({ delivered, entries, enrichments, broken }: Prepared): Promise<void> {
    for (const { entry, reason } of broken) await this.#applier.setAside(entry, reason);
    const last = delivered.at(-1) as Delivered;
    await this.#applier.apply({ delivered, entries, enrichments, sequence: last.sequence });
    this.#counters.appliedEntryAt = last.timestamp;
  }
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
