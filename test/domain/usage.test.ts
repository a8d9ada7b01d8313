import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sumOfUsage, usageMetadata, usageOf, usdOf } from '../../src/domain/usage.ts';

describe('usage', () => {
  it('is read in the words of this API and of providers, directly or in `usage`', () => {
    const said = { inputTokens: 812, outputTokens: 64, costNanos: 1_250_000 };
    for (const metadata of [
      { inputTokens: 812, outputTokens: 64, costUsd: 0.00125 },
      { usage: { prompt_tokens: 812, completion_tokens: 64, total_tokens: 876 }, cost: 0.00125 },
      { usage: { input_tokens: 812, output_tokens: 64 }, cost_usd: 0.00125, model: 'm' },
    ])
      deepEqual(usageOf(metadata), said);
    deepEqual(usageOf({ costUsd: 1e-9 }), { inputTokens: null, outputTokens: null, costNanos: 1 });
    deepEqual(usageOf({ inputTokens: 0 }), { inputTokens: 0, outputTokens: null, costNanos: null });
    equal(usdOf(1_250_000), 0.00125);
  });

  it('adds up in any order, to the limits of one message', () => {
    const one = { inputTokens: 812, outputTokens: null, costNanos: 1 };
    const other = { inputTokens: 1e9, outputTokens: 64, costNanos: null };
    const sum = { inputTokens: 1e9, outputTokens: 64, costNanos: 1 };
    deepEqual(sumOfUsage(undefined, one), one);
    deepEqual(sumOfUsage(one, other), sum);
    deepEqual(sumOfUsage(other, one), sum);
  });

  it('is read out of the metadata that it is written as', () => {
    for (const usage of [
      { inputTokens: 1e9, outputTokens: 0, costNanos: 1e15 },
      { inputTokens: null, outputTokens: 64, costNanos: 123_456_789_012_347 },
      { inputTokens: 812, outputTokens: null, costNanos: null },
    ])
      deepEqual(usageOf(usageMetadata(usage)), usage);
  });

  it('is not said by what is no sensible number', () => {
    for (const metadata of [
      undefined,
      {},
      { inputTokens: '812' },
      { inputTokens: -1, costUsd: -0.5 },
      { outputTokens: 1e12, costUsd: 1e9 },
      { usage: [812], cost: null },
      { usage: 'much' },
    ])
      equal(usageOf(metadata), undefined, JSON.stringify(metadata));
  });
});
