import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grammarOfWords, mostOften, wordForAnd } from '../../../../src/reader/topics/naming/grammar.ts';

const languageOf = (...texts: readonly string[]): string | null =>
  mostOften(texts.map((text) => grammarOfWords(text.toLowerCase().split(' ')).language));

describe('the language of requests', () => {
  it('follows the function words of most', () => {
    deepEqual(
      [
        languageOf('where is my order', 'cancel the order', 'wo ist das'),
        languageOf('wo ist meine Bestellung', 'ich möchte stornieren', 'my order'),
        languageOf('annuler ma commande', 'je voudrais une facture'),
        languageOf('xyzzy'),
      ],
      ['en', 'de', 'fr', null],
    );
  });
});

describe('wordForAnd', () => {
  it('is the language’s own, or a comma', () => {
    deepEqual([wordForAnd('en'), wordForAnd('de'), wordForAnd(null)], ['and', 'und', ', ']);
  });
});
