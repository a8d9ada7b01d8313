import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PhraseSet, phraseWordsOf } from '../../../src/reader/shortening/phrase-set.ts';

const set = new PhraseSet(
  ['are you', 'are you there', 'forward your … to', 'perenn-', 'est-ce que'],
  ['请稍等'],
);
const first = (text: string): number => set.firstIn(text, phraseWordsOf(text));

describe('PhraseSet', () => {
  it('finds the longest phrase, with gaps and beginnings', () => {
    equal(set.endAt(phraseWordsOf('Are you there?'), 0), 3);
    equal(set.endAt(phraseWordsOf('forward your long letter to'), 0), 5);
    equal(set.endAt(phraseWordsOf('forward your one two three four five to'), 0), 0);
    equal(first('the perennial plants'), 1);
    equal(first('Est-ce que'), 0);
    equal(first('nothing'), -1);
  });

  it('finds phrases without spaces anywhere, and at the ends', () => {
    equal(first('好的请稍等一下'), 0);
    equal(set.unspacedAt('请稍等一下', 0), 3);
    equal(set.unspacedAt('一请稍等', 0), 0);
    equal(set.unspacedAtEnd('好的请稍等'), 3);
  });

  it('counts the words of a phrase at the end', () => {
    equal(set.lengthAtEnd(phraseWordsOf('where are you')), 2);
    equal(set.lengthAtEnd(phraseWordsOf('you are where')), 0);
  });

  it('finds phrases of sets that are made after a word was read', () => {
    const text = 'the quokka sleeps in a burrow';
    phraseWordsOf(text);
    const late = Array.from({ length: 40 }, () => new PhraseSet(['quokka sleeps', 'bur-'], []));
    for (const set of late) equal(set.firstIn(text, phraseWordsOf(text)), 1);
    const words = phraseWordsOf('in a burrow');
    for (const set of late) equal(set.endAt(words, 2), 3);
  });
});
