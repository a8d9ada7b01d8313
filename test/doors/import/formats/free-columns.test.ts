import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeColumns, metadataOf } from '../../../../src/doors/import/formats/free-columns.ts';
import { langfuse } from '../../../../src/doors/import/formats/langfuse.ts';
import { langsmith } from '../../../../src/doors/import/formats/langsmith.ts';
import type { Format, RowFormat } from '../../../../src/doors/import/formats/format.ts';
import { parseMapping } from '../../../../src/doors/import/formats/mapping.ts';
import { tableFormat } from '../../../../src/doors/import/formats/table.ts';
import { MOST_ATTRIBUTES } from '../../../../src/doors/traces/conventions/attributes.ts';

function lineOf(format: Format, values: readonly unknown[]): unknown {
  if (format.kind === 'entries') {
    const reading = format.read(values[0]);
    ok('line' in reading, JSON.stringify(reading));
    return reading.line.metadata;
  }
  return assembled(format, values);
}

function assembled(format: RowFormat, values: readonly unknown[]): unknown {
  let conversation: string | null = null;
  const rows = values.map((value) => {
    const placed = format.place(value, 'file');
    ok('kept' in placed, JSON.stringify(placed));
    ({ conversation } = placed);
    return JSON.parse(JSON.stringify(placed.kept)) as unknown;
  });
  const reading = format.assemble(conversation ?? '', rows);
  ok('line' in reading, JSON.stringify(reading));
  return reading.line.metadata;
}

const mapped = (...pairs: string[]): Format => tableFormat(parseMapping(pairs));

describe('columns that no field takes', () => {
  it('are attributes of the conversation: of each the last value that is one', () => {
    const row = {
      thread: 'c',
      sender: 'user',
      text: 'Hello',
      message_id: 'm1',
      plan: 'free',
      body: 'Hello!',
    };
    const format = mapped('conversation=thread role=sender content=text');
    deepEqual(
      lineOf(format, [row, { ...row, message_id: 'm2', plan: 'pro', region: 'EU' }, { ...row, plan: '' }]),
      {
        plan: 'pro',
        region: 'EU',
      },
    );
    equal(lineOf(format, [{ thread: 'c', sender: 'user', text: 'Hello' }]), undefined);
  });

  it('are those of a row that is a conversation, and of an entry with messages, not of its messages', () => {
    const faq = { prompt: 'Why?', reply: 'So.', plan: 'pro', note: 'x'.repeat(201), seats: 3 };
    deepEqual(lineOf(mapped('question=prompt answer=reply'), [faq]), { plan: 'pro', seats: 3 });
    const entry = { id: 'c', beta: true, author: 'a', posts: [{ who: 'user', body: 'Hello', plan: 'free' }] };
    deepEqual(lineOf(mapped('turns=posts role=who content=body conversation=id'), [entry]), { beta: true });
  });

  it('are none where all rows of a file are one conversation', () => {
    const row = { sender: 'user', text: 'Hello', plan: 'pro' };
    equal(lineOf(mapped('conversation=- role=sender content=text'), [row]), undefined);
  });

  it('are none where a path leads into them, and as many as a request may have', () => {
    deepEqual(
      freeColumns({ author: { type: 'user' }, ' plan ': 'pro', Text: 'a' }, { role: 'author.type' }),
      {
        plan: 'pro',
      },
    );
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`column ${index}`, 'x']));
    deepEqual(Object.keys(metadataOf([many]) ?? {}), Object.keys(many).slice(0, MOST_ATTRIBUTES));
  });
});

describe('spans of other products', () => {
  it('have the attributes that spans over OTLP have', () => {
    const observation = {
      id: 'o',
      trace_id: 't',
      session_id: 's',
      type: 'GENERATION',
      input: 'Hello',
      output: 'Hi',
      environment: 'live',
      release: '2.5.0',
      provided_model_name: 'small',
      prompt_name: 'reply',
      prompt_version: 3,
      metadata: { plan: 'pro', session_id: 's' },
    };
    deepEqual(lineOf(langfuse, [observation]), {
      environment: 'live',
      model: 'small',
      plan: 'pro',
      'prompt.name': 'reply',
      'prompt.version': '3',
      'service.version': '2.5.0',
    });
    const run = {
      id: 'r',
      trace_id: 'r',
      run_type: 'llm',
      inputs: { input: 'Hello' },
      outputs: { output: 'Hi' },
    };
    const metadata = { thread_id: 's', plan: 'pro', ls_provider: 'x' };
    deepEqual(lineOf(langsmith, [{ ...run, extra: { metadata } }]), { plan: 'pro' });
  });
});
