import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UndertoneError } from '../../../src/doors/client/errors.ts';
import { sendFeedback, type FeedbackPiece } from '../../../src/doors/import/feedback-requests.ts';

const piece = (index: number): FeedbackPiece => ({
  index,
  body: { instanceId: 'i', sessionId: `s${index}`, value: 1 },
});

describe('lists of feedback', () => {
  it('end also where a refusal names a piece that is not in the list', async () => {
    const sent: number[] = [];
    const refused: (readonly [number, string])[] = [];
    const giveFeedback = (bodies: readonly object[]): Promise<never> => {
      sent.push(bodies.length);
      const details = [{ path: 'feedback.7.value', message: 'is wrong' }];
      return Promise.reject(new UndertoneError('VALIDATION_ERROR', 'no', { status: 400, details }));
    };
    await sendFeedback({ giveFeedback }, [0, 1, 2].map(piece), {
      stored: () => undefined,
      refused: ({ index }, { path }) => refused.push([index, path]),
      isEnded: () => false,
    });
    deepEqual(
      refused.toSorted(([a], [b]) => a - b),
      [0, 1, 2].map((index) => [index, 'feedback']),
    );
    deepEqual(sent, [3, 2, 1, 1, 1]);
  });
});
