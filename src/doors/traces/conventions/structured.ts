/**
 * Answers that are data. Keeps the invariant that data without words is no message. Test:
 * test/doors/traces/conventions/ai-sdk.test.ts, gen-ai.test.ts.
 */
import type { Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';
import { isObject } from '../values.ts';
import { parsed } from './recorded.ts';

/** Members of data in which a model says something to a person, most telling first. `result` or `value` may be data. */
const WORDS = ['answer', 'reply', 'response', 'message', 'text', 'content'];

/** Answers that are data: of each, the member that says it in words, if there is one. */
export function inWords(messages: readonly Message[], omitted: OmissionCounts): readonly Message[] {
  return messages.flatMap((message) => {
    const data = parsed(message.content);
    if (message.role !== 'assistant' || typeof data !== 'object' || data === null) return [message];
    const words = isObject(data)
      ? WORDS.map((name) => data[name]).find((value) => typeof value === 'string')
      : '';
    if (typeof words === 'string' && words.trim() !== '') return [{ ...message, content: words }];
    omitted.add('structured output');
    return [];
  });
}
