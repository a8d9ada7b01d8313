import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  combinedUse,
  phrasesOf,
  phraseUsesOf,
  type PhraseUse,
} from '../../../../src/reader/topics/naming/phrases.ts';
import { tokensOf } from '../../../../src/reader/topics/naming/tokens.ts';

const surfaces = (text: string): string[] => phrasesOf(tokensOf(text)).map(({ surface }) => surface);
const first = (text: string): string | undefined => surfaces(text)[0];

describe('phrasesOf', () => {
  it('gives an action with its thing, and both with what binds them', () => {
    deepEqual(surfaces('please add this song to my playlist'), [
      'Add song',
      'Add to playlist',
      'Add song to playlist',
      'Song to playlist',
    ]);
  });

  it('writes verbs in their base form, and leaves nouns and participles as they are', () => {
    equal(first('cancelling my order'), 'Cancel order');
    equal(first('I am changing the address'), 'Change address');
    equal(first('I have updated my address'), 'Update address');
    equal(first('opening hours'), 'Opening hours');
    equal(first('my payment was declined'), 'Payment declined');
    equal(first('declined payment'), 'Declined payment');
  });

  it('takes no number, date, amount, id or address into a name', () => {
    for (const text of [
      'cancel order #88213',
      'cancel order AB-1234 please',
      'cancel order of 12.05.2024',
      'cancel anna@example.com order',
    ])
      ok(surfaces(text).includes('Cancel order'), text);
    ok(!surfaces('cancel order AB-1234').some((name) => /\d/.test(name)));
  });

  it('says that something is not so', () => {
    equal(first("my card isn't working"), 'Card not working');
    equal(first('the card is still not working'), 'Card not working');
  });

  it('binds "of" to the noun before it', () => {
    ok(!surfaces('see the status of my order').includes('See of order'));
    equal(first('see the status of my order'), 'See status');
  });

  it('tells a phrase that ends its thing from one that is cut short', () => {
    const closed = new Map(
      phrasesOf(tokensOf('change my shipping address')).map((phrase) => [phrase.surface, phrase.closed]),
    );
    deepEqual([closed.get('Change shipping address'), closed.get('Change shipping')], [true, false]);
    equal(closed.get('Change address'), true);
  });

  it('keeps combining marks with their letters', () => {
    equal(first('रिचार्ज विफल'), 'रिचार्ज विफल');
  });

  it('keeps acronyms, and no capitals of shouting or of titles', () => {
    equal(first('change my PIN'), 'Change PIN');
    equal(first('CANCEL MY ORDER NOW'), 'Cancel order');
    equal(first('Cancel My Order Please'), 'Cancel order');
    equal(first('Meine Bestellung stornieren'), 'Bestellung stornieren');
  });

  it('brings verbs and their particles together', () => {
    equal(first('please turn the lights off'), 'Turn off lights');
    equal(first('turn the printer on'), 'Turn on printer');
    equal(first('what song is on'), undefined);
  });

  it('has at most five words', () => {
    const long = surfaces('add the red leather winter jacket to my saved shopping list');
    ok(long.length > 0 && long.every((name) => name.split(' ').length <= 5));
  });
});

describe('phrase uses', () => {
  it('are known by their stems', () => {
    deepEqual([...phraseUsesOf(tokensOf('cancelled orders')).keys()], ['cancel order']);
  });

  it('add up, and keep the form most used', () => {
    const use = (surface: string): PhraseUse => ({
      count: 1,
      surface,
      votes: 1,
      leading: 1,
      closed: 1,
      action: 0,
    });
    const all = ['Added playlist', 'Add to playlist', 'Add to playlist', 'Add to playlist'].map(use);
    deepEqual(
      all.reduce((sum, next) => combinedUse(sum, next)),
      { count: 4, surface: 'Add to playlist', votes: 2, leading: 4, closed: 4, action: 0 },
    );
  });
});
