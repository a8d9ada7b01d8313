import { deepEqual } from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ordered } from '../../../src/store/published/row-order.ts';

it('orders any values as a stable comparison does, NaN last in both directions', async () => {
  const value = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -(2 ** 53), max: 2 ** 53 }),
    fc.double(),
    fc.constantFrom(-0, 0, NaN, Infinity, -Infinity),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 300 }), fc.boolean(), async (values, isDescending) => {
      const sign = isDescending ? -1 : 1;
      const expected = values
        .map((_, place) => place)
        .sort((one, other) => {
          const [x, y] = [values[one]!, values[other]!];
          if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
          return x === y ? 0 : x < y ? -sign : sign;
        });
      const rows = Uint32Array.from(values, (_, place) => 7 * place);
      const order = await ordered(rows, (row) => values[row / 7]!, isDescending);
      deepEqual(
        [...order],
        expected.map((place) => 7 * place),
      );
    }),
  );
});
