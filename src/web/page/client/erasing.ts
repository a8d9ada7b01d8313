/**
 * Sends erasures, and tracks the last one until it is done.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { createContext } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type Erasure, type ErasureTarget } from './api.ts';

/** Interval of progress requests. */
export const LOOK_MS = 1000;

export interface Erasing {
  /** The reason why this key may not erase; '' if it may; null until known. */
  readonly reason: string | null;
  /** The last erasure of this tab, as it is now. */
  readonly last: Erasure | null;
  readonly forget: () => void;
  /** Resolves once it is accepted. Throws ApiError. */
  readonly erase: (target: ErasureTarget, reason: string) => Promise<void>;
  /** Changes when an erasure is accepted or done, so that views reload. */
  readonly edits: number;
}

/** Null for readers with a link. */
export const ErasingContext = createContext<Erasing | null>(null);

const NO_SCOPE =
  'This key cannot erase, as it lacks the scope erase. To make one that may: ' +
  'npm run keys -- create --project NAME --scope query,erase';

/** `scopes`: those of the key, once known. */
export function useErasing(instance: string, scopes: readonly string[] | null): Erasing {
  const [last, setLast] = useState<Erasure | null>(null);
  const [edits, setEdits] = useState(0);
  useEffect(() => {
    if (last === null || last.state === 'DONE') return;
    let isOver = false;
    const timer = setTimeout(() => {
      // Retries while the service is away.
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
