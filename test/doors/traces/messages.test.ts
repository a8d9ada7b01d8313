import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messagesOf } from '../../../src/doors/traces/messages.ts';
import { OmissionCounts } from '../../../src/doors/traces/omissions.ts';
import { assistant, user } from '../../support/observed.ts';

/** What the importers read with it is in test/doors/import/formats. */
describe('messagesOf', () => {
  it('says which messages call a tool or have the result of one', () => {
    deepEqual(
      messagesOf(
        [
          { role: 'user', content: [{ type: 'tool_result', content: 'Friday' }] },
          { role: 'assistant', content: 'I look.', tool_calls: [{}] },
          { role: 'assistant', content: 'Done.', tool_calls: [] },
          { role: 'tool', content: 'Friday' },
          { role: 'user', content: 'Thanks.' },
        ],
        'user',
      ),
      [
        { role: 'user', content: '', usesTool: true },
        { ...assistant('I look.'), usesTool: true },
        assistant('Done.'),
        { role: 'tool', content: 'Friday', usesTool: true },
        user('Thanks.'),
      ],
    );
  });

  it('reads requests and answers of the interfaces that models have', () => {
    const cases: readonly (readonly [string, 'user' | 'assistant', unknown])[] = [
      ['chat completions', 'user', { model: 'm', messages: [{ role: 'user', content: 'Hello?' }] }],
      ['chat completions', 'assistant', { choices: [{ message: { role: 'assistant', content: 'Hi.' } }] }],
      ['responses', 'user', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello?' }] }] }],
      [
        'responses',
        'assistant',
        {
          text: { format: { type: 'text' } },
          output: [
            { type: 'reasoning', summary: [] },
            { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] },
          ],
        },
      ],
      ['messages', 'assistant', { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }],
      // github.com/Arize-ai/openinference: llama-index and smolagents record arguments
      ['LlamaIndex', 'user', { query_str: 'Hello?', image_path: null, custom_embedding_strs: null }],
      ['LlamaIndex', 'user', { user_msg: 'Hello?', chat_history: [], memory: null }],
      ['smolagents', 'user', { task: 'Hello?', stream: false, reset: true, images: null }],
      ['Gemini', 'user', { contents: [{ role: 'user', parts: [{ text: 'Hello?' }] }] }],
    ];
    for (const [name, role, value] of cases)
      deepEqual(messagesOf(value, role), role === 'user' ? [user('Hello?')] : [assistant('Hi.')], name);
  });

  it('ends at a depth', () => {
    let value: unknown = 'bottom';
    for (let depth = 0; depth < 100_000; depth += 1) value = { input: value };
    const omitted = new OmissionCounts();
    deepEqual([messagesOf(value, 'user', omitted), omitted.all.size], [null, 0]);
  });
});
