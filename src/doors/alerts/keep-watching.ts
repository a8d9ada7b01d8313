/**
 * Keeps a watch on a bucket alive.
 *
 * Test: test/doors/alerts/rules.test.ts.
 */
import type { KeyValueWatch } from '../../stream/kv/key-value.ts';

export interface KeptWatch {
  /** Resolves once all initial entries are delivered. Rejects if closed before. */
  readonly loaded: Promise<void>;
  close(): Promise<void>;
}

/** Watches a bucket, and restarts from its beginning after it was emptied or replaced; `onLost` is called first. */
export function keepWatching(watch: () => KeyValueWatch, onLost: () => void): KeptWatch {
  let closed = false;
  let current: KeyValueWatch;
  const begin = (): KeyValueWatch => {
    current = watch();
    const begun = current;
    begun.loaded.catch(() => undefined);
    void begun.failed.then(() => {
      void begun.close();
      if (closed) return;
      onLost();
      begin();
    });
    return begun;
  };
  const { loaded } = begin();
  return {
    loaded,
    close: async () => {
      closed = true;
      await current.close();
    },
  };
}
