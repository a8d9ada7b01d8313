/** Covered by test/doors/traces/assembly/trace-buffer.test.ts. */
import type { SeenSpan } from './spoken-spans.ts';

/** A span, and what is above it. */
type LinkedSpan = Pick<SeenSpan, 'spanId'> & Partial<SeenSpan>;

const NONE: ReadonlyMap<string, SeenSpan> = new Map();

/** Remembers spans of traces that were let go: who comes late need not wait for them. Only the newest are known. */
export class SpanLinks {
  readonly #most: number;
  readonly #byTrace = new Map<string, Map<string, SeenSpan>>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  of(trace: string): ReadonlyMap<string, SeenSpan> {
    return this.#byTrace.get(trace) ?? NONE;
  }

  add(trace: string, spans: readonly LinkedSpan[]): void {
    const links = this.#byTrace.get(trace) ?? new Map<string, SeenSpan>();
    const before = links.size;
    for (const { spanId, parentSpanId } of spans) links.set(spanId, { spanId, parentSpanId, counted: false });
    this.#size += links.size - before;
    this.#byTrace.delete(trace);
    this.#byTrace.set(trace, links);
    for (const [oldest, { size }] of this.#byTrace) {
      if (this.#size <= this.#most) break;
      this.#byTrace.delete(oldest);
      this.#size -= size;
    }
  }
}
