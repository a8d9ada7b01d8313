import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dequantise, quantise, quantisedCosine } from '../../../src/reader/numeric/quantised.ts';
import { dotOf, normOf } from '../../../src/reader/numeric/vectors.ts';
import { vectorOf } from '../threads/builders.ts';

describe('quantised vectors', () => {
  it('keep cosines to about a hundredth', () => {
    const [a, b] = [vectorOf('cancel my order'), vectorOf('cancel the order')];
    ok(Math.abs(quantisedCosine(quantise(a!), quantise(b!)) - dotOf(a!, b!)) < 0.01);
    ok(Math.abs(normOf(dequantise(quantise(a!))) - 1) < 1e-6);
  });

  it('of nothing are like nothing', () => {
    const nothing = quantise(new Float32Array(4));
    deepEqual([...nothing], [0, 0, 0, 0]);
    equal(quantisedCosine(nothing, nothing), 0);
  });
});
