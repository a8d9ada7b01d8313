import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analysedPart, anyOf, fold, sentencesOf, wordCount } from '../../src/language/text.ts';

describe('text', () => {
  it('folds case, accents, apostrophes and spaces, and leaves other scripts whole', () => {
    equal(fold('  Où ÊTES-vous ?\n Don’t  Straße '), "ou etes-vous ? don't strasse");
    equal(fold('Ёж й が パ'), 'ёж й が パ');
  });

  it('splits sentences, but not numbers, names and addresses', () => {
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

  it('holds a sentence open after an abbreviation, over line ends too', () => {
    deepEqual(sentencesOf(' Ask Dr.\n\nWho. Or Prof.'), ['Ask Dr.\n\nWho.', 'Or Prof.']);
    deepEqual(sentencesOf('Ask xdr. Who (dr. No)?'), ['Ask xdr.', 'Who (dr. No)?']);
  });

  it('leaves out marks that no script puts on one letter', () => {
    equal(fold(`п${'\u0308'.repeat(5000)}`).length, 31);
  });

  it('counts words in scripts with and without spaces', () => {
    equal(wordCount('cancel my order'), 3);
    equal(wordCount('我想取消订单'), 3);
  });

  it('cuts a long message always in the same place and keeps its start and end', () => {
    const long = `START ${'x'.repeat(50_000)} END`;
    const part = analysedPart(long);
    ok(part.length < 9000 && part.startsWith('START') && part.endsWith('END'));
    equal(analysedPart('a\ud800b'), 'a\ufffdb');
  });

  it('matches whole words of spaced scripts and anything of the others', () => {
    const pattern = anyOf(['no'], ['不']);
    ok(pattern.test('oh no!') && pattern.test('我不要') && !pattern.test('know'));
  });

  it('lets a group of a pattern repeat sixteen times', () => {
    equal(`${'oh '.repeat(20)}no`.replace(anyOf(['(?:oh )*no']), ''), 'oh '.repeat(4));
    equal(`so${' very'.repeat(20)}`.replace(anyOf(['so(?: very)+']), ''), ' very'.repeat(4));
  });
});
