import { equal } from 'node:assert/strict';
import { it } from 'node:test';
import { capitalOf } from '../../../src/reader/document/capital.ts';

it('gives the letter that begins a sentence, which in Georgian is the usual one', () => {
  equal(capitalOf('é'), 'É');
  equal(capitalOf('д'), 'Д');
  equal(capitalOf('დ'), 'დ');
  equal(capitalOf('猫'), '猫');
});
