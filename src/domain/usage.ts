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

/** Limits of one message, and of a sum. */
const MOST_TOKENS = 1e9;
const MOST_USD = 1e6;
const NANOS_PER_USD = 1e9;

/** Where each number of a usage stands: the first of its names that holds a sensible number counts. */
export type UsageNames = Readonly<Record<'inputTokens' | 'outputTokens' | 'costUsd', readonly string[]>>;

/** Names in the metadata of a message or in its member `usage`. */
const NAMES: UsageNames = {
  inputTokens: ['inputTokens', 'input_tokens', 'prompt_tokens', 'promptTokens'],
  outputTokens: ['outputTokens', 'output_tokens', 'completion_tokens', 'completionTokens'],
  costUsd: ['costUsd', 'cost_usd', 'cost', 'total_cost'],
};

/** Reads the usage out of a message's metadata; undefined if it says none. What is no sensible number is not said. */
export function usageOf(metadata: Readonly<Record<string, unknown>> | undefined): Usage | undefined {
  if (metadata === undefined) return undefined;
  const { usage } = metadata;
  const places = isObject(usage) ? [usage, metadata] : [metadata];
  return usageNamed(
    NAMES,
    places.map((place) => (name) => place[name]),
  );
}

/** Reads a usage from places, each a function that returns what stands under a name; undefined if none says any. */
export function usageNamed(
  names: UsageNames,
  places: readonly ((name: string) => unknown)[],
): Usage | undefined {
  const numberIn = (own: readonly string[], most: number): number | null => {
    for (const valueOf of places)
      for (const name of own) {
        const value = valueOf(name);
        if (typeof value === 'number' && value >= 0 && value <= most) return value;
      }
    return null;
  };
  const tokens = (own: readonly string[]): number | null => {
    const value = numberIn(own, MOST_TOKENS);
    return value === null ? null : Math.round(value);
  };
  const cost = numberIn(names.costUsd, MOST_USD);
  const found = {
    inputTokens: tokens(names.inputTokens),
    outputTokens: tokens(names.outputTokens),
    costNanos: cost === null ? null : Math.round(cost * NANOS_PER_USD),
  };
  return Object.values(found).every((value) => value === null) ? undefined : found;
}

/** Adds two usages up, to the limits of one message at most, so that the order of a sum makes no difference. */
export function sumOfUsage(one: Usage | undefined, other: Usage): Usage {
  if (one === undefined) return other;
  const sum = (a: number | null, b: number | null, most: number): number | null =>
    a === null ? b : Math.min(a + (b ?? 0), most);
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens, MOST_TOKENS),
    outputTokens: sum(one.outputTokens, other.outputTokens, MOST_TOKENS),
    costNanos: sum(one.costNanos, other.costNanos, MOST_USD * NANOS_PER_USD),
  };
}

/** Writes a usage as members of a message's metadata, which `usageOf` reads as the same usage. */
export function usageMetadata({ inputTokens, outputTokens, costNanos }: Usage): Record<string, number> {
  return {
    ...(inputTokens === null ? {} : { inputTokens }),
    ...(outputTokens === null ? {} : { outputTokens }),
    ...(costNanos === null ? {} : { costUsd: usdOf(costNanos) }),
  };
}

/** Returns US dollars, to the billionth. */
export function usdOf(nanos: number): number {
  return nanos / NANOS_PER_USD;
}
