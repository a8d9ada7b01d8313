import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMeasured, languageOf } from '../../../tools/eval/language-sets.ts';

describe('languageOf', () => {
  it('gives the code that the service tells', () => {
    const codes = ['deu', 'cmn', 'pes', 'zsm', 'nob', 'nn', 'yue', 'arz', 'en', 'tl', 'kab'];
    deepEqual(codes.map(languageOf), ['de', 'zh', 'fa', 'ms', 'no', 'no', 'zh', 'ar', 'en', 'tl', 'kab']);
  });
});

describe('isMeasured', () => {
  it('is the same for sentences that differ in case and punctuation', () => {
    const sentences = [
      'Er kam drei Mal.',
      'Wo bist du?',
      'Das ist gut!',
      'Komm, bitte.',
      'Ja?',
      'Nein.',
      'Wie geht es?',
    ];
    for (const sentence of sentences)
      equal(isMeasured(sentence), isMeasured(` ${sentence.toUpperCase()}.. 7`));
  });

  it('takes nearly one in five', () => {
    const words = Array.from({ length: 2000 }, (_, n) =>
      n.toString(26).replace(/\d/g, (d) => 'qrstuvwxyz'[Number(d)]!),
    );
    const share = words.filter(isMeasured).length / words.length;
    ok(share > 0.15 && share < 0.23, `${share}`);
  });
});
