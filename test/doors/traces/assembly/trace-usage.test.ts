import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Usage } from '../../../../src/domain/usage.ts';
import { Tree, type Seen, type SeenSpan } from '../../../../src/doors/traces/assembly/spoken-spans.ts';
import { usageOfTrace } from '../../../../src/doors/traces/assembly/trace-usage.ts';
import type { Observation } from '../../../../src/doors/traces/observation.ts';

const took = (inputTokens: number): Usage => ({ inputTokens, outputTokens: null, costNanos: null });

/** `tokens`: 0 if the span has no usage. */
function span(spanId: string, parent: string, tokens: number): Observation {
  return {
    traceId: '0'.repeat(32),
    spanId,
    ...(parent === '' ? {} : { parentSpanId: parent }),
    kind: 'chat',
    startedAt: 0,
    endedAt: 1,
    asked: [],
    answered: [],
    lacksContent: false,
    ...(tokens === 0 ? {} : { usage: took(tokens) }),
  };
}

const seenSpan = (spanId: string, parent: string, more: Partial<SeenSpan> = {}): [string, SeenSpan] => [
  spanId,
  { spanId, parentSpanId: parent === '' ? undefined : parent, counted: false, ...more },
];

/** Where usage lies: tokens of spans by the counted span; '' where none counts yet. */
function placed(
  spans: readonly Observation[],
  chosen: readonly string[],
  {
    seen = new Map(),
    counted = [],
    known = [],
  }: {
    readonly seen?: Seen;
    readonly counted?: readonly string[];
    readonly known?: readonly (readonly [string, number])[];
  } = {},
): Record<string, number[]> {
  const found = usageOfTrace(new Tree(spans, seen), {
    known: new Map(known.map(([id, tokens]) => [id, took(tokens)])),
    chosen,
    counted,
  });
  const tokensOf = (usages: Iterable<Usage>): number[] =>
    [...usages].map(({ inputTokens }) => inputTokens ?? 0).toSorted((a, b) => a - b);
  const all = [...found.placed].map(([id, usages]) => [id, tokensOf(usages.map(({ usage }) => usage))]);
  const rest = tokensOf(found.unplaced.values());
  return Object.fromEntries([...all, ...(rest.length === 0 ? [] : [['', rest]])]) as Record<string, number[]>;
}

describe('usage of a trace', () => {
  it('is that of the lowest spans which have some, and lies on the counted span above them', () => {
    const spans = [
      span('agent', 'http', 111),
      span('call', 'agent', 1),
      span('gateway', 'call', 10),
      span('other', 'agent', 100),
      span('http', '', 0),
    ];
    deepEqual(placed(spans, ['agent']), { agent: [10, 100] });
    deepEqual(placed(spans.toReversed(), ['agent']), { agent: [10, 100] });
    deepEqual(placed([span('agent', '', 5), span('call', 'agent', 0)], ['agent']), { agent: [5] });
  });

  it('lies on the last counted span below, where none above counts', () => {
    const calls = [span('first', 'agent', 0), span('second', 'agent', 0)];
    deepEqual(placed([span('agent', '', 5), ...calls], ['first', 'second']), { second: [5] });
    deepEqual(
      placed([span('agent', '', 5), span('first', 'agent', 3), span('second', 'agent', 0)], ['second']),
      {
        '': [3],
      },
    );
  });

  it('waits where no span counts yet, and lies on the one that counts later', () => {
    deepEqual(placed([span('call', '', 5)], []), { '': [5] });
    const later = { seen: new Map([seenSpan('call', '', { spent: true })]), known: [['call', 5]] as const };
    deepEqual(placed([span('call', '', 0)], ['call'], later), { call: [5], '': [5] });
  });

  it('of a span that comes late counts unless one above or below it has counted', () => {
    const late = [span('late', 'agent', 5)];
    const agent = (spent: boolean): Seen => new Map([seenSpan('agent', '', { counted: true, spent })]);
    deepEqual(placed(late, [], { seen: agent(false), counted: ['agent'] }), { agent: [5] });
    deepEqual(placed(late, [], { seen: agent(true), counted: ['agent'] }), {});
    const below = new Map([seenSpan('call', 'late', { spent: true })]);
    deepEqual(placed(late, ['late'], { seen: below }), {});
  });

  it('is the same when a process that ended had noted already what counts', () => {
    const spans = [span('agent', '', 15), span('call', 'agent', 15)];
    const seen = new Map([
      seenSpan('agent', '', { counted: true, spent: false }),
      seenSpan('call', 'agent', { spent: true }),
    ]);
    deepEqual(placed(spans, ['agent'], { seen, counted: ['agent'] }), { agent: [15] });
  });

  it('is found in a ring of parents and in a chain as deep as an export can hold', () => {
    deepEqual(placed([span('a', 'a', 5)], ['a']), { a: [5] });
    deepEqual(placed([span('a', 'b', 5), span('b', 'a', 0)], ['b']), { b: [5] });
    const depth = 20_000;
    const chain = Array.from({ length: depth }, (_, index) =>
      span(`s${index}`, index === 0 ? '' : `s${index - 1}`, 1),
    );
    const leaves = Array.from({ length: depth }, (_, index) => span(`l${index}`, `s${depth - 1}`, 2));
    const found = placed(
      [...chain, ...leaves],
      leaves.map(({ spanId }) => spanId),
    );
    deepEqual([Object.keys(found).length, found['l7']], [depth, [2]]);
  });
});
