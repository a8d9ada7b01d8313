/**
 * The switch that says where requests count that no topic made by people claims.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { api, type CurationsResponse } from './api.ts';
import { useCurating } from './curating.ts';
import { useAnswer, useNavigation } from './hooks.ts';

type Unclaimed = NonNullable<CurationsResponse['elements'][number]['details']['unclaimed']>;

const CHOICES: Readonly<Record<Unclaimed, { readonly label: string; readonly done: string }>> = {
  FOUND: {
    label: 'show found topics',
    done: 'Requests that fit none of your own topics show the topics found for them.',
  },
  OTHER: { label: 'count as Other', done: 'Requests that fit none of your own topics count as Other.' },
};

/** Returns the choice in effect: the latest that nobody undid, FOUND without one. */
async function chosenIn(instanceId: string, signal: AbortSignal): Promise<Unclaimed> {
  for (let cursor: string | undefined; ;) {
    const { elements, pagination } = await api.curations({ instanceId, limit: 1000, cursor }, signal);
    const latest = elements.find(({ action, status }) => action === 'ROUTE' && status === 'APPLIED');
    if (latest !== undefined || pagination.next === null) return latest?.details.unclaimed ?? 'FOUND';
    cursor = pagination.next;
  }
}

export function UnclaimedChoice({ version }: { readonly version: string }) {
  const { state } = useNavigation();
  const { decide, reason } = useCurating();
  const [fault, setFault] = useState('');
  const { value } = useAnswer(`unclaimed ${state.instance}`, version, (signal) =>
    chosenIn(state.instance, signal),
  );
  if (value === null) return null;
  return (
    <label>
      Requests that fit none of your own topics:{' '}
      <select
        value={value}
        disabled={reason !== ''}
        title={reason}
        onChange={({ currentTarget }) => {
          const unclaimed = currentTarget.value as Unclaimed;
          setFault('');
          decide({ action: 'ROUTE', unclaimed }, CHOICES[unclaimed].done).catch((error: Error) => {
            currentTarget.value = value;
            setFault(error.message);
          });
        }}
      >
        {Object.entries(CHOICES).map(([choice, { label }]) => (
          <option key={choice} value={choice}>
            {label}
          </option>
        ))}
      </select>
      {fault === '' ? null : <span role="alert">{fault}</span>}
    </label>
  );
}
