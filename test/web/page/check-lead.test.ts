import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHECKED } from '../../../src/domain/checks.ts';
import type { SessionResponse } from '../../../src/web/page/client/api.ts';
import { beginningOf, leadOf } from '../../../src/web/page/client/check-lead.ts';

type Message = SessionResponse['messages'][number];

const some = { id: '0190d5a8-0000-7000-8000-000000000001', name: 'Some' };

function turn(role: 'user' | 'assistant', content: string, more: Partial<Message> = {}): Message {
  return {
    position: 1,
    role,
    content,
    gone: null,
    externalId: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    metadata: null,
    topic: null,
    labels: [],
    signals: [],
    feedback: { up: 0, down: 0 },
    gap: null,
    repeatedRequest: null,
    ...more,
  };
}

const gap = { ...some, gapType: 'TOOL' } as const;
const CONVERSATION = [
  turn('user', 'Where is my order?'),
  turn('assistant', 'It arrives on Monday.'),
  turn('user', 'Cancel it.'),
  turn('assistant', 'I cannot cancel orders.', { gap }),
  turn('user', 'Then I will refuse it.'),
  turn('assistant', 'Very well.'),
] as const;

const leadIn = (of: (typeof CHECKED)[number], messages: readonly Message[]): (string | null)[] =>
  leadOf(of, messages).map(({ message }) => message.content);
const textsAt = (...indices: number[]): (string | null)[] => indices.map((at) => CONVERSATION[at]!.content);

describe('a check leads with', () => {
  it('what the user wrote, for a topic, a repeated request and a label', () => {
    for (const checked of ['TOPIC', 'REPEATED_REQUEST', 'LABEL'] as const)
      deepEqual(leadIn(checked, CONVERSATION), textsAt(0, 2, 4));
  });

  it('each reaction of the user and the reply before it, for a signal', () => {
    deepEqual(leadIn('SIGNAL', CONVERSATION), textsAt(1, 2, 3, 4));
    const [request, reply, ...others] = CONVERSATION;
    // Two messages in a row have one reply before them.
    deepEqual(
      leadIn('SIGNAL', [request, reply, request, request]),
      [1, 0, 0].map((at) => textsAt(at)[0]),
    );
    // Nobody reacts.
    deepEqual(leadIn('SIGNAL', [request, request]), textsAt(0, 0));
    deepEqual(leadIn('SIGNAL', [reply, ...others.slice(-1)]), textsAt(1, 5));
  });

  it('each reply that admits a gap and the question before it, for a gap; without one, what the user wrote', () => {
    for (const checked of ['GAP', 'GAP_TYPE'] as const) {
      deepEqual(leadIn(checked, CONVERSATION), textsAt(2, 3));
      deepEqual(leadIn(checked, [...CONVERSATION.slice(0, 2), ...CONVERSATION.slice(4)]), textsAt(0, 4));
    }
  });

  it('the last message of the user with the replies around it, for an outcome', () => {
    deepEqual(leadIn('OUTCOME', CONVERSATION), textsAt(3, 4, 5));
    deepEqual(leadIn('OUTCOME', CONVERSATION.slice(0, 1)), textsAt(0));
    deepEqual(leadIn('OUTCOME', CONVERSATION.slice(1, 2)), textsAt(1));
  });

  it('the same turns, wherever something was found', () => {
    const found = {
      topic: some,
      labels: [some],
      signals: [{ ...some, signalType: 'SAT' as const }],
      repeatedRequest: some,
    };
    for (const checked of CHECKED)
      for (const at of CONVERSATION.keys())
        deepEqual(
          leadIn(checked, CONVERSATION.with(at, { ...CONVERSATION[at]!, ...found })),
          leadIn(checked, CONVERSATION),
        );
    // Which gap a reply admits does not matter either.
    const other = CONVERSATION.with(3, { ...CONVERSATION[3], gap: { ...gap, gapType: 'KNOWLEDGE' } });
    deepEqual(leadIn('GAP', other), leadIn('GAP', CONVERSATION));
  });
});

describe('the beginning of a text', () => {
  it('ends between words, and only where the text is longer by more than a quarter', () => {
    equal(beginningOf('one two three four', 9), 'one two');
    equal(beginningOf('one two three', 11), 'one two three');
    equal(beginningOf('', 9), '');
  });

  it('ends anywhere in a text without spaces, but not within a character', () => {
    equal(beginningOf('x'.repeat(50), 9), 'x'.repeat(9));
    const cut = beginningOf('😀'.repeat(50), 9);
    equal(cut, '😀'.repeat(4));
    ok(cut.isWellFormed());
  });
});
