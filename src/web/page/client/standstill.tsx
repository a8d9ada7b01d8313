/**
 * The notice that explains why numbers do not move although the service responds.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { standstillOf, type Reason } from './format.ts';

const LOOK_MS = 10_000;

/** Polls every ten seconds while the tab is visible. `useLive` reports an unreachable service. */
export function Standstill() {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer = 0;
    let isOver = false;
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        const reasons = await askReasons().catch(() => null);
        if (!isOver && reasons !== null) setText(standstillOf(reasons));
      }
      if (!isOver) timer = setTimeout(() => void look(), LOOK_MS) as unknown as number;
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
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
