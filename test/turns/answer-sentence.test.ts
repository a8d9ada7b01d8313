import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerOf } from '../../src/turns/answer-sentence.ts';
import { readSentence } from '../../src/turns/said-sentence.ts';

const scores = (...sentences: string[]): number[] => {
  const said = sentences.map(readSentence);
  return said.map((_, place) => answerOf(said, place).score);
};

describe('a sentence as an answer', () => {
  it('scores less the less it states', () => {
    const all = [
      'The pool opens at nine.',
      'Noon.',
      'Happy to help!',
      'Please provide the receipt that came with it.',
    ].map((sentence) => scores(sentence)[0]!);
    deepEqual(
      all,
      all.toSorted((one, other) => other - one),
    );
  });

  it('is a head with its list, without what is hidden', () => {
    const said = ['Your orders are:', '- Order •••', '- a lamp', '- a chair'].map(readSentence);
    equal(answerOf(said, 0).text, 'Your orders are: a lamp; a chair');
  });
});
