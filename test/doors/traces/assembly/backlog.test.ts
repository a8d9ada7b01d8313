import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import type { TraceEntry } from '../../../../src/doors/traces/trace-entry.ts';
import { Backlog } from '../../../../src/doors/traces/assembly/backlog.ts';
import { TraceBuffer } from '../../../../src/doors/traces/assembly/trace-buffer.ts';

const MAX_BYTES = 200_000;
const SPANS = 20;
const WAIT_MS = 30_000;

/** A call whose parent does not come, or that is alone. */
function call(trace: string, parentSpanId?: string): Observation {
  return {
    traceId: trace,
    spanId: 'a'.repeat(16),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    kind: 'chat',
    startedAt: 1e15,
    endedAt: 1e15 + 1,
    asked: [{ role: 'user', content: 'question' }],
    answered: [{ role: 'assistant', content: 'answer' }],
    lacksContent: false,
  };
}

function request(projectId: string, observations: readonly Observation[]): TraceEntry {
  return { projectId, instanceId: null, defaultInstanceId: 'i', unknownInstanceIds: [], observations };
}

/** A stream that is read to its end, and how often its entries are read again. */
function reading() {
  let now = 0;
  const buffer = new TraceBuffer({ waitMs: WAIT_MS, maxBytes: MAX_BYTES, now: () => now });
  const backlog = new Backlog(buffer);
  const stream: (readonly TraceEntry[])[] = [];
  const again: number[] = [];
  return {
    buffer,
    backlog,
    again,
    wait(): void {
      now += WAIT_MS;
    },
    send(...requests: TraceEntry[]): void {
      stream.push(requests);
      backlog.take(stream.length, requests);
    },
    refill: () =>
      backlog.refill(async (sequence) => {
        again.push(sequence);
        return stream[sequence - 1] ?? null;
      }),
  };
}

describe('what one project has waiting', () => {
  it('stays on the stream when it is more than its share, and what others send does not', async () => {
    const { buffer, backlog, again, wait, send, refill } = reading();
    const half = (entry: number): Observation[] =>
      Array.from({ length: SPANS }, (_, index) => call(`${entry} ${index}`, 'f'.repeat(16)));
    for (let entry = 1; entry <= 100; entry += 1) send(request('much', half(entry)));
    send(request('little', [call('complete')]), request('much', half(101)));
    deepEqual(
      buffer.upcoming(10).map(({ projectId }) => projectId),
      ['little'],
    );
    ok(buffer.held <= MAX_BYTES / 2 + 2000, `${buffer.held}`);
    equal(buffer.spansOf('much') + backlog.spansOf('much'), 101 * SPANS);
    equal(buffer.oldestSequence, 1);
    equal(buffer.next()?.traceId, 'complete');
    const taken: string[] = [];
    while (buffer.traces > 0) {
      await refill();
      if (backlog.size === 0) wait();
      ok(buffer.held <= MAX_BYTES, `${buffer.held}`);
      const trace = buffer.next();
      if (trace === undefined) continue;
      taken.push(trace.traceId);
      ok(Math.min(buffer.oldestSequence, backlog.oldestSequence) >= trace.since);
    }
    equal(taken.length, 101 * SPANS);
    deepEqual(taken.slice(0, 3), ['1 0', '1 1', '1 2']);
    deepEqual(
      again,
      again.toSorted((a, b) => a - b),
      'in order',
    );
    equal(new Set(again).size, again.length, 'each once');
    deepEqual([backlog.size, backlog.oldestSequence, backlog.spansOf('much')], [0, Infinity, 0]);
  });

  it('goes on in its order while something of it is on the stream', async () => {
    const { buffer, backlog, send, refill } = reading();
    const large = Array.from({ length: 200 }, (_, index) => call(`large ${index}`));
    send(request('p', large));
    send(
      request(
        'p',
        large.map((one) => ({ ...one, traceId: `next ${one.traceId}` })),
      ),
    );
    send(request('p', [call('small')]));
    equal(backlog.spansOf('p'), 201);
    const taken: string[] = [];
    do {
      const trace = buffer.next();
      if (trace !== undefined) taken.push(trace.traceId);
      await refill();
    } while (buffer.traces > 0);
    deepEqual([taken.length, taken.at(-1)], [401, 'small']);
  });

  it('is left out when the stream no longer holds it', async () => {
    const { buffer, backlog, send } = reading();
    const large = Array.from({ length: 200 }, (_, index) => call(`large ${index}`));
    send(request('p', large));
    send(request('p', large));
    while (buffer.next() !== undefined);
    equal(await backlog.refill(async () => null), true);
    deepEqual([backlog.size, buffer.traces], [0, 0]);
  });
});
