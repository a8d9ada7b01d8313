import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLexiconWord, mayBeLexiconWord } from '../../../src/reader/document/lexicon-words.ts';

describe('words of the lexicon', () => {
  for (const word of ['cancel', 'refund', 'bestellung', '请'])
    it(`hold ${word}`, () => equal(isLexiconWord(word), true));

  for (const word of ['', 'xyzzy', 'harkamp', 'can cel'])
    it(`do not hold "${word}"`, () => equal(isLexiconWord(word), false));

  it('begin as stems', () => {
    equal(mayBeLexiconWord('kundigungen'), true);
    equal(isLexiconWord('kundigungen'), false);
    equal(mayBeLexiconWord('xyzzy'), false);
  });
});
