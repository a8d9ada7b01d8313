import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { denies, isHidden, readSentence, withoutTag } from '../../../src/reader/acts/scored-sentence.ts';

describe('what a sentence of an assistant does', () => {
  it('does one thing first of all', () => {
    deepEqual(
      [
        'The lamp is in stock.',
        'Which date?',
        'When are you leaving.',
        'When you leave, take the key.',
        'How about Monday the 4th?',
        'I am transferring you to our team.',
        'I can transfer you to our team.',
        'Unfortunately that is not possible.',
        'Your table is booked.',
        'You get a mail once the table is booked.',
      ].map((text) => readSentence(text).act),
      ['answer', 'ask', 'ask', 'answer', 'suggest', 'hand-over', 'offer', 'refuse', 'done', 'answer'],
    );
  });

  it('asks alone, or states something before it asks', () => {
    deepEqual(
      [
        'Please confirm the date.',
        'To send the lamp, I need your address.',
        'The lamp is in stock, please confirm the date.',
        'Which date?',
      ].map((sentence) => readSentence(sentence).score < 0),
      [true, true, false, true],
    );
  });

  it('scores less the less it states', () => {
    const all = [
      'The pool opens at nine.',
      'Noon.',
      'Happy to help!',
      'Please provide the receipt that came with it.',
    ].map((sentence) => readSentence(sentence).score);
    deepEqual(
      all,
      all.toSorted((one, other) => other - one),
    );
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

  it('says nothing in a courtesy with a condition', () => {
    deepEqual(
      [
        'If you find the code later today, feel free to ask us again about it.',
        '好的，推荐您去北海公园。',
      ].map((text) => readSentence(text).manners),
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
