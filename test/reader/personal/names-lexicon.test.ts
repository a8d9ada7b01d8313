import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LEXICON } from '../../../src/reader/document/lexicon.ts';
import { personNames } from '../../../src/reader/personal/names-lexicon.ts';

describe('names of persons', () => {
  it('are words in lower case, thousands of them', () => {
    const all = Object.values(personNames()).flatMap((names) => [...names]);
    deepEqual(
      all.filter((name) => name !== name.toLowerCase() || /[^\p{L}\p{M}'’\u200c]/u.test(name)),
      [],
    );
    equal(personNames().given.size > 5000 && personNames().family.size > 1000, true);
  });

  it('hold no word that hides without a cue and is a word or a thing as well', () => {
    const { given, words, things } = personNames();
    const stopWords = new Set(LEXICON.stopWords.all);
    deepEqual(
      [...given].filter((name) => words.has(name) || things.has(name) || stopWords.has(name)),
      [],
    );
  });
});
