import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { feedbackIn, ratingOf, scoreOf, thumbOf } from '../../../src/doors/traces/given-feedback.ts';

describe('a thumb', () => {
  it('is read as people and programs write it', () => {
    const up = [
      1,
      '1',
      '1.0',
      '+1',
      true,
      'true',
      ' Up ',
      'thumbs_up',
      'Thumbs up',
      'positive',
      '👍',
      '👍🏽',
      '👍️',
    ];
    const down = [-1, '-1', false, 'FALSE', 'down', 'thumbs-down', 'negative', '👎', '👎🏿'];
    deepEqual([...new Set(up.map((value) => thumbOf(value)))], [1]);
    deepEqual([...new Set(down.map((value) => thumbOf(value)))], [-1]);
  });

  it('is none where it may mean something else', () => {
    const none = [0, '0', 2, 0.5, '', ' ', null, undefined, 'maybe', 'the answer is good', {}, [1], NaN];
    deepEqual([...new Set(none.map((value) => thumbOf(value)))], [null]);
  });
});

describe('a rating', () => {
  it('is a whole number from 1 to 5', () => {
    deepEqual(
      [1, '5', '4.0', 3].map((value) => ratingOf(value)),
      [1, 5, 4, 3],
    );
    deepEqual(
      [0, 6, 2.5, '10', '', 'five', true].map((value) => ratingOf(value)),
      Array(7).fill(null),
    );
  });

  it('alone is good, bad or nothing, and stands beside a thumb', () => {
    deepEqual(
      [1, 2, 3, 4, 5].map((rating) => feedbackIn(null, rating)),
      [
        { value: -1, rating: 1 },
        { value: -1, rating: 2 },
        null,
        { value: 1, rating: 4 },
        { value: 1, rating: 5 },
      ],
    );
    deepEqual(feedbackIn('down', 5), { value: -1, rating: 5 });
    deepEqual(feedbackIn('up', 3), { value: 1, rating: 3 });
    equal(feedbackIn('', ' '), null);
    // A thumb counts, whatever stands beside it.
    deepEqual(feedbackIn('up', 7), { value: 1 });
    deepEqual([feedbackIn('maybe', 5), feedbackIn('', 7)], [undefined, undefined], 'one cannot be read');
  });
});

describe('a score of a trace', () => {
  it('counts if its name says that an end user gave it', () => {
    const named = (name: string, value: unknown) => scoreOf(name, value)?.value ?? null;
    deepEqual(
      [named('user-feedback', 1), named('user_feedback', 0), named('User Feedback', -1)],
      [1, -1, -1],
    );
    deepEqual([named('thumbs', true), named('thumbs_up', 0), named('user_score', 'negative')], [1, -1, -1]);
    deepEqual(
      ['helpfulness', 'relevance', 'feedback', 'thumbs_down', ''].map((name) => named(name, 1)),
      Array(5).fill(null),
    );
    deepEqual([named('user-feedback', 0.5), named('user-feedback', 4)], [null, null]);
  });
});
