/**
 * Which spans of a trace count their usage, and on whose messages it lies. Keeps the invariant that of two spans, one
 * below the other, one at most counts: an agent repeats the sum of its calls. Looks at each span a fixed number of
 * times, however deep it is.
 *
 * Test: test/doors/traces/assembly/trace-usage.test.ts, laws.test.ts.
 */
import type { Usage } from '../../../domain/usage.ts';
import { firstBelow } from './reply-targets.ts';
import { markAbove, type Tree } from './spoken-spans.ts';

/** The usage of one span. */
export interface SpanUsage {
  readonly spanId: string;
  readonly usage: Usage;
}

export interface TraceUsage {
  /** The spans whose usage counts, by id. */
  readonly spent: ReadonlySet<string>;
  /** Their usage by the id of the counted span on whose messages it lies. */
  readonly placed: ReadonlyMap<string, readonly SpanUsage[]>;
  /** Usage that counts, and of which no span on its way counts yet: log records may bring the messages. */
  readonly unplaced: ReadonlyMap<string, Usage>;
}

/** What decides where usage lies. */
export interface UsageOptions {
  /** Usage that counts, of spans that were let go before. */
  readonly known: ReadonlyMap<string, Usage>;
  /** Ids of the spans that count now, in the order in which they speak. */
  readonly chosen: readonly string[];
  /** Ids of the spans that counted before, in the order in which they were taken in. */
  readonly counted: readonly string[];
}

/**
 * Of the spans with usage the lowest count. A span that comes later counts unless one above or below it counts already.
 * It lies on the nearest counted span from it upwards, else on the last one below it; what waited for its span, on the
 * first one that was ever taken in: a later round must find it where an earlier one may have put it.
 */
export function usageOfTrace(tree: Tree, { known, chosen, counted }: UsageOptions): TraceUsage {
  const { spans, seen } = tree;
  const found = new Map(known);
  for (const { spanId, usage } of spans)
    if (usage !== undefined && !found.has(spanId)) found.set(spanId, usage);
  const wasSpent = (id: string): boolean => known.has(id) || seen.get(id)?.spent === true;

  const earlier = [...seen.values()].filter(({ spent }) => spent === true).map(({ spanId }) => spanId);
  /** Spans with one below them that has usage. */
  const isAbove = new Set<string>();
  for (const id of [...found.keys(), ...earlier])
    markAbove(tree, id, (above) => isAbove.size !== isAbove.add(above).size);
  const isAtOrBelowSpent = tree.fromAbove<boolean>((id, above = false) => above || wasSpent(id));
  const counts = (id: string): boolean => {
    if (wasSpent(id)) return true;
    const parent = tree.parentOf(id);
    return !isAbove.has(id) && (parent === undefined || !isAtOrBelowSpent(parent));
  };

  const all = new Set([...counted, ...chosen]);
  const countedFrom = tree.fromAbove<string | undefined>((id, above) => (all.has(id) ? id : above));
  const lastBelow = firstBelow(tree, chosen.toReversed());
  const everBelow = known.size === 0 ? lastBelow : firstBelow(tree, [...all]);

  const spent = new Set<string>();
  const placed = new Map<string, SpanUsage[]>();
  const unplaced = new Map(known);
  for (const [spanId, usage] of found) {
    if (!counts(spanId)) continue;
    spent.add(spanId);
    const place = countedFrom(spanId) ?? (known.has(spanId) ? everBelow : lastBelow).get(spanId);
    const there = place === undefined ? undefined : placed.get(place);
    if (place === undefined) unplaced.set(spanId, usage);
    else if (there === undefined) placed.set(place, [{ spanId, usage }]);
    else there.push({ spanId, usage });
  }
  return { spent, placed, unplaced };
}
