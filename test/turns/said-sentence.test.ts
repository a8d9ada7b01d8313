import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { denies, isHidden, readSentence, withoutTag } from '../../src/turns/said-sentence.ts';

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

  it('is parted from the question behind it', () => {
    deepEqual(withoutTag('It has a pool for children, would you like to see it?'), [
      'It has a pool for children.',
      'would you like to see it?',
    ]);
    deepEqual(withoutTag('推荐您去北海公园，可以吗？'), ['推荐您去北海公园。', '可以吗？']);
    for (const whole of ['Where is it, and when does it open?', 'Do you want tea, or coffee?', '可以，吗？'])
      deepEqual(withoutTag(whole), [whole]);
  });

  it('asks without a mark, and says nothing in a courtesy with a condition', () => {
    deepEqual(
      ['When are you leaving.', 'When you leave, take the key.'].map((text) => readSentence(text).isQuestion),
      [true, false],
    );
    deepEqual(
      [
        'If you find the code later today, feel free to ask us again about it.',
        '好的，推荐您去北海公园。',
      ].map((text) => readSentence(text).pleasantry),
      ['all', 'opening'],
    );
  });

  it('denies, or hides all that it says', () => {
    deepEqual(['There is no table.', 'Sold out.', 'There is a table.'].map(denies), [true, true, false]);
    deepEqual(['The number is •••.', 'The red bus to ••• leaves at nine from the market.'].map(isHidden), [
      true,
      false,
    ]);
  });
});
