import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PhraseMatcher } from '../../../src/reader/phrases/phrase-matcher.ts';
import { shippedPhraseFiles } from '../../support/shipped-phrases.ts';

const shipped = shippedPhraseFiles();

describe('examples of the lexicon', () => {
  for (const [purpose, files] of shipped) {
    for (const file of files) {
      const matcher = new PhraseMatcher([file]);
      const isFound = (text: string, kind: string): boolean =>
        matcher.match(text).matches.some((match) => match.kind === kind && !match.negated);
      for (const [kind, of] of Object.entries(file.kinds)) {
        it(`${file.language}.${purpose}.json, ${kind}`, () => {
          const { fires, silent } = of!.examples;
          deepEqual(
            {
              missed: fires.filter((text) => !isFound(text, kind)),
              mistaken: silent.filter((text) => isFound(text, kind)),
            },
            { missed: [], mistaken: [] },
          );
        });
      }
    }
  }

  it('are there', () => {
    ok(shipped.has('signals'));
  });
});
