import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  foldedWordsOf,
  isFoldedStopWord,
  isUnspaced,
  wordCount,
  wordsOf,
} from '../../../src/reader/document/words.ts';

describe('words', () => {
  it('are counted in scripts with and without spaces', () => {
    equal(wordCount('cancel my order'), 3);
    equal(wordCount('我想取消订单'), 3);
    ok(isUnspaced('取消') && !isUnspaced('cancel'));
  });

  it('of a folded text are parted at hyphens and dots', () => {
    deepEqual(foldedWordsOf("don't e-mail a.b"), ["don't", 'e', 'mail', 'a', 'b']);
  });

  it('keep addresses, names and hyphenated words whole, and know where they begin', () => {
    deepEqual(
      wordsOf('Mail jo.doe@example.com: Check-in').map(({ text, start, afterBreak }) => [
        text,
        start,
        afterBreak,
      ]),
      [
        ['Mail', 0, false],
        ['jo.doe@example.com', 5, false],
        ['Check-in', 25, true],
      ],
    );
  });

  it('carry meaning unless they are stop words, numbers or particles', () => {
    const content = (text: string): string[] =>
      wordsOf(text)
        .filter((word) => word.content)
        .map((word) => word.text);
    deepEqual(content('I want to cancel my order 66'), ['cancel', 'order']);
    deepEqual(content('Ich möchte meine Bestellung stornieren'), ['Bestellung', 'stornieren']);
    deepEqual(content('我想取消订单'), ['取消', '订单']);
  });

  it('tie a name together or are left out of it', () => {
    const [proof, of, the] = wordsOf('proof of the');
    deepEqual([proof?.connector, of?.connector, the?.determiner], [false, true, true]);
  });

  it('say nothing of a turn when they are stop words of any language', () => {
    ok(['the', 'mochte', 'tres', 'nao', 'something'].every(isFoldedStopWord));
    ok(!['order', 'bestellung'].some(isFoldedStopWord));
  });
});
