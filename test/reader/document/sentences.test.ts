import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clausesOf, sentencesOf } from '../../../src/reader/document/sentences.ts';

describe('sentences', () => {
  it('end at marks and lines, but not inside numbers, names and addresses', () => {
    deepEqual(sentencesOf('Hi Dr. Who. It costs 3.50 at example.com! Ok?? 你好。谢谢！\nNext'), [
      'Hi Dr. Who.',
      'It costs 3.50 at example.com!',
      'Ok??',
      '你好。',
      '谢谢！',
      'Next',
    ]);
    deepEqual(sentencesOf(''), []);
  });

  it('stay open after an abbreviation, over line ends too', () => {
    deepEqual(sentencesOf(' Ask Dr.\n\nWho. Or Prof.'), ['Ask Dr.\n\nWho.', 'Or Prof.']);
    deepEqual(sentencesOf('Ask xdr. Who (dr. No)?'), ['Ask xdr.', 'Who (dr. No)?']);
  });

  it('stay open after an ordinal number, an abbreviation of any language and the number of a list', () => {
    const whole = [
      'Der Termin ist am 3. Mai um 10.30 Uhr.',
      'Ich wohne im 2. Stock.',
      'Umowa kończy się 5. dnia miesiąca.',
      'Das gilt z.B. für Bücher.',
      'Zie bijv. de handleiding.',
      '1. Open the settings',
      'It costs 3.50!',
      'See https://example.com/a.b?c=1 for more.',
    ];
    for (const sentence of whole) deepEqual(sentencesOf(sentence), [sentence]);
    deepEqual(sentencesOf('We are 12. Book a table.'), ['We are 12.', 'Book a table.']);
    deepEqual(sentencesOf('هل وصل الطلب؟ لا. मदद कीजिए। धन्यवाद।'), [
      'هل وصل الطلب؟',
      'لا.',
      'मदद कीजिए।',
      'धन्यवाद।',
    ]);
  });

  it('are cut into clauses at marks and conjunctions of any language', () => {
    deepEqual(clausesOf('I moved, so change my address and tell the bank'), [
      'I moved',
      'so change my address',
      'and tell the bank',
    ]);
    deepEqual(clausesOf('Ich war dort aber niemand kam'), ['Ich war dort', 'aber niemand kam']);
  });
});
