import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFeedback } from '../../../src/web/ingest/feedback-body.ts';

const SESSION = '0C5A1F62-2F7D-4C0A-8F8E-6A3F9D1B2C44';

describe('a body of feedback', () => {
  it('has ids in lower case, and times in microseconds', () => {
    deepEqual(
      parseFeedback({ sessionId: SESSION, at: '2026-01-31T09:30:00.000001Z', value: -1, userId: 'ada' }),
      {
        pieces: [
          {
            sessionId: SESSION.toLowerCase(),
            instanceId: undefined,
            feedback: { value: -1, at: Date.UTC(2026, 0, 31, 9, 30) * 1000 + 1, userId: 'ada' },
          },
        ],
        isList: false,
      },
    );
    const piece = { sessionId: SESSION, value: 0, position: 7, rating: 5 };
    const { pieces } = parseFeedback(piece);
    deepEqual(pieces[0]?.feedback, { value: 0, position: 7, rating: 5 });
    deepEqual(parseFeedback({ feedback: [piece] }), { pieces, isList: true });
    equal(parseFeedback({ feedback: Array(100).fill(piece) }).pieces.length, 100);
  });

  it('names every fault of a list by its place', () => {
    const piece = { sessionId: SESSION, value: 1 };
    throws(() => parseFeedback({ feedback: [piece, { value: 1 }, { ...piece, value: 2 }] }), {
      code: 'VALIDATION_ERROR',
      details: [
        { path: 'feedback.1.sessionId', message: 'is required' },
        { path: 'feedback.2.value', message: 'must be 1, -1 or 0' },
      ],
    });
  });

  const faults: readonly [body: unknown, says: RegExp][] = [
    [null, /must be a JSON object/],
    [{ feedback: [] }, /feedback must hold 1 to 100 pieces/],
    [{ feedback: Array(101).fill({ sessionId: SESSION, value: 1 }) }, /feedback must hold 1 to 100 pieces/],
    [{ feedback: 'good' }, /feedback must be an array of feedback/],
    [{ feedback: [null] }, /feedback.0 must be a JSON object/],
    [{ feedback: [{ sessionId: SESSION, value: 1 }], value: 1 }, /value is not a member/],
    [{ value: 1 }, /sessionId is required/],
    [{ sessionId: SESSION, value: 0.5 }, /value must be 1, -1 or 0/],
    [{ sessionId: SESSION, value: 1, rating: 0 }, /rating must be a whole number from 1 to 5/],
    [{ sessionId: SESSION, value: 1, comment: 'x'.repeat(4001) }, /must not be longer than 4000 characters/],
    [{ sessionId: SESSION, value: 1, userId: '' }, /userId must not be empty/],
    [{ sessionId: SESSION, value: 1, position: -1 }, /position must be at least 0/],
  ];
  for (const [body, says] of faults)
    it(`is refused: ${JSON.stringify(body).slice(0, 80)}`, () => {
      throws(() => parseFeedback(body), says);
    });
});
