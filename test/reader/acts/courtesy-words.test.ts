import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CourtesyWords } from '../../../src/reader/acts/courtesy-words.ts';
import { TURN_PHRASE_KINDS } from '../../../src/reader/acts/turn-phrases.ts';
import { loadPhraseFiles } from '../../../src/reader/phrases/phrase-files.ts';

const courtesies = new CourtesyWords(loadPhraseFiles({ purpose: 'turns', kinds: TURN_PHRASE_KINDS }));

const COURTESIES = {
  'run together': ['okthanks', 'thankyousomuch', 'goodmorning', 'yesplease', 'nothingthanks', 'okbye'],
  'run together, of other languages': ['muchasgracias', 'mercibeaucoup', 'vielendank', 'спасибобольшое'],
  'with a letter too few or too many': ['helo', 'thaks', 'plese', 'thankss', 'intresting', 'grcias'],
  'with a wrong letter, or two in the wrong order': ['thabks', 'thnaks', 'perfcet', 'definately'],
  'for a day or month': ['tomorow', 'wednsday', 'feburary'],
};

const OTHERS = {
  'a thing with a name like a courtesy': ['tanks', 'sundae', 'sheet', 'laser', 'halls'],
  'a word of the lexicon': ['cancel', 'refund', 'worry'],
  'a word made of other words': ['noone', 'onetime', 'password', 'superman'],
  'another first letter': ['light', 'treat', 'lease', 'cello', 'jello'],
  'too short to tell': ['so', 'no', 'tea', 'pea'],
  'a word of a script without slips': ['谢谢你啊', 'ありがとお'],
};

describe('words of courtesy', () => {
  for (const [what, words] of Object.entries(COURTESIES))
    it(`are told ${what}`, () => {
      for (const word of words) equal(courtesies.has(word), true, word);
    });

  for (const [what, words] of Object.entries(OTHERS))
    it(`are none: ${what}`, () => {
      for (const word of words) equal(courtesies.has(word), false, word);
    });
});
