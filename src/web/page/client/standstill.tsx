/**
 * The notice that explains why numbers do not move although the service responds.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { standstillOf, type Reason } from './format.ts';
import { usePolling } from './hooks.ts';

const LOOK_MS = 10_000;

/** Polls every ten seconds while the tab is visible. `useLive` reports an unreachable service. */
export function Standstill() {
  const [text, setText] = useState('');
  usePolling(LOOK_MS, '', async (signal) => {
    const reasons = await askReasons().catch(() => null);
    if (!signal.aborted && reasons !== null) setText(standstillOf(reasons));
  });
  return text === '' ? null : (
    <p class="notice standstill" role="status">
      {text}
    </p>
  );
}

/** Returns null if the service is not ready, because its response then lacks the reasons. */
async function askReasons(): Promise<readonly Reason[] | null> {
  const answer = await fetch('/readyz', { headers: { accept: 'application/json' } });
  if (!answer.ok) return null;
  const { reasons } = (await answer.json()) as { readonly reasons?: readonly Reason[] };
  return reasons ?? [];
}
