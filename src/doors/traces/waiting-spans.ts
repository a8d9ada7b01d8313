/**
 * How much of each project waits to be assembled. Keeps the invariant that what waits is counted at least once: as
 * stored here, or as told by who assembles. Test: test/doors/traces/waiting-spans.test.ts.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.ts';
import type { LeftOut } from './assembly/assembly.ts';

/** What the process that assembles says of what waits, to all that take exports. */
export interface WaitingNotice {
  /** Entries of the stream up to this one are counted in. */
  readonly read: number;
  /** Spans and log records, by project; of those that have many. */
  readonly spans: Readonly<Record<string, number>>;
  /** Traces that were found to be full since the last notice, if any. */
  readonly full?: readonly Pick<LeftOut, 'projectId' | 'traceId'>[];
}

/** An export that this process stored, and that no notice has counted in. */
interface Stored {
  readonly spans: number;
  /** Null: it is on its way. */
  sequence: number | null;
  at: number;
}

export interface WaitingSpansOptions {
  /** So much of one project may wait; an export that comes before is taken whole. */
  readonly most: number;
  /** Milliseconds, never going back. */
  readonly now: () => number;
}

/** In this time what is stored is read, or the stream was replaced: nothing would ever count it in. */
const FORGOTTEN_MS = 60_000;
/** Seconds. */
const RETRY_AFTER = 5;
/** Full traces that are remembered: of so many projects so many, as long as the assembler knows them. */
const [FULL_PROJECTS, FULL_TRACES, FULL_MS] = [1000, 1000, 24 * 3600 * 1000];

/** Knows, about, how much of each project waits to be assembled, and refuses more where it is too much. */
export class WaitingSpans {
  readonly #options: WaitingSpansOptions;
  #reported: WaitingNotice['spans'] = {};
  readonly #stored = new Map<string, Set<Stored>>();
  readonly #full = new LRUCache<string, LRUCache<string, true>>({ max: FULL_PROJECTS });

  constructor(options: WaitingSpansOptions) {
    this.#options = options;
  }

  /** Spans and log records of a project that wait. */
  of(projectId: string): number {
    let waiting = this.#reported[projectId] ?? 0;
    for (const { spans } of this.#stored.get(projectId) ?? []) waiting += spans;
    return waiting;
  }

  /** Throws AppError RATE_LIMIT_EXCEEDED when too much of a project waits. */
  check(projectId: string): void {
    const { most } = this.#options;
    if (this.of(projectId) < most) return;
    throw new AppError(
      'RATE_LIMIT_EXCEEDED',
      `${most} spans of the project (TRACE_WAITING_SPANS) wait for the rest of their traces, or to become messages. ` +
        `Send the same again in ${RETRY_AFTER} s.`,
      { retryAfter: RETRY_AFTER },
    );
  }

  /** Traces of a project that take no more messages. */
  fullOf(projectId: string): ReadonlySet<string> {
    return new Set(this.#full.get(projectId)?.keys());
  }

  /** Spans are about to be stored. Call what it returns with the sequence of the newest entry that holds one. */
  begin(projectId: string, spans: number): (sequence: number | null) => void {
    const { now } = this.#options;
    const stored: Stored = { spans, sequence: null, at: now() };
    const ofProject = this.#stored.get(projectId) ?? new Set();
    this.#stored.set(projectId, ofProject.add(stored));
    return (sequence) => {
      stored.sequence = sequence;
      stored.at = now();
      if (sequence === null) this.#forget(projectId, stored);
    };
  }

  /** Hears what the process that assembles says. */
  hear({ read, spans, full = [] }: WaitingNotice): void {
    this.#reported = spans;
    for (const { projectId, traceId } of full) {
      const ofProject = this.#full.get(projectId) ?? new LRUCache({ max: FULL_TRACES, ttl: FULL_MS });
      this.#full.set(projectId, ofProject.set(traceId, true));
    }
    const before = this.#options.now() - FORGOTTEN_MS;
    for (const [projectId, ofProject] of this.#stored) {
      for (const stored of ofProject) {
        const { sequence, at } = stored;
        if (sequence !== null && (sequence <= read || at < before)) this.#forget(projectId, stored);
      }
    }
  }

  #forget(projectId: string, stored: Stored): void {
    const ofProject = this.#stored.get(projectId);
    ofProject?.delete(stored);
    if (ofProject?.size === 0) this.#stored.delete(projectId);
  }
}

/** Of a notice as it came; null: it is none. */
export function noticeOf(value: unknown): WaitingNotice | null {
  const { read, spans, full = [] } = (value ?? {}) as Partial<WaitingNotice>;
  if (typeof read !== 'number' || typeof spans !== 'object' || spans === null) return null;
  return { read, spans, full };
}
