import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf, personalTexts } from '../../../tools/eval/personal-data.ts';
import { wordsOfId } from '../../../src/reader/personal/known-words.ts';
import { PERSONAL_LANGUAGES } from '../../../src/reader/personal/personal-lexicon.ts';
import { HIDDEN, personalSpans, redact } from '../../../src/reader/personal/redact.ts';

describe('redact', () => {
  it('hides what the examples of each language name, and leaves the rest', () => {
    const faults: string[] = [];
    for (const [code, { examples }] of PERSONAL_LANGUAGES) {
      for (const [text = '', ...parts] of examples.hidden) {
        const redacted = redact(text);
        for (const part of parts)
          if (redacted.includes(part)) faults.push(`${code}: "${part}" is in "${redacted}"`);
      }
      for (const text of examples.kept)
        if (redact(text) !== text) faults.push(`${code}: "${redact(text)}" was "${text}"`);
    }
    deepEqual(faults, []);
  });

  it('shows one mark for the parts of one value, and the rest as it was', () => {
    equal(
      redact('My name is Maria Lopez, order 48213 is late.'),
      `My name is ${HIDDEN}, order ${HIDDEN} is late.`,
    );
    equal(redact('see https://shop.example.com/orders/99?t=abc'), `see https://shop.example.com/${HIDDEN}`);
  });

  it('leaves an hour before a new sentence', () => {
    const text = 'We meet at 10 AM. Can you come? The bus leaves at 6:40 am. An early ticket costs more.';
    equal(redact(text), text);
  });

  it('hides nothing twice: a redacted text stays as it is', () => {
    for (const { text } of personalTexts('tuned')) equal(redact(redact(text)), redact(text), text);
  });

  it('gives spans in order that do not overlap', () => {
    for (const { text } of personalTexts('tuned')) {
      let end = 0;
      for (const span of personalSpans(text)) {
        equal(span.start >= end && span.end > span.start && span.end <= text.length, true, text);
        end = span.end;
      }
    }
  });

  it('hides the ids of a session wherever they stand, and no label that callers send as an id', () => {
    equal(redact('this is falcon9 again', { known: wordsOfId('falcon9') }), `this is ${HIDDEN} again`);
    equal(redact('ask karlsson', { known: wordsOfId('karlsson@mail.example') }), `ask ${HIDDEN}`);
    equal(redact('a new user', { known: wordsOfId('user') }), 'a new user');
  });

  it('holds on the gold: hardly any part is shown, and hardly any other is lost', () => {
    const judged = personalTexts('tuned').map((text) => ({ ...text, ...faultsOf(text) }));
    const count = (of: (text: (typeof judged)[number]) => readonly string[]): number =>
      judged.reduce((sum, text) => sum + of(text).length, 0);
    equal(count(({ leaked }) => leaked) <= 0.03 * count(({ personal }) => personal), true);
    equal(count(({ lost }) => lost) <= 0.03 * count(({ keep }) => keep), true);
  });
});
