import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastCheck from 'fast-check';
import { conversationOfSpans, type Span } from '../../../../src/doors/import/formats/traces.ts';

type HistoryTurn = readonly [role: string, content: string];

/** What a conversation is when each message is looked for among all that is known, one by one. */
function lookedThrough(
  calls: readonly { readonly asked: readonly HistoryTurn[]; readonly answer: string }[],
): HistoryTurn[] {
  const turns: HistoryTurn[] = [];
  const addUnknown = (messages: readonly HistoryTurn[], from: number): void => {
    let next = messages.length > 1 ? 0 : from;
    const known = turns.length;
    for (const [role, content] of messages) {
      const found = turns.findIndex(
        (turn, index) => index >= next && index < known && turn[0] === role && turn[1] === content,
      );
      if (found === -1) turns.push([role, content]);
      else next = found + 1;
    }
  };
  for (const { asked, answer } of calls) {
    const end = asked.findLastIndex(([role]) => role === 'assistant') + 1;
    addUnknown(asked.slice(0, end), 0);
    const last = turns.at(-1);
    for (const [index, [role, content]] of asked.slice(end).entries())
      if (index > 0 || last?.[0] !== 'user' || last[1] !== content) turns.push([role, content]);
    addUnknown([['assistant', answer]], turns.length);
  }
  return turns;
}

describe('a conversation of spans', () => {
  it('knows what was said as if it looked through all of it', () => {
    const word = fastCheck.constantFrom('a', 'b', 'c');
    const history = fastCheck.array(fastCheck.tuple(fastCheck.constantFrom('user', 'assistant'), word), {
      maxLength: 8,
    });
    const call = fastCheck.record({ history, question: word, answer: word });
    fastCheck.assert(
      fastCheck.property(fastCheck.array(call, { maxLength: 6 }), (calls) => {
        const asked = calls.map(({ history: earlier, question, answer }) => ({
          asked: [...earlier, ['user', question] as const],
          answer,
        }));
        const spans = asked.map(({ asked: earlier, answer }, index): Span => ({
          id: String(index),
          trace: String(index),
          isRoot: true,
          isCall: true,
          input: { messages: earlier.map(([role, content]) => ({ role, content })) },
          output: { role: 'assistant', content: answer },
        }));
        const reading = conversationOfSpans('id', 'source', spans);
        const turns = 'line' in reading ? reading.line.turns : [];
        deepEqual(
          turns.map(({ role, content }) => [role, content]),
          lookedThrough(asked),
        );
      }),
      { seed: 26, numRuns: 300 },
    );
  });
});
