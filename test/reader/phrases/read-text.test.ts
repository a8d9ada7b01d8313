import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addKeys, BREAK, phraseKey, readText } from '../../../src/reader/phrases/read-text.ts';

const keys = (text: string): string =>
  readText(text)
    .tokens.map(({ key }) => key)
    .join(' ');

describe('read text', () => {
  it('cuts words, and parts them at apostrophes as people do', () => {
    equal(keys("I don't think that's l'aide d’accord"), "i do n't think that s l aide d accord");
    equal(keys("I'd've aujourd'hui Ankara'da"), "i d ve aujourd'hui ankara'da");
    equal(keys('Überraschung! IMMER'), 'uberraschung immer');
  });

  it('cuts characters where a word takes several, with their marks', () => {
    equal(keys('谢谢ok'), '谢 谢 ok');
    equal(keys('カ\u3099ラ'), 'ガ ラ');
    equal(keys('ขอบคุณ').split(' ').length, 5);
    equal(keys('감사'.normalize('NFD')), '감 사');
    equal(keys('धन्यवाद जी'), 'धन्यवाद जी');
  });

  it('reads emoji and emoticons as tokens', () => {
    equal(keys('👍🏽👍 :-) <3 ❤️'), '👍 👍 :) <3 ❤');
    equal(keys('https://x.y :D'), 'https x y :d');
  });

  it('tells what stands before a token', () => {
    const breaks = (text: string): number[] => readText(text).tokens.map(({ before }) => before);
    const { end, mark, none, space } = BREAK;
    deepEqual(breaks('a, b. c'), [end, mark, end]);
    deepEqual(breaks('a... b (c) "d"'), [end, mark, mark, mark]);
    deepEqual(breaks('a.b "c" d'), [end, mark, space, space]);
    deepEqual(breaks('a!b\nc'), [end, end, end]);
    deepEqual(breaks('不好。 好'), [end, none, end]);
  });

  it('tells how sentences close', () => {
    deepEqual(readText('a b? c! d').closings, ['?', '?', '!', '']);
  });

  it('makes letters one that are typed for one another', () => {
    equal(phraseKey('ещё'), phraseKey('еще'));
    equal(phraseKey('हूँ'), phraseKey('हूं'));
    equal(phraseKey('شكراً'), phraseKey('شكرا'));
    equal(phraseKey('می‌شود'), phraseKey('میشود'));
    equal(phraseKey('a'.repeat(61)), '');
  });

  it('reads ASCII as it reads other texts', () => {
    const characters = 'abAZ09\'`:;=<>/3()D[]|-.,!? \n\t"~_#*\u007f';
    let state = 1;
    const next = (most: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * most);
    };
    for (let round = 0; round < 3000; round += 1) {
      const text = Array.from({ length: next(14) }, () => characters[next(characters.length)]).join('');
      const { tokens } = readText(text);
      deepEqual(tokens, readText(`${text} 漢`).tokens.slice(0, -1), JSON.stringify(text));
    }
  });

  it('gives the same keys without what stands between the tokens', () => {
    const texts = [
      "Don't l'aide :-) <3 e-mail 12 ÉTÉ",
      'ещё раз Ёлка 5й',
      '안 감사해요 SMS를 ｱｲ カー 不好用 3番',
      `${'a'.repeat(61)} ${'я'.repeat(61)} بالبريد क्या 👍🏽`,
    ];
    for (const text of texts) {
      const keys = new Set<string>();
      addKeys(text, keys);
      deepEqual(keys, new Set(readText(text).tokens.map(({ key }) => key)));
    }
  });
});
