import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FoldedPhrases } from '../../../src/reader/document/folded-phrases.ts';

const entries = (
  spaced: readonly string[],
  unspaced: readonly string[] = [],
): ConstructorParameters<typeof FoldedPhrases>[0] => ({ spaced, unspaced, all: [...spaced, ...unspaced] });

describe('FoldedPhrases', () => {
  it('takes whole phrases away, the longest first, accents aside', () => {
    const phrases = new FoldedPhrases(entries(['déjà essayé', 'déjà']));
    equal(phrases.without('deja essaye, deja vu, dejavu'), ' ,   vu, dejavu');
  });

  it('gives back the text that holds none', () => {
    const phrases = new FoldedPhrases(entries(['kind regards']));
    equal(phrases.without('with regards to my order'), 'with regards to my order');
  });

  it('looks at what may follow', () => {
    const phrases = new FoldedPhrases(entries(['i tried']), '(?! to )');
    equal(phrases.without('i tried to pay'), 'i tried to pay');
    equal(phrases.without('i tried twice'), '  twice');
  });

  it('finds phrases anywhere where no spaces stand between words', () => {
    equal(new FoldedPhrases(entries([], ['不行'])).without('还是不行了'), '还是 了');
  });
});
