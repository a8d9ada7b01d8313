import { ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PhraseMatcher } from '../../../src/reader/phrases/phrase-matcher.ts';
import { sampled } from '../../support/long.ts';
import { shippedPhraseFiles } from '../../support/shipped-phrases.ts';
import { worstTexts } from '../../support/phrase-prefixes.ts';

/**
 * UTF-16 units, of the file of each purpose with the most to find, and of the others. Steps are counted, so that a
 * short text tells as much as a long one; `LINEAR_UNITS=200000` is the long form. The largest file of a purpose has the
 * most to go wrong: of the others the short form takes some.
 */
const LONG = Number(process.env['LINEAR_UNITS'] ?? 50_000);
const SHORT = 10_000;
/**
 * Steps a character: 5 ms a thousand characters. At 62 steps a thousand take 1.1 ms, so slow machines have a margin.
 */
const MOST_STEPS = 90;

describe('phrases take linear time', () => {
  for (const [purpose, files] of shippedPhraseFiles()) {
    const matcher = new PhraseMatcher(files);
    const nodes = new Map(files.map((file) => [file, new PhraseMatcher([file]).size]));
    const largest = files.reduce((one, other) => (nodes.get(other)! > nodes.get(one)! ? other : one));
    for (const file of new Set([largest, ...sampled(files, 4)])) {
      const length = file === largest ? LONG : SHORT;
      it(`${file.language}.${purpose}.json, fed the beginnings of its phrases`, () => {
        for (const text of worstTexts(file, matcher, length)) {
          const half = matcher.match(text.slice(0, text.length / 2)).steps;
          const { steps } = matcher.match(text);
          const counts = `"${text.slice(0, 60)}…": ${half} steps, ${steps} for twice the text`;
          // The halves begin with other phrases. Quadratic time is four times.
          ok(steps <= 3 * half && steps <= MOST_STEPS * text.length, counts);
        }
      });
    }
  }
});
