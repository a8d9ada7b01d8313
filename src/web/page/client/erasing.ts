/** What people erase for good: whether this key may, how it is asked for, and how far the last one is. */
import { createContext } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type Erasure, type ErasureTarget } from './api.ts';

/** How often the page asks how far an erasure is. */
export const LOOK_MS = 1000;

export interface Erasing {
  /** Why this key may not; '' where it may; null: it is not known yet. */
  readonly reason: string | null;
  /** What was asked for last in this tab, as it is now. */
  readonly last: Erasure | null;
  readonly forget: () => void;
  /** Resolves once it is accepted. Throws ApiError. */
  readonly erase: (target: ErasureTarget, reason: string) => Promise<void>;
  /** Different after each erasure that is asked for or done: what shows it asks again. */
  readonly edits: number;
}

/** Null: whoever looks has nothing but a link. */
export const ErasingContext = createContext<Erasing | null>(null);

const NO_SCOPE =
  'This key cannot erase, as it lacks the scope erase. To make one that may: ' +
  'npm run keys -- create --project NAME --scope query,erase';

/** Erasures in one instance. `scopes`: those of the key, once they are known. */
export function useErasing(instance: string, scopes: readonly string[] | null): Erasing {
  const [last, setLast] = useState<Erasure | null>(null);
  const [edits, setEdits] = useState(0);
  useEffect(() => {
    if (last === null || last.state === 'DONE') return;
    let isOver = false;
    const timer = setTimeout(() => {
      // A service that is away for a moment is asked again.
      const asked = api.erasure(last.id).catch(() => ({ ...last }));
      void asked.then((now) => {
        if (isOver) return;
        setLast(now);
        if (now.state === 'DONE') setEdits((count) => count + 1);
      });
    }, LOOK_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [last]);
  return {
    reason: scopes === null ? null : scopes.includes('erase') ? '' : NO_SCOPE,
    last,
    forget: () => setLast(null),
    erase: async (target, reason) => {
      setLast(await api.erase(instance, target, reason));
      setEdits((count) => count + 1);
    },
    edits,
  };
}
