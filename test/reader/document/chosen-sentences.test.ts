import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  chosenSentences,
  joinedSentences,
  type WeighedSentence,
} from '../../../src/reader/document/chosen-sentences.ts';

const sentence = (text: string, score: number, words: number): WeighedSentence => ({ text, score, words });

describe('chosenSentences', () => {
  it('keeps all of a short turn', () => {
    const both = [sentence('It is late.', 1, 3), sentence('Where is it?', 2, 3)];
    deepEqual(chosenSentences(both), both);
  });

  it('keeps the best up to sixty words, in their order', () => {
    const [story, request, detail] = [
      sentence('story', 1, 40),
      sentence('request', 3, 30),
      sentence('detail', 2, 20),
    ];
    deepEqual(chosenSentences([story, request, detail]), [request, detail]);
  });

  it('keeps a sentence that is longer than that when it is the best', () => {
    const long = sentence('long', 3, 200);
    deepEqual(chosenSentences([sentence('short', 1, 2), long]), [long]);
  });
});

describe('joinedSentences', () => {
  it('cuts a long text at a word', () => {
    const text = joinedSentences([sentence('alpha '.repeat(100).trim(), 1, 100), sentence('end', 1, 1)]);
    ok(text.length <= 400 && text.endsWith('alpha'));
    equal(joinedSentences([sentence('a b', 1, 2), sentence('c', 1, 1)]), 'a b c');
  });
});
