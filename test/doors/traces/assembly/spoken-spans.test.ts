import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation, ObservedMessage } from '../../../../src/doors/traces/observation.ts';
import { chosenOf, placing, Tree } from '../../../../src/doors/traces/assembly/spoken-spans.ts';

const NOTHING_SEEN = new Map();

/** `says`: `qa` a question and its answer, `q` a question alone, '' nothing. */
function span(id: string, parent: string, says: '' | 'q' | 'qa', startedAt = 0): Observation {
  return {
    traceId: '0'.repeat(32),
    spanId: id,
    ...(parent === '' ? {} : { parentSpanId: parent }),
    kind: says === '' ? 'other' : 'chat',
    startedAt,
    endedAt: startedAt + 1,
    asked: says === '' ? [] : [{ role: 'user', content: `question of ${id}` }],
    answered: says === 'qa' ? [{ role: 'assistant', content: `answer of ${id}` }] : [],
    lacksContent: false,
  };
}

function chosen(...spans: Observation[]): string[] {
  return chosenOf(new Tree(spans, NOTHING_SEEN)).map(({ spanId }) => spanId);
}

describe('spans of a trace that count', () => {
  it('are the topmost with a question and an answer; what is below them says other things', () => {
    deepEqual(chosen(span('rewrite', 'agent', 'qa'), span('main', 'agent', 'qa'), span('agent', '', 'qa')), [
      'agent',
    ]);
    deepEqual(chosen(span('deep', 'tool', 'qa'), span('tool', 'agent', ''), span('agent', 'http', 'qa')), [
      'agent',
    ]);
  });

  it('are several below a span that says nothing, in order of their start', () => {
    deepEqual(chosen(span('second', 'http', 'qa', 2), span('first', 'http', 'qa', 1), span('http', '', '')), [
      'first',
      'second',
    ]);
  });

  it('are in the order that their histories show, where they start in the same millisecond', () => {
    const exchange = (question: string, answer: string): ObservedMessage[] => [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ];
    const history = [
      ...exchange('Yes', 'Done.'),
      ...exchange('Yes', 'Done.'),
      ...exchange('And now?', 'Done.'),
    ];
    /** Calls whose ids and times are in the wrong order; `window`: messages that a call repeats, at most. */
    const calls = (window: number, late: number): Observation[] =>
      ['c', 'b', 'a'].map((id, index) => ({
        ...span(id, 'http', 'qa', 1_000_000 + late * (2 - index)),
        asked: history.slice(Math.max(0, 2 * index - window), 2 * index + 1),
        answered: history.slice(2 * index + 1, 2 * index + 2),
      }));
    for (const spans of [calls(Infinity, 0), calls(Infinity, 400)])
      for (const order of [spans, spans.toReversed()]) deepEqual(chosen(...order), ['c', 'b', 'a']);
    const times = chosenOf(new Tree(calls(Infinity, 400), NOTHING_SEEN)).map(({ startedAt }) => startedAt);
    deepEqual(times, [1_000_800, 1_000_801, 1_000_801]);
    deepEqual(chosen(...calls(Infinity, 1000)), ['a', 'b', 'c']);
    // A history that is cut shows the call before it.
    history[2] = { role: 'user', content: 'When?' };
    deepEqual(chosen(...calls(2, 0).toReversed()), ['c', 'b', 'a']);
  });

  it('that go on with a question come behind the call that asks it, where both start at once', () => {
    const first = { ...span('b', 'http', 'q'), asked: [{ role: 'user', content: 'When?' }] as const };
    const step = { ...span('a', 'http', 'qa'), asked: first.asked, continues: true };
    deepEqual(chosen(step, first), ['b', 'a']);
  });

  it('have one of the two where nothing below has more', () => {
    deepEqual(chosen(span('agent', '', 'q'), span('call', 'agent', 'qa')), ['call']);
    deepEqual(chosen(span('agent', '', 'q'), span('tool', 'agent', '')), ['agent']);
    deepEqual(chosen(span('agent', '', 'q'), span('call', 'agent', 'q')), ['call']);
  });

  it('are told in a ring of parents, and below what was counted before', () => {
    deepEqual(chosen(span('a', 'b', 'qa'), span('b', 'a', '')), ['a']);
    deepEqual(chosen(span('a', 'a', 'qa')), ['a']);
    const seen = new Map([['agent', { spanId: 'agent', parentSpanId: undefined, counted: true }]]);
    deepEqual(chosenOf(new Tree([span('late', 'agent', 'qa')], seen)), []);
  });

  it('are found in a chain as deep as an export can hold', () => {
    const depth = 20_000;
    const chain = Array.from({ length: depth }, (_, index) =>
      span(`s${index}`, index === 0 ? '' : `s${index - 1}`, index === depth - 1 ? 'qa' : ''),
    );
    deepEqual(chosen(...chain), [`s${depth - 1}`]);
    const [top, ...below] = chain as [Observation, ...Observation[]];
    const place = placing(new Tree([{ ...top, conversationId: 'c' }, ...below], NOTHING_SEEN), {});
    ok(below.every((one) => place(one).ids.conversationId === 'c'));
  });
});
