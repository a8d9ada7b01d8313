/**
 * The Prometheus metrics of the process.
 *
 * Test: test/web/health.test.ts.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DropReason } from './connections.ts';
import type { ServiceHealth } from '../domain/service-health.ts';
import { registerTraceMetrics, type AssemblyFigures, type TraceMetrics } from './trace-metrics.ts';
import { registerServiceMetrics } from './service-metrics.ts';

/** Counts events of the process. */
export interface HttpMetrics extends TraceMetrics {
  /** Counts an answered request. `route`: the route's pattern, which bounds the number of labels. */
  answered(labels: { method: string; route: string; status: number }, seconds: number): void;
  requestStarted(): void;
  requestEnded(): void;
  /** Counts unknown members and roles in accepted messages. */
  warned(kind: 'unknown-member' | 'unknown-role', count: number): void;
  /** Counts a connection that the server ended. */
  dropped(reason: DropReason): void;
  /** Returns the exposition text and its content type, at most a second old. */
  read(): Promise<{ text: string; contentType: string }>;
}

export interface MetricsOptions {
  /** Milliseconds. */
  readonly now: () => number;
  readonly health?: ServiceHealth | undefined;
  /** Number of open connections. */
  readonly connections?: () => Promise<number>;
  readonly assembly?: (() => AssemblyFigures | null) | undefined;
}

/** Minimum interval of gathering, milliseconds. */
const GATHER_EVERY_MS = 1000;

/**
 * Each call has a registry of its own, with the default metrics of the process, and those of the service if `health` is
 * given.
 */
export function createMetrics({ now, health, connections, assembly }: MetricsOptions): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'undertone_http_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'undertone_http_request_duration_seconds',
    help: 'From the arrival of the headers to the end of the answer.',
    labelNames: ['method', 'route'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: 'undertone_http_requests_in_flight',
    help: 'Requests being answered.',
    registers: [registry],
  });
  const warnings = new Counter({
    name: 'undertone_ingest_warnings_total',
    help: 'Members that were ignored and roles that are counted, not analysed, in accepted messages.',
    labelNames: ['kind'] as const,
    registers: [registry],
  });
  const drops = new Counter({
    name: 'undertone_http_connections_dropped_total',
    help:
      'Connections that web ended: beyond MAX_CONNECTIONS (limit), requests (timeout) or bodies (slow-body) that did ' +
      'not arrive in time, answers that were not read (slow-reader), too many requests at once (pipelining).',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  const open = new Gauge({
    name: 'undertone_http_connections',
    help: 'Open connections.',
    registers: [registry],
  });
  const updateService = health === undefined ? undefined : registerServiceMetrics(registry, health);
  const traces = registerTraceMetrics(registry, assembly ?? (() => null));
  return {
    received: traces.received,
    answered({ method, route, status }, seconds) {
      requests.inc({ method, route, status: String(status) });
      durations.observe({ method, route }, seconds);
    },
    requestStarted: () => inFlight.inc(),
    requestEnded: () => inFlight.dec(),
    warned: (kind, count) => warnings.inc({ kind }, count),
    dropped: (reason) => drops.inc({ reason }),
    read: atMostEvery(GATHER_EVERY_MS, now, async () => {
      if (connections !== undefined) open.set(await connections());
      updateService?.();
      traces.update();
      return { text: await registry.metrics(), contentType: registry.contentType };
    }),
  };
}

/** Runs the work at most once in `ms`; calls in between get the last result. */
function atMostEvery<T>(ms: number, now: () => number, work: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | null = null;
  return () => {
    const at = now();
    // After a clock was set back, the age of the result is unknown.
    if (last === null || at < last.at || at - last.at >= ms) last = { at, result: work() };
    return last.result;
  };
}
