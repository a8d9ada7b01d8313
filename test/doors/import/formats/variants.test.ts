/** What exports have besides what the fixtures show: one case for each shape that somebody's tool writes. */
import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatgpt } from '../../../../src/doors/import/formats/chatgpt.ts';
import { claude } from '../../../../src/doors/import/formats/claude.ts';
import type { EntryFormat, Turn } from '../../../../src/doors/import/formats/format.ts';
import { intercom } from '../../../../src/doors/import/formats/intercom.ts';
import { openaiBatch } from '../../../../src/doors/import/formats/openai-batch.ts';
import { openai } from '../../../../src/doors/import/formats/openai.ts';
import { sharegpt } from '../../../../src/doors/import/formats/sharegpt.ts';
import { parseMapping } from '../../../../src/doors/import/formats/mapping.ts';
import { tableFormat } from '../../../../src/doors/import/formats/table.ts';

function turnsOf(format: EntryFormat, value: unknown): readonly Turn[] {
  const reading = format.read(value);
  ok('line' in reading, JSON.stringify(reading));
  return reading.line.turns;
}

function leftOutOf(format: EntryFormat, value: unknown): unknown {
  const reading = format.read(value);
  return 'line' in reading ? Object.fromEntries(reading.omitted) : reading;
}

const turnLines = (turns: readonly Turn[]): string[] =>
  turns.map(({ role, content }) => `${role}: ${content}`);

describe('chats of OpenAI', () => {
  const completion = {
    created: 1_741_569_952,
    choices: [{ message: { role: 'assistant', content: 'Hello!' } }],
  };
  const request = { messages: [{ role: 'user', content: 'Hi there' }] };

  it('have the time at which the model answered', () => {
    const turns = turnsOf(openai, { request, response: completion });
    deepEqual(turnLines(turns), ['user: Hi there', 'assistant: Hello!']);
    deepEqual([...new Set(turns.map(({ createdAt }) => createdAt))], ['2025-03-10T01:25:52.000Z']);
    const timed = { ...request.messages[0], created_at: '2025-01-01T00:00:00Z' };
    const [own] = turnsOf(openai, { request: { messages: [timed] }, response: completion });
    equal(own?.createdAt, '2025-01-01T00:00:00Z');
    // No answer, no time: `created_at` of an example is when somebody wrote the file.
    equal(turnsOf(openai, { ...request, created_at: 1_741_569_952 })[0]?.createdAt, undefined);
  });

  it('may be an answer of the Responses API with what was asked', () => {
    const output = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Once.' }] },
    ];
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'A story' }] }];
    for (const asked of [input, 'A story'])
      deepEqual(turnLines(turnsOf(openai, { id: 'r', input: asked, output })), [
        'user: A story',
        'assistant: Once.',
      ]);
  });

  it('without a message are none, and no mistake', () => {
    deepEqual(leftOutOf(openai, { messages: [] }), { leftOut: 'conversation without text' });
  });
});

describe('a batch of OpenAI', () => {
  it('leaves out what is no chat', () => {
    const embedding = { custom_id: 'e', method: 'POST', url: '/v1/embeddings', body: { input: 'embed me' } };
    const answer = { custom_id: 'e', response: { status_code: 200, body: { object: 'list', data: [] } } };
    for (const value of [embedding, answer])
      deepEqual(openaiBatch.place(value, 'file'), { leftOut: 'request that is no chat' });
    const chat = { custom_id: 'c', url: '/v1/responses', body: { input: 'Hi' } };
    ok('kept' in openaiBatch.place(chat, 'file'));
  });
});

describe('an export of ChatGPT', () => {
  it('has no marks of sources, and the names of entities', () => {
    const text =
      'Oslo \ue200entity\ue202["city","Oslo","Norway"]\ue201 is near. \ue200cite\ue202turn0search1\ue202turn0news2\ue201\n' +
      'An open mark \ue200cite stays.';
    const mapping = {
      a: {
        parent: null,
        message: { author: { role: 'assistant' }, content: { content_type: 'text', parts: [text] } },
      },
    };
    equal(
      turnsOf(chatgpt, { mapping, current_node: 'a' })[0]?.content,
      'Oslo Oslo is near.\nAn open mark \ue200cite stays.',
    );
  });
});

