import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { laidOut, lexiconFiles } from '../../support/lexicon-layout.ts';

describe('the layout of the lexicon', () => {
  it('fills lines with words, and gives what holds more a line of its own', () => {
    const words = Array.from({ length: 20 }, (_, place) => `word number ${place}`);
    const text = laidOut(JSON.stringify({ words, few: ['a', 'b'], pairs: { a: { b: 1 } } }));
    equal(text.split('\n').length, 11);
    equal(
      text.split('\n').every((line) => line.length <= 110),
      true,
    );
    deepEqual(JSON.parse(text), { words, few: ['a', 'b'], pairs: { a: { b: 1 } } });
  });

  it('is that of every file: npm run format mends it', () => {
    for (const file of lexiconFiles()) {
      const text = readFileSync(file, 'utf8');
      equal(text === laidOut(text), true, file);
    }
  });
});
