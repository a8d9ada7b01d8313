/**
 * The list of gaps, in a chosen order, with what their conversations cost where messages say so.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { api, type Row } from './api.ts';
import { Choice } from './choice.tsx';
import { Found } from './found.tsx';
import { useAnswer, useNavigation } from './hooks.ts';
import { usePeriod } from './period.ts';

const ORDERS = [
  ['excess', 'dissatisfaction beyond the average'],
  ['sessions', 'conversations'],
  ['cost', 'cost'],
] as const;
type Order = (typeof ORDERS)[number][0];

/** `rows`: those first whose conversations are dissatisfied more often than others. */
export function Gaps({
  rows,
  hasCosts,
  version,
}: {
  readonly rows: readonly Row[];
  /** True if messages of the period say what they cost. */
  readonly hasCosts: boolean;
  readonly version: string;
}) {
  const { isShared } = useNavigation();
  const [order, setOrder] = useState<Order>('excess');
  const costs = useCosts(hasCosts && rows.length > 0, version);
  const sizeOf = ({ dimensions, fields }: Row): number =>
    order === 'sessions' ? (fields.sessions ?? 0) : (costs?.get(dimensions.gap?.id ?? '') ?? 0);
  const sorted = order === 'excess' ? rows : rows.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return (
    <Found
      title="Gaps"
      view="gap"
      rows={sorted}
      costs={costs ?? undefined}
      lead={
        <>
          <p class="faint">
            What the assistant said it cannot do (ability) or does not know (knowledge).
            {costs === null
              ? ''
              : ' The cost is that of the replies in the conversations in which it came up.'}
          </p>
          {isShared ? null : (
            <Choice
              label="Sorted by"
              value={order}
              options={ORDERS.filter(([one]) => one !== 'cost' || costs !== null)}
              onChoice={setOrder}
            />
          )}
        </>
      }
      empty="The assistant admitted no missing ability or knowledge."
    />
  );
}

/** Returns what the conversations of each gap cost, US dollars by id; null where it is not asked for or unknown. */
function useCosts(isWanted: boolean, version: string): ReadonlyMap<string, number> | null {
  const { instance, name, range } = usePeriod();
  const { value } = useAnswer(`costs ${name} ${isWanted}`, version, async (signal) =>
    isWanted
      ? api.query({ instanceId: instance, ...range, groupBy: 'GAP', fields: 'costUsd', limit: 1000 }, signal)
      : null,
  );
  if (value === null) return null;
  const costs = new Map(
    value.elements.flatMap(({ dimensions: { gap }, fields: { costUsd } }) =>
      gap === undefined || costUsd == null ? [] : [[gap.id, costUsd] as const],
    ),
  );
  return costs.size === 0 ? null : costs;
}
