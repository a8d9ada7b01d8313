/** Covered by test/web/health.test.ts. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { DropReason } from './connections.ts';
import type { ServiceHealth } from '../domain/service-health.ts';
import { registerTraceMetrics, type AssemblyFigures, type TraceMetrics } from './trace-metrics.ts';
import { registerServiceMetrics } from './service-metrics.ts';

/** What the process counts for Prometheus. */
export interface HttpMetrics extends TraceMetrics {
  /** One request was answered. `route` is the route's pattern, so that labels stay few. */
  answered(labels: { method: string; route: string; status: number }, seconds: number): void;
  requestStarted(): void;
  requestEnded(): void;
  /** Accepted messages held something that has no effect: members or roles that we do not know. */
  warned(kind: 'unknown-member' | 'unknown-role', count: number): void;
  /** A connection was ended by us. */
  dropped(reason: DropReason): void;
  /** The exposition text and its content type, at most a second old. */
  read(): Promise<{ text: string; contentType: string }>;
}

export interface MetricsOptions {
  /** Milliseconds. */
  readonly now: () => number;
  readonly health?: ServiceHealth | undefined;
  /** How many are open. */
  readonly connections?: () => Promise<number>;
  readonly assembly?: (() => AssemblyFigures | null) | undefined;
}

/** However often somebody asks, figures are gathered once in this time, milliseconds. */
const GATHER_EVERY_MS = 1000;

/**
 * Each call has its own registry, with the process's default metrics in it, and those of the service when its
 * health is known.
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

/** Does it again only after so many milliseconds; all who ask meanwhile get what came of it. */
function atMostEvery<T>(ms: number, now: () => number, work: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | null = null;
  return () => {
    const at = now();
    // A clock that was set back says nothing of how long it is ago.
    if (last === null || at < last.at || at - last.at >= ms) last = { at, result: work() };
    return last.result;
  };
}
