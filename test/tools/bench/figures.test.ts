import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corpora, take } from '../../../tools/bench/load/distinct-texts.ts';
import {
  compared,
  printedFigures,
  printedIn,
  README_FIGURES,
  readReadme,
  UNCHECKED,
} from '../../../tools/bench/load/readme-figures.ts';

describe('figures of the documents', () => {
  it('are printed where the check looks for them', () => {
    for (const { name, pattern } of README_FIGURES) ok(printedIn(readReadme(), pattern) > 0, name);
    throws(() => printedIn('nothing', /(\d+) messages/), /requirements\.md prints no figure/);
  });

  it('are each checked, or said not to be', () => {
    const readme = readReadme();
    const known = [...README_FIGURES, ...UNCHECKED].map(({ pattern }) => pattern.exec(readme));
    const within = (at: number): boolean =>
      known.some((found) => found !== null && at >= found.index && at < found.index + found[0].length);
    ok(known.every((found) => found !== null));
    deepEqual(
      printedFigures(readme).filter(({ at }) => !within(at)),
      [],
    );
  });

  it('hold while they are off by no more than a third', () => {
    deepEqual(
      [1000, 1330, 1340, 670, 660].map((printed) => compared('', printed, 1000).holds),
      [true, true, false, true, false],
    );
  });
});

describe('texts to count', () => {
  it('are all different, however many are wanted', async () => {
    const open = corpora('/nowhere')['demo'];
    ok(open !== undefined);
    const texts = (await take(open(), 5000)).flat().map(({ content }) => content);
    ok(texts.length >= 5000);
    ok(new Set(texts).size > texts.length * 0.97);
    equal(Object.keys(corpora('/nowhere')).join(), 'demo');
  });
});
