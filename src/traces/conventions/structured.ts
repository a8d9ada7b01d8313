import { messagesOf, type Message } from '../messages.ts';
import type { OmissionCounts } from '../omissions.ts';

/** Answers that are data: of each, the member that says it in words, if there is one. */
export function inWords(messages: readonly Message[], omitted: OmissionCounts): readonly Message[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant' || !/^\s*[[{]/.test(message.content)) return [message];
    const said = messagesOf(message.content, 'assistant') ?? [];
    const words = said.filter(({ content }) => !/^\s*[[{]/.test(content));
    if (words.length === 0) omitted.add('structured output');
    return words;
  });
}
