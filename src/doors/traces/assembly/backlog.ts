/**
 * What is on the stream, and not in memory. Keeps the invariant that requests of a project keep their order. Test:
 * test/doors/traces/assembly/backlog.test.ts.
 */
import { FairQueue } from '../../../domain/turns.ts';
import type { TraceEntry } from '../trace-entry.ts';
import { bytesOf, type TraceBuffer } from './trace-buffer.ts';

/** Requests of a project in an entry of the stream that there was no room for. */
interface Deferred {
  readonly projectId: string;
  readonly sequence: number;
  /** Their places in the entry. */
  readonly indexes: number[];
  /** Of memory, about. */
  bytes: number;
  spans: number;
}

/** Reads the requests of an entry of the stream; null when the stream no longer holds it. */
export type ReadEntry = (sequence: number) => Promise<readonly TraceEntry[] | null>;

/** How much is read again before others have their turn, bytes of memory. */
const REFILL_BYTES = 4 * 1024 * 1024;

/**
 * What is on the stream, and not in memory. The stream is read to its end, whoever its entries are of. Of a project
 * that has more waiting than its share of the room, the rest is noted, and read again when there is room: so what waits
 * of one project holds up no other. As long as something of a project is noted, all that comes of it is, so that its
 * requests keep their order.
 */
export class Backlog {
  readonly #buffer: TraceBuffer;
  readonly #deferred = new FairQueue<Deferred>();
  /** The last that was noted of each project that has something on the stream. */
  readonly #last = new Map<string, Deferred>();
  readonly #spans = new Map<string, number>();

  constructor(buffer: TraceBuffer) {
    this.#buffer = buffer;
  }

  /** How many portions wait on the stream. */
  get size(): number {
    return this.#deferred.size;
  }

  /** The oldest entry of which something waits; Infinity when nothing does. */
  get oldestSequence(): number {
    let oldest = Infinity;
    for (const { sequence } of this.#deferred.firsts()) oldest = Math.min(oldest, sequence);
    return oldest;
  }

  /** Projects of which something waits on the stream. */
  get projects(): Iterable<string> {
    return this.#spans.keys();
  }

  /** Spans and log records of a project that wait on the stream. */
  spansOf(projectId: string): number {
    return this.#spans.get(projectId) ?? 0;
  }

  /** Takes up an entry of the stream. */
  take(sequence: number, requests: readonly TraceEntry[]): void {
    for (const [index, request] of requests.entries()) {
      const { projectId, observations } = request;
      const bytes = observations.reduce((sum, observation) => sum + bytesOf(observation), 0);
      const isBehind = this.#last.has(projectId);
      if (!isBehind && this.#buffer.fits(projectId, bytes)) this.#buffer.add(request, sequence);
      else this.#defer({ projectId, sequence, indexes: [index], bytes, spans: observations.length });
    }
  }

  /** Reads again what there is room for now, projects by turns. Returns whether it found anything to do. */
  async refill(read: ReadEntry): Promise<boolean> {
    let bytes = 0;
    while (bytes < REFILL_BYTES) {
      const next = this.#deferred.peek((projectId, deferred) => this.#buffer.fits(projectId, deferred.bytes));
      if (next === undefined) break;
      const requests = await read(next.sequence);
      this.#deferred.take((_, deferred) => deferred === next);
      this.#forget(next);
      for (const index of next.indexes) {
        const request = requests?.[index];
        if (request !== undefined) this.#buffer.add(request, next.sequence);
      }
      bytes += next.bytes;
    }
    const first = this.#deferred.peek();
    if (bytes === 0 && first !== undefined) this.#buffer.press(first.bytes);
    return bytes > 0;
  }

  #defer(deferred: Deferred): void {
    const { projectId, sequence, indexes, bytes, spans } = deferred;
    this.#spans.set(projectId, this.spansOf(projectId) + spans);
    const last = this.#last.get(projectId);
    if (last?.sequence === sequence) {
      last.indexes.push(...indexes);
      last.bytes += bytes;
      last.spans += spans;
      return;
    }
    this.#last.set(projectId, deferred);
    this.#deferred.push(projectId, deferred);
    this.#buffer.setBehind(projectId, true);
  }

  #forget({ projectId, spans }: Deferred): void {
    const left = this.spansOf(projectId) - spans;
    if (this.#deferred.sizeOf(projectId) > 0) {
      this.#spans.set(projectId, left);
      return;
    }
    this.#spans.delete(projectId);
    this.#last.delete(projectId);
    this.#buffer.setBehind(projectId, false);
  }
}
