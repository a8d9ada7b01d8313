import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOf, PhraseSyntax } from '../../../src/reader/phrases/syntax.ts';
import { sequencesOf } from '../../support/spelled-phrases.ts';

const classes = new Map([
  ['very', ['very', 'a lot']],
  ['empty-stem', ['kündig-']],
]);

function spelled(phrase: string): string[] {
  const read = new PhraseSyntax({ classes, gap: 3 }).read(phrase);
  return sequencesOf(read).map((items) => items.map(nameOf).join(' '));
}

describe('phrase syntax', () => {
  it('spells out alternatives, classes and what may be left out', () => {
    deepEqual(spelled('(a|b c) d?'), ['a d', 'a', 'b c d', 'b c']);
    deepEqual(spelled('(b|a|(c|d e)) f'), ['(a|b|c) f', 'd e f']);
    deepEqual(spelled('{very} good'), ['very good', 'a lot good']);
    deepEqual(spelled('{empty-stem?} x'), ['kundig- x', 'x']);
    deepEqual(spelled('(a (b|c)?)? d'), ['a (b|c) d', 'a d', 'd']);
  });

  it('reads gaps, stems, contractions and characters', () => {
    deepEqual(spelled('a … b …5 c'), ['a …3 b …5 c']);
    deepEqual(spelled('a … b? … c?'), ['a …3 b …3 c', 'a …3 b', 'a …3 c', 'a']);
    deepEqual(spelled('kündig- -karte'), ['kundig- -karte']);
    deepEqual(spelled("don't it's l'aide"), ["do n't it s l aide"]);
    deepEqual(spelled('不 好用'), ['不 好 glued:用']);
    deepEqual(spelled('안 감사해요'), ['first:안 감 glued:사 glued:해 glued:요']);
    deepEqual(spelled('👍 :('), ['👍 :(']);
  });

  it('reads anchors', () => {
    const anchors = (phrase: string): number[] => {
      const { start, end } = new PhraseSyntax({ classes, gap: 3 }).read(phrase);
      return [start, end];
    };
    deepEqual(
      [anchors('a'), anchors('^ a $'), anchors('^^ a $$')],
      [
        [0, 0],
        [1, 1],
        [2, 2],
      ],
    );
  });

  it('says what it cannot read', () => {
    const fault = (phrase: string, message: RegExp): void => throws(() => spelled(phrase), { message });
    fault('a?', /may be empty/);
    fault('… a', /begins or ends with a gap/);
    fault('a …13 b', /1 to 12 words/);
    fault('(a|b', /lacks a "\)"/);
    fault('a)', /too many/);
    fault('{other} a', /no class "other"/);
    fault('a ^ b', /neither a letter/);
    fault('a {B} b', /cannot be read/);
    fault(`${'(a a|b b|c c|d d|e e|f f|g g|h h) '.repeat(5)}x`, /more than 3000/);
  });

  it('lets no phrase stand for no words', () => {
    equal(spelled('a').length, 1);
  });
});
