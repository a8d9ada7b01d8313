import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clausesOf, sentencesOf, shownSentencesOf } from '../../src/language/sentences.ts';

describe('sentences', () => {
  it('end at marks and lines, but not inside numbers, names and addresses', () => {
    deepEqual(sentencesOf('Hi Dr. Who. It costs 3.50 at example.com! Ok?? 你好。谢谢！\nNext'), [
      'Hi Dr. Who.',
      'It costs 3.50 at example.com!',
      'Ok??',
      '你好。',
      '谢谢！',
      'Next',
    ]);
    deepEqual(sentencesOf(''), []);
  });

  it('stay open after an abbreviation, over line ends too', () => {
    deepEqual(sentencesOf(' Ask Dr.\n\nWho. Or Prof.'), ['Ask Dr.\n\nWho.', 'Or Prof.']);
    deepEqual(sentencesOf('Ask xdr. Who (dr. No)?'), ['Ask xdr.', 'Who (dr. No)?']);
  });

  it('end at every mark where they are shown', () => {
    deepEqual(shownSentencesOf('Ask Dr. Who. See example.com! 你好。 '), [
      'Ask Dr.',
      'Who.',
      'See example.',
      'com!',
      '你好。',
    ]);
    deepEqual(shownSentencesOf(''), []);
  });

  it('are cut into clauses at marks and conjunctions of any language', () => {
    deepEqual(clausesOf('I moved, so change my address and tell the bank'), [
      'I moved',
      'so change my address',
      'and tell the bank',
    ]);
    deepEqual(clausesOf('Ich war dort aber niemand kam'), ['Ich war dort', 'aber niemand kam']);
  });
});
