/**
 * The Prometheus metrics of OTLP and of assembling traces.
 *
 * Test: test/e2e/otlp-rules.test.ts.
 */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** Counts what arrives over OTLP. */
export interface TraceMetrics {
  received(
    signal: 'traces' | 'logs',
    counts: Readonly<Record<'spans' | 'rejected' | 'lacksContent' | 'observations', number>>,
  ): void;
}

/** Figures of assembling since this process began to. */
export interface AssemblyFigures {
  /** Traces that wait for further spans. */
  readonly waiting: number;
  /** Spans of these traces, and spans that wait on the stream for free memory. */
  readonly waitingSpans: number;
  readonly traces: number;
  readonly messages: number;
  /** Messages that could not be stored despite retries. */
  readonly refused: number;
  /** Pieces of feedback that are on no reply. */
  readonly lostFeedback: number;
}

/** `assembly`: null while another process assembles. */
export function registerTraceMetrics(
  registry: Registry,
  assembly: () => AssemblyFigures | null,
): TraceMetrics & { readonly update: () => void } {
  const spans = new Counter({
    name: 'undertone_otlp_spans_total',
    help:
      'Spans and log records received over OTLP: all (received), rejected, without the content of a call ' +
      '(without-content), and read (observed).',
    labelNames: ['signal', 'result'] as const,
    registers: [registry],
  });
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [registry] });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] });
  const waiting = gauge('undertone_traces_waiting', 'Traces that wait for the rest of their spans.');
  const waitingSpans = gauge(
    'undertone_traces_waiting_spans',
    'Spans that wait to be assembled, in memory and on the stream.',
  );
  const traces = counter(
    'undertone_traces_assembled_total',
    'Traces of which this process made conversations.',
  );
  const messages = counter(
    'undertone_traces_messages_total',
    'Messages that this process made out of traces.',
  );
  const refused = counter('undertone_traces_refused_total', 'Messages out of traces that were refused.');
  const lostFeedback = counter(
    'undertone_traces_feedback_lost_total',
    'Feedback out of traces that is on no reply which is known.',
  );
  return {
    received(signal, counts) {
      spans.inc({ signal, result: 'received' }, counts.spans);
      spans.inc({ signal, result: 'rejected' }, counts.rejected);
      spans.inc({ signal, result: 'without-content' }, counts.lacksContent);
      spans.inc({ signal, result: 'observed' }, counts.observations);
    },
    update() {
      const figures = assembly();
      const metrics = { waiting, waitingSpans, traces, messages, refused, lostFeedback };
      for (const [name, metric] of Object.entries(metrics)) {
        metric.reset();
        // A metric without labels would show 0; an unknown value must not appear.
        if (figures === null) metric.remove();
        else metric.inc(figures[name as keyof typeof metrics]);
      }
    },
  };
}
