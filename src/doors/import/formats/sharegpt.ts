/**
 * Reads ShareGPT: `conversations` of `from` and `value`.
 * Source: the dataset cards of ShareGPT dumps; github.com/hiyouga/LLaMA-Factory data/README.md (ShareGPT format).
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, conversations, objectsOf } from './format.ts';

const ROLES: ReadonlyMap<string, string> = new Map([
  ...['human', 'user', 'prompter'].map((from) => [from, 'user'] as const),
  ...['gpt', 'chatgpt', 'assistant', 'bing', 'bard', 'model', 'bot'].map(
    (from) => [from, 'assistant'] as const,
  ),
]);
const OMITTED_ROLES: ReadonlyMap<string, string> = new Map([
  ['function_call', 'tool call'],
  ['observation', 'tool result'],
]);
const LISTS = ['conversations', 'conversation', 'items'] as const;

export const sharegpt = conversations({
  name: 'sharegpt',
  title: 'ShareGPT',
  recognise: byShare({
    holds: (value) => LISTS.flatMap((name) => objectsOf(value[name])).some(isTurn),
    confidence: 0.95,
    reason: 'entries have conversations of from and value, or of role and content',
  }),
  read(value) {
    const list = LISTS.find((name) => Array.isArray(value[name]));
    if (list === undefined)
      return { fault: 'conversations: missing; expected an array of {"from", "value"}' };
    const { system: prompt, chosen } = value;
    const system = textOf(prompt) === undefined ? [] : [{ role: 'system', content: String(prompt) }];
    // The preferred answer of a preference pair.
    const preferred = isObject(chosen) ? [chosen] : [];
    const faultAt = (index: number): string =>
      `${list}.${index - system.length}: must be an object such as {"from": "human", "value": "…"}`;
    return {
      id: textOf(value['id']),
      messages: [...system, ...(value[list] as unknown[]), ...preferred],
      turn(message, index) {
        const from = textOf(message['from'] ?? message['role']);
        const text = message['value'] ?? message['content'] ?? '';
        if (from === undefined || typeof text !== 'string') return { fault: faultAt(index) };
        return OMITTED_ROLES.get(from) ?? { role: ROLES.get(from.toLowerCase()) ?? from, content: text };
      },
      faultAt,
    };
  },
});

function isTurn(turn: Record<string, unknown>): boolean {
  if ('from' in turn) return 'value' in turn;
  return typeof turn['role'] === 'string' && typeof turn['content'] === 'string';
}
