import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation } from '../../../src/traces/observation.ts';
import { TraceBuffer } from '../../../src/traces/assembly/trace-buffer.ts';

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

describe('traces that wait', () => {
  it('are let go in the end, however often a span of them comes', () => {
    let now = 0;
    const buffer = new TraceBuffer({ waitMs: WAIT_MS, maxBytes: 2 ** 30, now: () => now });
    const letGo: number[] = [];
    for (let sequence = 1; sequence <= 50; sequence += 1) {
      buffer.add({ ...HEAD, observations: [span(1, sequence)] }, sequence);
      if (buffer.takeReady(10).length > 0) letGo.push(now);
      now += WAIT_MS / 2;
    }
    deepEqual(letGo.slice(0, 2), [4 * WAIT_MS, 8.5 * WAIT_MS]);
    ok((buffer.oldestSequence ?? 0) > 40);
  });

  it('are remembered by a number of spans, whether these are of many traces or of one', () => {
    const buffer = new TraceBuffer({ waitMs: 0, maxBytes: 2 ** 30, now: () => 0, linksKept: 200 });
    const all = (trace: number, count: number): Observation[] =>
      Array.from({ length: count }, (_, index) => span(trace, index));
    for (let trace = 1; trace <= 5; trace += 1) {
      buffer.add({ ...HEAD, observations: all(trace, 45) }, trace);
      equal(buffer.takeReady(10).length, 1);
    }
    equal(buffer.linked, 180);
    buffer.add({ ...HEAD, observations: all(6, 201) }, 6);
    equal(buffer.takeReady(10).length, 1);
    equal(buffer.linked, 0);
  });
});
