import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isVerse, quotedSpans } from '../../../src/reader/acts/quoted-text.ts';

const quotes = (text: string): string[] => quotedSpans(text).map(({ start, end }) => text.slice(start, end));

describe('quotedSpans', () => {
  it('finds quotations of many scripts', () => {
    deepEqual(quotes('say "ahoy" or „ahoi“, «ohé» or 「おーい」'), [
      '"ahoy"',
      '„ahoi“',
      '«ohé»',
      '「おーい」',
    ]);
  });

  it('leaves a mark that nothing closes, and one that an empty line parts from its end', () => {
    deepEqual(quotes('a 12" board'), []);
    deepEqual(quotes('a 12" board\n\nand a 14" one'), []);
  });

  it('finds a draft behind a line that ends in a colon', () => {
    deepEqual(quotes('Here it is:\n\nDear crew,\n\nwe sail at six.\n\nBye'), [
      'Dear crew,\n\nwe sail at six.\n\nBye',
    ]);
    deepEqual(quotes('Do this:\n\n- hoist the sail\n\n- cast off'), []);
    deepEqual(quotes('Hi Tom,\n\nwe sail at six.'), []);
  });
});

describe('isVerse', () => {
  it('tells verse and dialogues from paragraphs', () => {
    equal(isVerse('the boats are gone into the night\nand nobody rows home'), true);
    equal(isVerse('A: Ahoy!\nB: Ahoy!'), true);
    equal(isVerse('Hi Tom,\nthe boat is ready at six.'), false);
    equal(isVerse('The boat is ready.\nPlease come at six.'), false);
    equal(isVerse('The boat is ready.'), false);
  });
});
