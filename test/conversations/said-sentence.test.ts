import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { denies, isHidden, readSentence } from '../../src/conversations/said-sentence.ts';

describe('what a sentence of an assistant does', () => {
  it('asks alone, or states something before it asks', () => {
    const asks = (sentence: string): boolean => readSentence(sentence).onlyAsks;
    deepEqual(
      [
        'Please confirm the date.',
        'To send the lamp, I need your address.',
        'The lamp is in stock, please confirm the date.',
        'Which date?',
        'How about Monday the 4th?',
      ].map(asks),
      [true, true, false, true, false],
    );
  });

  it('says what is to be confirmed without asking', () => {
    const { text, recaps } = readSentence('Please confirm the following: a table for two at nine on Friday.');
    deepEqual([text, recaps], ['a table for two at nine on Friday.', true]);
  });

  it('denies, or hides all that it says', () => {
    deepEqual(['There is no table.', 'Sold out.', 'There is a table.'].map(denies), [true, true, false]);
    deepEqual(['The number is •••.', 'The red bus to ••• leaves at nine from the market.'].map(isHidden), [
      true,
      false,
    ]);
  });
});
