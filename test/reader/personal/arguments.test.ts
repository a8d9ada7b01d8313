import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { argumentsIn } from '../../../src/reader/personal/arguments.ts';

describe('the arguments of a request', () => {
  it('are the kinds of its values, of masked ones too', () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['Please cancel order 482913', ['ID']],
      ['Cancel it and write to ann@example.com', ['EMAIL']],
      ['My number is +49 170 1234567', ['PHONE']],
      ['Send [EMAIL_1] the invoice of [ID_3]', ['EMAIL', 'ID']],
      ['Can I cancel an order that has not shipped?', []],
      ['', []],
    ];
    deepEqual(
      cases.map(([text]) => [...argumentsIn(text)].toSorted()),
      cases.map(([, kinds]) => kinds),
    );
  });

  it('takes linear time', () => {
    deepEqual([...argumentsIn('order 482913 '.repeat(20_000))], ['ID']);
  });
});
