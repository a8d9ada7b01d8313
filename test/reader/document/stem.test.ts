import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stemOf } from '../../../src/reader/document/stem.ts';

describe('stemOf', () => {
  for (const forms of [
    ['cancel', 'cancels', 'canceled', 'cancellation'],
    ['policy', 'policies', "policy's"],
    ['change', 'changes', 'changed', 'changing'],
    ['match', 'matches', 'matching'],
    ['book', 'books', 'booked', 'booking'],
  ]) {
    it(`is the same for ${forms.join(', ')}`, () => equal(new Set(forms.map(stemOf)).size, 1));
  }

  it('leaves short words and other alphabets as they are', () => {
    for (const word of ['gas', 'red', 'straße', 'заказы', '取消']) equal(stemOf(word), word);
  });
});
