import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TurnReport } from '../../../src/domain/writings.ts';
import { EndedSessions } from '../../../src/doors/writer/ended-sessions.ts';

const IDLE = 1000;

function turn(at: number, fields: Partial<TurnReport> = {}): TurnReport {
  return {
    instance: 1,
    instanceId: 'i',
    sessionId: 's',
    at,
    speaker: at % 2 === 1 ? 'user' : 'assistant',
    text: `turn ${at}`,
    ...fields,
  };
}

function sessionsWith(turns: readonly TurnReport[], now = 0): EndedSessions {
  const sessions = new EndedSessions(IDLE);
  for (const one of turns) sessions.hear(one, 'p', now);
  return sessions;
}

describe('ended sessions', () => {
  it('are those without a turn for a while, each once until it goes on', () => {
    const sessions = sessionsWith([turn(1), turn(2)]);
    deepEqual(sessions.takeEnded(IDLE - 1), []);
    const [ended] = sessions.takeEnded(IDLE);
    deepEqual(ended, {
      instanceId: 'i',
      projectId: 'p',
      id: 's',
      at: 2,
      lines: [
        { speaker: 'user', text: 'turn 1' },
        { speaker: 'assistant', text: 'turn 2' },
      ],
    });
    deepEqual(sessions.takeEnded(9 * IDLE), []);
    sessions.hear(turn(3), 'p', 10 * IDLE);
    deepEqual(sessions.takeEnded(10 * IDLE + 1), []);
    equal(sessions.takeEnded(11 * IDLE)[0]?.at, 3);
  });

  it('count turns that are not analysed, and leave them out', () => {
    const sessions = sessionsWith([
      turn(1, { speaker: 'other', text: '' }),
      turn(2, { speaker: 'user' }),
      turn(3),
      turn(4),
    ]);
    const [ended] = sessions.takeEnded(IDLE);
    equal(ended?.at, 4);
    equal(ended?.lines.length, 3);
  });

  for (const [what, turns] of [
    ['whose beginning is not known', [turn(3), turn(4)]],
    ['of which a turn is missing', [turn(1), turn(2), turn(4)]],
    ['of a single turn', [turn(1)]],
    ['without a turn of the user', [turn(1, { speaker: 'assistant' }), turn(2)]],
  ] as const) {
    it(`are not those ${what}`, () => deepEqual(sessionsWith(turns).takeEnded(IDLE), []));
  }

  it('are kept within bounds: beginning and end of a long one, the latest of many', () => {
    const long = Array.from({ length: 500 }, (_, index) =>
      turn(index + 1, { text: `${index + 1} ${'x'.repeat(400)}` }),
    );
    const lines =
      sessionsWith(long)
        .takeEnded(IDLE)[0]
        ?.lines.map(({ text }) => Number.parseInt(text)) ?? [];
    deepEqual(lines.slice(0, 4), [1, 2, 3, 4]);
    equal(lines.at(-1), 500);
    ok(lines.length < 30, String(lines.length));
    const many = Array.from({ length: 5000 }, (_, index) =>
      [1, 2].map((at) => turn(at, { sessionId: `s${index}` })),
    );
    const ended = sessionsWith(many.flat()).takeEnded(IDLE);
    equal(ended.length, 2000);
    equal(ended.at(-1)?.id, 's4999');
  });
});
