/** Feedback that tables and exports of traces hold, on the messages that it is on. */
import { deepEqual, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Format, Sample } from '../../../../src/doors/import/formats/format.ts';
import { langfuse } from '../../../../src/doors/import/formats/langfuse.ts';
import { langsmith } from '../../../../src/doors/import/formats/langsmith.ts';
import { describeMapping, guessMapping, parseMapping } from '../../../../src/doors/import/formats/mapping.ts';
import { tableFormat } from '../../../../src/doors/import/formats/table.ts';

/** What the turns of one conversation say, with their thumbs; and what is left out. */
function read(format: Format, values: readonly unknown[]): readonly [string[], Record<string, number>] {
  const of = (): ReturnType<Extract<Format, { kind: 'entries' }>['read']> => {
    if (format.kind === 'entries') return format.read(values[0]);
    const rows = values.flatMap((value) => {
      const placed = format.place(value, 'file');
      return 'kept' in placed ? [JSON.parse(JSON.stringify(placed.kept)) as unknown] : [];
    });
    return format.assemble('c', rows);
  };
  const reading = of();
  ok('line' in reading, JSON.stringify(reading));
  const turns = reading.line.turns.map(({ content, feedback = [] }) =>
    [content, ...feedback.map(({ value, rating, userId }) => [value, rating, userId].join('/'))].join(' '),
  );
  return [turns, Object.fromEntries(reading.omitted)];
}

const sampleOf = (values: readonly unknown[]): Sample => ({ shape: 'csv', name: 'a.csv', values });
const guessed = (values: readonly unknown[]) => {
  const guess = guessMapping(sampleOf(values));
  ok(guess);
  return { ...guess, described: describeMapping(guess.mapping).join(' ') };
};

const UNREAD = 'feedback that is no thumb and no rating from 1 to 5';

describe('a table', () => {
  const row = (role: string, text: string, more: object = {}) => ({ conversation: 'c', role, text, ...more });

  it('has thumbs on the message of the row, by its author', () => {
    const rows = [
      row('user', 'Q', { thumbs: '', user: 'ana' }),
      row('assistant', 'A', { thumbs: 'up', user: 'ana' }),
      row('user', 'Q2', { thumbs: '', user: 'ana' }),
      row('assistant', 'A2', { thumbs: '👎' }),
    ];
    const { mapping, described } = guessed(rows);
    match(described, / feedback=thumbs$/);
    deepEqual(read(tableFormat(mapping), rows), [['Q', 'A 1//ana', 'Q2', 'A2 -1//'], {}]);
  });

  it('has ratings, and both', () => {
    const rows = [
      { question: 'Q', answer: 'A', rating: '5', feedback: '' },
      { question: 'Q', answer: 'A', rating: '3', feedback: 'negative' },
      { question: 'Q', answer: 'A', rating: '3', feedback: '' },
      { question: 'Q', answer: 'A', rating: '2', feedback: '' },
      { question: 'Q', answer: 'A', rating: '9', feedback: '' },
    ];
    const format = tableFormat(guessed(rows.slice(0, 4)).mapping);
    match(guessed(rows.slice(0, 4)).described, /feedback=feedback rating=rating/);
    deepEqual(
      rows.map((value) => read(format, [value])),
      [
        [['Q', 'A 1/5/'], {}],
        [['Q', 'A -1/3/'], {}],
        [['Q', 'A'], {}],
        [['Q', 'A -1/2/'], {}],
        [['Q', 'A'], { [UNREAD]: 1 }],
      ],
    );
  });

  it('says so where a column may mean several things, and keeps it as an attribute', () => {
    for (const [column, values] of [
      ['rating', ['1', '7']],
      ['feedback', ['0', '1']],
      ['feedback', ['1', '1']],
      ['feedback', ['too slow', 'fine']],
      ['thumbs', ['', '']],
    ] as const) {
      const rows = values.map((value) => ({ question: 'Q', answer: 'A', [column]: value }));
      const { recognition, described } = guessed(rows);
      deepEqual([described, recognition.confidence], ['question=question answer=answer', 0.7], column);
      match(
        recognition.reason,
        new RegExp(`${column} is not read as feedback: --map with feedback=${column}`),
      );
    }
    const reading = tableFormat(guessed([{ question: 'Q', answer: 'A', rating: 7 }]).mapping);
    ok(reading.kind === 'entries');
    const { line } = reading.read({ question: 'Q', answer: 'A', rating: 7 }) as {
      line: { metadata: unknown };
    };
    deepEqual(line.metadata, { rating: 7 });
  });

  it('is of the conversation where all of its rows repeat the same', () => {
    const rows = [
      row('user', 'Q', { rating: 2 }),
      row('assistant', 'A', { rating: 2 }),
      row('user', 'Q2', { rating: 2 }),
    ];
    deepEqual(read(tableFormat(guessed(rows).mapping), rows), [['Q', 'A -1/2/', 'Q2'], {}]);
    const mapping = parseMapping(['conversation=conversation question=q answer=a feedback=f']);
    const answers = ['A', 'B'].map((a) => ({ conversation: 'c', q: 'Q', a, f: 'up' }));
    deepEqual(read(tableFormat(mapping), answers), [['Q', 'A 1//', 'Q', 'B 1//'], {}], 'each on its answer');
  });

  it('of lists has it beside the message, or beside the list', () => {
    const messages = [
      { role: 'user', text: 'Q' },
      { role: 'assistant', text: 'A', feedback: 'down' },
      { role: 'assistant', text: 'B' },
    ];
    const inner = [{ id: 'x', posts: messages }];
    match(guessed(inner).described, / feedback=feedback$/);
    deepEqual(read(tableFormat(guessed(inner).mapping), inner)[0], ['Q', 'A -1//', 'B']);
    const outer = [{ id: 'x', stars: 5, posts: messages.map(({ role, text }) => ({ role, text })) }];
    deepEqual(read(tableFormat(guessed(outer).mapping), outer)[0], ['Q', 'A', 'B 1/5/']);
  });
});

