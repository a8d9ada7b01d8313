import { ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fitDense, type DenseExample } from '../../../tools/train/dense-logistic.ts';

const examples = (count: number, positive: boolean, features: readonly number[]): DenseExample[] =>
  Array.from({ length: count }, () => ({ features, positive, weight: 1 }));

describe('fitDense', () => {
  it('finds the log-odds of what tells, and leaves out what tells nothing', () => {
    const all = [
      ...examples(30, true, [1, 1]),
      ...examples(10, false, [1, 1]),
      ...examples(30, true, [1, 0]),
      ...examples(10, false, [1, 0]),
      ...examples(20, true, [0, 1]),
      ...examples(60, false, [0, 1]),
      ...examples(20, true, [0, 0]),
      ...examples(60, false, [0, 0]),
    ];
    const { weights, bias } = fitDense(all, 0.001);
    ok(Math.abs(weights[0]! - 2 * Math.log(3)) < 0.01, String(weights));
    ok(Math.abs(weights[1]!) < 0.01, String(weights));
    ok(Math.abs(bias + Math.log(3)) < 0.01, String(bias));
  });

  it('counts an example as often as its weight says', () => {
    const twice = examples(1, true, [0]).map((example) => ({ ...example, weight: 3 }));
    const { bias } = fitDense([...twice, ...examples(1, false, [0])], 1);
    ok(Math.abs(bias - Math.log(3)) < 0.01, String(bias));
  });
});
