import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { languageOf, pluralOf, wordForAnd } from '../../../src/topics/naming/grammar.ts';
import { readSample } from '../../../src/topics/naming/truth.ts';

describe('languageOf', () => {
  it('follows the function words of most texts', () => {
    deepEqual(
      [
        languageOf(['where is my order', 'cancel the order', 'wo ist das']),
        languageOf(['wo ist meine Bestellung', 'ich möchte stornieren', 'my order']),
        languageOf(['annuler ma commande', 'je voudrais une facture']),
        languageOf(['xyzzy']),
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

describe('pluralOf', () => {
  const plural = (stem: string, ...texts: string[]): string | null =>
    pluralOf(
      stem,
      texts.map((text) => readSample({ text, weight: 1 })),
    );

  it('is the plural that the samples use, and nothing made up', () => {
    equal(plural('order', 'cancel my order', 'where is the order', 'track orders'), 'Orders');
    equal(plural('weather', 'weather in town', 'the weather'), 'Weather');
  });

  it('is never a stem that no sample says', () => {
    equal(plural('tim', 'how long does it take'), null);
  });
});
