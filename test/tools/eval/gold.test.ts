import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { GOLD_PARTS, readGold } from '../../../tools/eval/gold.ts';
import { INFERRED_SIGNALS } from '../../../src/domain/signal-kinds.ts';

const turns = z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() }));
const signalTurn = z.object({ signals: z.array(z.string()), type: z.string().nullable() });
const gapTurn = z.object({
  gap: z.string().nullable(),
  ability: z.string().optional(),
  why: z.string().optional(),
});
const ability = z.object({ exchanges: z.array(z.object({ user: z.string() })) });
const repeatSession = z.object({ turns, repeats: z.array(z.int()) });
const textSession = z.object({
  turns,
  requests: z.array(z.string()),
  title: z.array(z.string()),
  answer: z.string().nullable(),
});
const personalText = z.object({
  text: z.string(),
  personal: z.array(z.string()),
  keep: z.array(z.string()),
});

/** Places of the lines that are not well formed: a failure shows no line. */
function faulty<T>(name: string, schema: z.ZodType<T>, isWhole: (line: T) => boolean): string[] {
  return GOLD_PARTS.flatMap((part) =>
    readGold(name, part, schema).flatMap((line, at) => (isWhole(line) ? [] : [`${part} ${at + 1}`])),
  );
}

const TYPE_OF = new Map<string, string>(INFERRED_SIGNALS.map(({ key, type }) => [key, type]));

describe('gold', () => {
  it('names known signals, all of the type of their turn', () => {
    const isWhole = ({ signals, type }: z.infer<typeof signalTurn>): boolean =>
      signals.every((key) => TYPE_OF.get(key) === type) && (signals.length === 0) === (type === null);
    deepEqual(faulty('signals', signalTurn, isWhole), []);
  });

  it('says of each gap which ability is missing, and of other turns what they are', () => {
    const isWhole = (turn: z.infer<typeof gapTurn>): boolean =>
      turn.gap === null ? turn.why !== undefined : turn.ability !== undefined;
    deepEqual(faulty('gaps', gapTurn, isWhole), []);
  });

  it('holds ten exchanges of each ability, no request twice', () => {
    const isWhole = ({ exchanges }: z.infer<typeof ability>): boolean =>
      exchanges.length === 10 && new Set(exchanges.map(({ user }) => user)).size === 10;
    deepEqual(faulty('abilities', ability, isWhole), []);
  });

  it('marks as repeats user turns after an assistant turn', () => {
    const isWhole = (session: z.infer<typeof repeatSession>): boolean =>
      session.repeats.every(
        (at) =>
          session.turns[at]?.role === 'user' &&
          session.turns.slice(0, at).some(({ role }) => role === 'user') &&
          session.turns[at - 1]?.role === 'assistant',
      );
    deepEqual(faulty('repeats', repeatSession, isWhole), []);
  });

  it('takes requests and answers of sessions word for word from their turns', () => {
    const isWhole = ({ turns: own, requests, title, answer }: z.infer<typeof textSession>): boolean => {
      const isIn = (text: string, by: string): boolean =>
        own.some(({ role, content }) => role === by && content.includes(text));
      return (
        requests.every((request) => isIn(request, 'user')) &&
        (answer === null || isIn(answer, 'assistant')) &&
        (requests.length > 0 || title.length === 0)
      );
    };
    deepEqual(faulty('session-texts', textSession, isWhole), []);
  });

  it('lists parts that stand in their text, and none both as personal and to be kept', () => {
    const isWhole = ({ text, personal, keep }: z.infer<typeof personalText>): boolean =>
      [...personal, ...keep].every((part) => text.includes(part)) &&
      !personal.some((part) => keep.some((kept) => kept.includes(part)));
    deepEqual(faulty('personal-data', personalText, isWhole), []);
  });
});