describe('exports of traces', () => {
  const said = { input: 'Q', output: 'A' };
  const observation = {
    ...said,
    id: 'o',
    trace_id: 't',
    parent_observation_id: '',
    session_id: 's',
    user_id: 'ana',
    type: 'GENERATION',
    start_time: '2026-03-01 09:30:00.000000',
  };
  const score = {
    id: '1',
    trace_id: 't',
    name: 'user-feedback',
    value: 0,
    source: 'API',
    data_type: 'BOOLEAN',
    timestamp: '2026-03-01 09:40:00.000000',
  };

  it('of Langfuse have scores of end users in files of their own', () => {
    ok((langfuse.recognise(sampleOf([score]))?.confidence ?? 0) > 0.9);
    for (const rows of [
      [observation, score],
      [score, observation],
    ])
      deepEqual(read(langfuse, rows), [['Q', 'A -1//ana'], {}]);
    const judged = { ...score, source: 'EVAL' };
    const annotated = { ...score, source: 'ANNOTATION' };
    const other = { ...score, name: 'correctness' };
    deepEqual(read(langfuse, [observation, judged, annotated, other]), [['Q', 'A'], {}]);
    const worded = { ...score, data_type: 'CATEGORICAL', value: null, string_value: 'positive' };
    deepEqual(read(langfuse, [observation, worded])[0], ['Q', 'A 1//ana']);
  });

  it('of Langfuse stay in the order of time beside scores', () => {
    const later = {
      ...observation,
      id: 'p',
      trace_id: 'u',
      input: 'Q2',
      output: 'A2',
      start_time: '2026-03-01 10:00',
    };
    const place = (value: unknown) => {
      ok(langfuse.kind === 'rows');
      const placed = langfuse.place(value, 'file');
      return 'kept' in placed ? placed.at : null;
    };
    ok(
      [later, score, observation].every((value) => place(value) !== null),
      'a row without a time unsorts all',
    );
    deepEqual(read(langfuse, [observation, score, later])[0], ['Q', 'A -1//ana', 'Q2', 'A2']);
  });

  it('of the API of Langfuse have them in the trace', () => {
    const trace = { ...said, id: 't', timestamp: '2026-03-01T09:30:00Z', sessionId: 's', userId: null };
    const { trace_id: _, data_type: __, ...own } = score;
    deepEqual(
      read(langfuse, [{ ...trace, scores: [{ ...own, traceId: 't', dataType: 'BOOLEAN', value: 1 }] }])[0],
      ['Q', 'A 1//'],
    );
    deepEqual(read(langfuse, [{ ...trace, scores: ['id-of-a-score'] }])[0], ['Q', 'A']);
  });

  it('of LangSmith have them in the statistics of the run', () => {
    const run = {
      id: 'r',
      run_type: 'chain',
      inputs: { question: 'Q' },
      outputs: { answer: 'A' },
      is_root: true,
    };
    const stats = { user_score: { n: 2, avg: 1 }, correctness: { n: 1, avg: 0 } };
    for (const given of [stats, JSON.stringify(stats)])
      deepEqual(read(langsmith, [{ ...run, feedback_stats: given }])[0], ['Q', 'A 1//']);
    for (const avg of [0.5, null])
      deepEqual(read(langsmith, [{ ...run, feedback_stats: { user_score: { n: 2, avg } } }])[0], ['Q', 'A']);
  });
});
