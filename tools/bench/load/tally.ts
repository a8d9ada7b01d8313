import { latencyAt } from './ratios.ts';

/** What a tally holds, as it travels between threads. */
export interface Tallied {
  readonly latencies: number[];
  readonly statuses: Map<string, number>;
  readonly faults: string[];
  readonly faultCount: number;
}

/** What one kind of caller saw. */
export class Tally {
  readonly #latencies: number[];
  readonly #statuses: Map<string, number>;
  /** Answers that must not be: 5xx other than 503 with Retry-After, wrong counts, broken connections. */
  readonly faults: string[];
  faultCount: number;

  constructor(tallied: Tallied = { latencies: [], statuses: new Map(), faults: [], faultCount: 0 }) {
    this.#latencies = tallied.latencies;
    this.#statuses = tallied.statuses;
    this.faults = tallied.faults;
    this.faultCount = tallied.faultCount;
  }

  tallied(): Tallied {
    const { faults, faultCount } = this;
    return { latencies: this.#latencies, statuses: this.#statuses, faults, faultCount };
  }

  /** `ms` from request to answer. */
  answered(status: number, ms: number): void {
    this.#latencies.push(ms);
    this.#statuses.set(String(status), (this.#statuses.get(String(status)) ?? 0) + 1);
  }

  /** Keeps the first few in words. */
  fault(what: string): void {
    this.faultCount += 1;
    if (this.faults.length < 20) this.faults.push(what);
  }

  get count(): number {
    return this.#latencies.length;
  }

  countOf(status: number): number {
    return this.#statuses.get(String(status)) ?? 0;
  }

  /** The latency in milliseconds that `share` (0 to 1) of the answers did not exceed; 0 without any. */
  quantile(share: number): number {
    return latencyAt(this.#latencies, share);
  }

  /** `12 × 200, 3 × 429`. */
  describeStatuses(): string {
    return [...this.#statuses].map(([status, count]) => `${count} × ${status}`).join(', ') || 'no answers';
  }

  describe(): string {
    const times = [0.5, 0.95, 0.99, 1].map((share) => this.quantile(share).toFixed(0)).join(' / ');
    return `${this.describeStatuses()}; p50 / p95 / p99 / max ${times} ms; faults: ${this.faultCount}`;
  }
}
