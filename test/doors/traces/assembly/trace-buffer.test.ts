import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import { TraceBuffer } from '../../../../src/doors/traces/assembly/trace-buffer.ts';

const HEAD = { projectId: 'p', instanceId: null, defaultInstanceId: 'i', unknownInstanceIds: [] };
const WAIT_MS = 30_000;

/** A span whose parent does not come. */
function span(trace: number, number: number): Observation {
  return {
    traceId: trace.toString(16).padStart(32, '0'),
    spanId: number.toString(16).padStart(16, '0'),
    parentSpanId: 'f'.repeat(16),
    kind: 'other',
    startedAt: 1e15 + number,
    endedAt: 1e15 + number,
    asked: [],
    answered: [],
    lacksContent: false,
  };
}

/** A span with nothing above it. */
function complete(trace: number): Observation {
  const { parentSpanId: _, ...alone } = span(trace, 1);
  return alone;
}

describe('traces that wait', () => {
  it('are let go in the end, however often a span of them comes', () => {
    let now = 0;
    const buffer = new TraceBuffer({ waitMs: WAIT_MS, maxBytes: 2 ** 30, now: () => now });
    const letGo: number[] = [];
    for (let sequence = 1; sequence <= 50; sequence += 1) {
      buffer.add({ ...HEAD, observations: [span(1, sequence)] }, sequence);
      if (buffer.next() !== undefined) letGo.push(now);
      now += WAIT_MS / 2;
    }
    deepEqual(letGo.slice(0, 2), [4 * WAIT_MS, 8.5 * WAIT_MS]);
    ok(buffer.oldestSequence > 40);
  });

  it('are complete when what is above them was let go before, of as many traces as memory has room for', () => {
    const buffer = new TraceBuffer({ waitMs: WAIT_MS, maxBytes: 2 ** 30, now: () => 0 });
    const traces = [1, 2, 3].map((number) => span(number, 1));
    buffer.add({ ...HEAD, observations: traces }, 1);
    deepEqual(
      buffer.takeLacking(9).map(({ traceId }) => traceId),
      traces.map(({ traceId }) => traceId),
    );
    const above = { spanId: 'f'.repeat(16), parentSpanId: undefined, counted: false };
    const many = Array.from({ length: 30_000 }, (_, index) => ({ ...above, spanId: `s${index}` }));
    for (const { traceId } of traces) buffer.recall({ projectId: 'p', traceId }, [...many, above]);
    deepEqual(
      [buffer.next()?.traceId, buffer.next()?.traceId, buffer.takeLacking(9)],
      [traces[2]?.traceId, undefined, []],
    );
  });

  it('come by turns of their projects when they are ready, of each what began first', () => {
    let now = 0;
    const buffer = new TraceBuffer({ waitMs: WAIT_MS, maxBytes: 2 ** 30, now: () => now });
    const half = (count: number): Observation[] =>
      Array.from({ length: count }, (_, index) => ({
        ...span(count - index, index),
        startedAt: 1e15 - index,
      }));
    buffer.add({ ...HEAD, observations: half(500) }, 1);
    now = WAIT_MS;
    buffer.add({ ...HEAD, projectId: 'other', observations: [complete(900), complete(901)] }, 2);
    buffer.add({ ...HEAD, projectId: 'third', observations: [span(901, 1)] }, 3);
    deepEqual(
      buffer.upcoming(4).map(({ projectId }) => projectId),
      ['p', 'other', 'p', 'other'],
    );
    const taken = Array.from({ length: 502 }, () => buffer.next());
    deepEqual(
      taken.slice(0, 6).map((trace) => trace?.projectId),
      ['p', 'other', 'p', 'other', 'p', 'p'],
    );
    const begun = taken.flatMap((trace) =>
      trace?.projectId === 'p' ? (trace.observations[0]?.startedAt ?? 0) : [],
    );
    deepEqual(
      begun,
      begun.toSorted((a, b) => a - b),
    );
    deepEqual([buffer.next(), buffer.traces], [undefined, 1]);
  });

  it('come again before all others of their project when they are given back, and nobody waits for them', () => {
    const buffer = new TraceBuffer({ waitMs: WAIT_MS, maxBytes: 2 ** 30, now: () => 0 });
    buffer.add({ ...HEAD, observations: [complete(1), complete(2), complete(3)] }, 1);
    buffer.add({ ...HEAD, projectId: 'other', observations: [complete(4)] }, 2);
    const first = buffer.next();
    ok(first !== undefined);
    buffer.giveBack(first);
    const order = Array.from({ length: 4 }, () => Number.parseInt(buffer.next()?.traceId ?? '', 16));
    deepEqual(order, [4, 1, 2, 3]);
  });
});
