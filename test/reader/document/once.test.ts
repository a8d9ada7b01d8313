import { equal } from 'node:assert/strict';
import { it } from 'node:test';
import { once } from '../../../src/reader/document/once.ts';

it('makes a value at the first call and keeps it, even if it is nothing', () => {
  let made = 0;
  const nothing = once(() => void (made += 1));
  equal(made, 0);
  nothing();
  nothing();
  equal(made, 1);
});