describe('an export of Claude', () => {
  const message = (uuid: string, parent: string | null, sender = 'human') => ({
    uuid,
    sender,
    text: uuid,
    ...(parent === null ? {} : { parent_message_uuid: parent }),
  });
  const branched = [
    message('one', 'root'),
    message('two', 'one', 'assistant'),
    message('again', 'one', 'assistant'),
  ];

  it('has the branch that was shown last', () => {
    const value = { chat_messages: branched };
    deepEqual(turnLines(turnsOf(claude, value)), ['human: one', 'assistant: again']);
    deepEqual(leftOutOf(claude, value), { 'message of another branch': 1 });
    const chosen = { ...value, current_leaf_message_uuid: 'two' };
    deepEqual(turnLines(turnsOf(claude, chosen)), ['human: one', 'assistant: two']);
  });

  it('has every message where they say nothing of branches, or go round in a circle', () => {
    const some = [message('one', null), ...branched.slice(1)];
    equal(turnsOf(claude, { chat_messages: some }).length, 3);
    const circle = [message('a', 'b'), message('b', 'a'), message('c', 'a')];
    equal(turnsOf(claude, { chat_messages: circle }).length, 3);
  });
});

describe('ShareGPT', () => {
  it('may have role and content, and a preferred answer', () => {
    const conversations = [{ role: 'user', content: 'Hi' }];
    const value = {
      conversations,
      chosen: { from: 'gpt', value: 'Good' },
      rejected: { from: 'gpt', value: 'Bad' },
    };
    equal(sharegpt.recognise({ shape: 'json', name: 'x', values: [value] })?.confidence, 0.95);
    deepEqual(turnLines(turnsOf(sharegpt, value)), ['user: Hi', 'assistant: Good']);
  });
});

describe('Intercom', () => {
  it('has answers that were given while somebody assigned or closed', () => {
    const part = (type: string, body: string | null): object => ({
      part_type: type,
      body,
      author: { type: 'admin', id: '9' },
    });
    const parts = [
      part('assignment', '<p>I take over</p>'),
      part('assignment', null),
      part('close', '<p>Bye</p>'),
    ];
    const source = { body: '<p>Hi</p>', author: { type: 'user', id: '1' } };
    const value = { source, conversation_parts: { conversation_parts: parts } };
    deepEqual(turnLines(turnsOf(intercom, value)), ['user: Hi', 'assistant: I take over', 'assistant: Bye']);
  });
});

describe('a table', () => {
  const mapping = (text: string): EntryFormat => {
    const format = tableFormat(parseMapping([text]));
    ok(format.kind === 'entries');
    return format;
  };

  it('may name columns and roles with blanks and commas', () => {
    const { fields, roles } = parseMapping([
      'role=Sender, type content=Message Text,time=Sent at',
      'role:Key account=user',
    ]);
    deepEqual(fields, { role: 'Sender, type', content: 'Message Text', time: 'Sent at' });
    deepEqual([...roles], [['Key account', 'user']]);
    for (const wrong of ['role=a content=b convrsation=c', 'role=a,tme=b content=c'])
      throws(() => parseMapping([wrong]), /^Error: "(?:convrsation=c|tme=b)" is none of conversation=…/);
  });

  it('has dates as spreadsheets write them, where they can mean one thing only', () => {
    const reviews = mapping('role==user content=text time=date');
    const timeOf = (date: unknown): unknown => {
      const reading = reviews.read({ text: 'x', date });
      return 'line' in reading ? reading.line.turns[0]?.createdAt : 'fault' in reading ? 'fault' : null;
    };
    const times: readonly (readonly [unknown, unknown])[] = [
      ['1.11.2026 9:30', '2026-11-01T09:30:00Z'],
      ['01.11.2026, 09:30:05', '2026-11-01T09:30:05Z'],
      ['31.12.2026', '2026-12-31T00:00:00Z'],
      ['2026/11/1 9:30', '2026-11-01T09:30:00Z'],
      ['2026-11-1 9:30', '2026-11-01T09:30:00Z'],
      // As ever, since ids of conversations follow from it.
      ['2026-11-01', '2026-11-01T00:00:00.000Z'],
      ['11/1/2026 9:30 AM', 'fault'],
      ['31.31.2026', 'fault'],
      ['1.11.26', '2026-11-01T00:00:00Z'],
    ];
    for (const [date, time] of times) equal(timeOf(date), time, String(date));
  });
});
