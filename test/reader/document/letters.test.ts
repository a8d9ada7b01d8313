import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lettersOf } from '../../../src/reader/document/letters.ts';

function wordsOf(text: string): string[] {
  return lettersOf(text).flatMap(({ words }) => words);
}

describe('lettersOf', () => {
  it('gives words in lower case, composed, a letter at most twice in a row', () => {
    deepEqual(wordsOf('BITTE schnell, Cafe\u0301 sooooo gut!'), ['schnell', 'café', 'soo', 'gut']);
    deepEqual(wordsOf('j’ai l’İstanbul'), ["j'ai", "l'istanbul"]);
  });

  it('reads capitals where everything is written so', () => {
    deepEqual(wordsOf('WO IST DAS'), ['wo', 'ist', 'das']);
  });

  it('drops links, addresses, numbers, ids, brands in camel case and names of files', () => {
    deepEqual(
      wordsOf('siehe https://a.example/wo www.b.example c@d.example 12 A-17 YouTube foto.jpg x_y {ok}'),
      ['siehe'],
    );
  });

  it('drops laughter', () => deepEqual(wordsOf('hahahaha jaja echt lustig'), ['echt', 'lustig']));

  it('drops code between fences, also where the last one is open', () => {
    deepEqual(wordsOf('eins ```two three``` vier ```five'), ['eins', 'vier']);
  });

  it('cuts where the script changes and puts the script with most to say first', () => {
    deepEqual(
      lettersOf('iphone手机 坏了').map(({ script, words }) => [script, words]),
      [
        ['Han', ['手机', '坏了']],
        ['Latin', ['iphone']],
      ],
    );
  });

  it('leaves the vowel signs of Arabic and Hebrew out', () => {
    deepEqual(wordsOf('مَرْحَبًا שָׁלוֹם'), ['مرحبا', 'שלום']);
  });

  it('says whether all words begin with a capital', () => {
    const titled = ['Real Madrid', 'real Madrid', 'REAL MADRID'].map((text) => lettersOf(text)[0]!.titled);
    deepEqual(titled, [true, false, false]);
  });

  it('knows no letters in emoji and signs', () => {
    equal(lettersOf('👍🏽 ?! 42 €').length, 0);
  });
});
