/**
 * Usage: the tokens that a message took, and what it cost. Callers say it in the message's metadata, in the words of
 * this API or of the providers of models.
 *
 * Test: test/domain/usage.test.ts.
 */

import { isObject } from './json-object.ts';

/** What is not said is null. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Billionths of a US dollar: whole numbers add up in any order. */
  readonly costNanos: number | null;
}

/** Limits of one message. */
const MOST_TOKENS = 1e9;
const MOST_USD = 1e6;
const NANOS_PER_USD = 1e9;

/** Names in the metadata of a message or in its member `usage`; the first that holds a number counts. */
const NAMES = {
  inputTokens: ['inputTokens', 'input_tokens', 'prompt_tokens', 'promptTokens'],
  outputTokens: ['outputTokens', 'output_tokens', 'completion_tokens', 'completionTokens'],
  costUsd: ['costUsd', 'cost_usd', 'cost', 'total_cost'],
} as const;

/** Reads the usage out of a message's metadata; undefined if it says none. What is no sensible number is not said. */
export function usageOf(metadata: Readonly<Record<string, unknown>> | undefined): Usage | undefined {
  if (metadata === undefined) return undefined;
  const { usage } = metadata;
  const places = isObject(usage) ? [usage, metadata] : [metadata];
  const numberIn = (names: readonly string[], most: number): number | null => {
    for (const place of places)
      for (const name of names) {
        const value = place[name];
        if (typeof value === 'number' && value >= 0 && value <= most) return value;
      }
    return null;
  };
  const tokens = (names: readonly string[]): number | null => {
    const value = numberIn(names, MOST_TOKENS);
    return value === null ? null : Math.round(value);
  };
  const cost = numberIn(NAMES.costUsd, MOST_USD);
  const found = {
    inputTokens: tokens(NAMES.inputTokens),
    outputTokens: tokens(NAMES.outputTokens),
    costNanos: cost === null ? null : Math.round(cost * NANOS_PER_USD),
  };
  return Object.values(found).every((value) => value === null) ? undefined : found;
}

/** Returns US dollars, to the billionth. */
export function usdOf(nanos: number): number {
  return nanos / NANOS_PER_USD;
}
