/**
 * Reads ShareGPT: `conversations` of `from` and `value`.
 * Source: the dataset cards of ShareGPT dumps; github.com/hiyouga/LLaMA-Factory data/README.md (ShareGPT format).
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, objectsOf, shareOf, type EntryFormat, type Reading, type Turn } from './format.ts';

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

export const sharegpt: EntryFormat = {
  kind: 'entries',
  name: 'sharegpt',
  title: 'ShareGPT',
  recognise({ values }) {
    return byShare(
      shareOf(values, (value) => turnsOf(value).some((turn) => isTurn(turn))),
      0.95,
      'entries have conversations of from and value, or of role and content',
    );
  },
  read(value): Reading {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const list = LISTS.find((name) => Array.isArray(value[name]));
    if (list === undefined)
      return { fault: 'conversations: missing; expected an array of {"from", "value"}' };
    const omitted = new OmissionCounts();
    const system = textOf(value['system']);
    const turns: Turn[] = system === undefined ? [] : [{ role: 'system', content: system }];
    // The preferred answer of a preference pair.
    const chosen = isObject(value['chosen']) ? [value['chosen']] : [];
    for (const [index, turn] of [...(value[list] as unknown[]), ...chosen].entries()) {
      const from = isObject(turn) ? textOf(turn['from'] ?? turn['role']) : undefined;
      const text = isObject(turn) ? (turn['value'] ?? turn['content']) : undefined;
      if (from === undefined || (typeof text !== 'string' && (text ?? null) !== null))
        return { fault: `${list}.${index}: must be an object such as {"from": "human", "value": "…"}` };
      const omission = OMITTED_ROLES.get(from);
      if (omission !== undefined) omitted.add(omission);
      else if (typeof text !== 'string' || text.trim() === '') omitted.add('message without text');
      else turns.push({ role: ROLES.get(from.toLowerCase()) ?? from, content: text });
    }
    return { line: { id: textOf(value['id']), turns }, omitted: omitted.all };
  },
};

function isTurn(turn: Record<string, unknown>): boolean {
  if ('from' in turn) return 'value' in turn;
  return typeof turn['role'] === 'string' && typeof turn['content'] === 'string';
}

function turnsOf(value: Record<string, unknown>): Record<string, unknown>[] {
  return LISTS.flatMap((name) => objectsOf(value[name]));
}
