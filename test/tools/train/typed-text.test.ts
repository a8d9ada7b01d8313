import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../../tools/train/random.ts';
import { varied, withoutMarks } from '../../../tools/train/typed-text.ts';

const TEXT = 'Der Kühlschrank wird seit gestern nicht mehr richtig kalt';

function variants(seed: number): string[] {
  const random = new Random(seed);
  return Array.from({ length: 200 }, () => varied(TEXT, 'de', ['acme'], random));
}

describe('varied', () => {
  it('is the same for the same seed', () => {
    deepEqual(variants(3), variants(3));
  });

  it('gives pieces, small letters, plain letters and names', () => {
    const all = variants(3);
    ok(all.includes(TEXT));
    ok(all.some((text) => text.split(' ').length === 2));
    ok(all.some((text) => text.includes('kuhlschrank')));
    ok(all.some((text) => text.includes('acme')));
  });
});

describe('withoutMarks', () => {
  it('takes marks from Latin letters only', () => {
    equal(withoutMarks('ça går straße ñandú їжак'), 'ca gar strasse nandu їжак');
  });
});
