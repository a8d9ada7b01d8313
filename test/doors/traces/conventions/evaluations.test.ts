import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readLogs } from '../../../../src/doors/traces/otlp/read.ts';
import type { AttributeValue } from '../../../../src/doors/traces/span.ts';
import { observed } from '../../../support/observed.ts';

const EVENT = 'gen_ai.evaluation.result';
const END = 1_772_357_401_000_000;

/** An event of a span. `score`: under `value` or `label`. */
function event(
  evaluation: string,
  score: Readonly<Record<string, AttributeValue>>,
): { readonly name: string; readonly attributes: ReadonlyMap<string, AttributeValue> } {
  const scores = Object.entries(score).map(
    ([name, value]) => [`gen_ai.evaluation.score.${name}`, value] as const,
  );
  return { name: EVENT, attributes: new Map([['gen_ai.evaluation.name', evaluation], ...scores]) };
}

function given(...events: ReturnType<typeof event>[]): unknown {
  return observed({ 'gen_ai.operation.name': 'chat' }, { events }).feedback;
}

/** A log record, as OTLP/JSON has it. */
function record(evaluation: string, stringValue: string, second: number, more: object = {}): object {
  return {
    timeUnixNano: `${second}000000000`,
    eventName: EVENT,
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    attributes: [
      { key: 'gen_ai.evaluation.name', value: { stringValue: evaluation } },
      { key: 'gen_ai.evaluation.score.label', value: { stringValue } },
    ],
    ...more,
  };
}

const read = (...logRecords: readonly object[]) =>
  readLogs(Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })), 'json');

describe('an evaluation', () => {
  it('is feedback by its name alone, if it is a thumb', () => {
    deepEqual(given(event('user_feedback', { value: 1 })), [{ value: 1, at: END }]);
    deepEqual(given(event('User Feedback', { value: 0 })), [{ value: -1, at: END }]);
    deepEqual(given(event('thumbs', { label: '👎' })), [{ value: -1, at: END }]);
    deepEqual(given(event('thumbs', { value: 0.5, label: 'up' })), [{ value: 1, at: END }]);
    for (const name of ['Relevance', 'correctness', 'user_frustration', ''])
      equal(given(event(name, { value: 1, label: 'pass' })), undefined, name);
    for (const score of [
      {},
      { value: 0.7 },
      { value: 5 },
      { label: 'relevant' },
      { value: [1] },
      { value: null },
    ])
      equal(given(event('user_feedback', score)), undefined, JSON.stringify(score));
    equal(given({ ...event('thumbs', { value: 1 }), name: 'gen_ai.choice' }), undefined);
  });

  it('is the last one of those on a span, or a span of its own', () => {
    deepEqual(
      given(event('thumbs', { value: 1 }), event('thumbs', { value: 0 }), event('Relevance', { value: 1 })),
      [{ value: -1, at: END }],
    );
    const own = Object.fromEntries(event('thumbs', { value: 1 }).attributes) as Record<
      string,
      AttributeValue
    >;
    deepEqual(observed(own), {
      kind: 'other',
      asked: [],
      answered: [],
      feedback: [{ value: 1, at: END }],
    });
  });

  it('may be a log record, which is no message', () => {
    const { observations, rejected, lacksContent } = read(
      record('Relevance', 'pass', 1),
      record('Relevance', 'pass', 2, { traceId: '' }),
      record('thumbs', 'up', 3),
      record('thumbs', 'down', 4),
      record('thumbs', 'up', 5, { spanId: '' }),
    );
    deepEqual(observations, [
      {
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        kind: 'event',
        startedAt: 3e6,
        endedAt: 3e6,
        feedback: [
          { value: 1, at: 3e6 },
          { value: -1, at: 4e6 },
        ],
        asked: [],
        answered: [],
        lacksContent: false,
        mayAdd: 0,
      },
    ]);
    equal(lacksContent, 0);
    deepEqual(rejected, [{ place: 'resourceLogs.0.scopeLogs.0.logRecords.4', reason: 'names no span' }]);
  });
});
