/** Why numbers stand still while the service answers. */
import { useEffect, useState } from 'preact/hooks';
import { standstillOf, type Reason } from './format.ts';

const LOOK_MS = 10_000;

/** Looks every ten seconds while the tab is seen; what cannot be asked is said elsewhere. */
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

/** Null when the service is not ready: it says nothing of the rest then. */
async function askReasons(): Promise<readonly Reason[] | null> {
  const answer = await fetch('/readyz', { headers: { accept: 'application/json' } });
  if (!answer.ok) return null;
  const { reasons } = (await answer.json()) as { readonly reasons?: readonly Reason[] };
  return reasons ?? [];
}
