import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WordScan, type WordScanOptions } from '../../../src/reader/document/word-scan.ts';

const LETTERS = String.raw`[\p{L}\p{N}][\p{L}\p{N}\p{M}`;

/** The same as a pattern. */
function patternOf({ signs, joiner }: WordScanOptions): RegExp {
  const letters = `${LETTERS}${joiner ? String.raw`\u200c` : ''}]*`;
  return new RegExp(`${letters}(?:[${signs ? String.raw`'’\-.@_` : "'’"}]${letters})*`, 'gu');
}

function wordsOf(text: string, options: WordScanOptions): [number, number][] {
  const scan = new WordScan(options).begin(text);
  const found: [number, number][] = [];
  while (scan.next()) found.push([scan.start, scan.end]);
  return found;
}

const TEXTS = [
  "Don't l'aide d’accord e-mail a.b@c.de x_1 12.5",
  "''a''b- -c.' .",
  'هذا می\u200cشود e\u0301te\u0301 \u0301x नमस्ते',
  '谢谢ok 𝒜𝒷c x𝒜 😀a😀 \ud835 a\ud835b',
  '',
];

describe('word scan', () => {
  for (const signs of [false, true])
    for (const joiner of [false, true])
      it(`finds what its pattern finds${signs ? ', signs' : ''}${joiner ? ', joiner' : ''}`, () => {
        const pattern = patternOf({ signs, joiner });
        let state = 1;
        const next = (most: number): number => {
          state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
          return Math.floor((state / 2 ** 32) * most);
        };
        const signsOf = Array.from("ab1é'’-.@_ ,\u0301\u200c漢𝒜😀\ud835");
        const random = Array.from({ length: 2000 }, () =>
          Array.from({ length: next(12) }, () => signsOf[next(signsOf.length)]).join(''),
        );
        for (const text of [...TEXTS, ...random])
          deepEqual(
            wordsOf(text, { signs, joiner }),
            [...text.matchAll(pattern)].map(({ 0: word, index }) => [index, index + word.length]),
            JSON.stringify(text),
          );
      });
});
