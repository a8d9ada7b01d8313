/**
 * Polls how far the views are, and if the service responds.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useState } from 'preact/hooks';
import { api, ApiError } from './api.ts';
import { usePolling } from './hooks.ts';

/** Interval of the polls. */
const LOOK_MS = 1000;

/**
 * Returns how far the views of an instance are; null without messages. The query is cheap: it reads a few rows of a
 * rollup.
 */
export async function lastProcessedAt(instanceId: string): Promise<string | null> {
  const answer = await api.query({ instanceId, groupBy: 'CSAT_DSAT', fields: 'messages', limit: 1 });
  return answer.lastProcessedAt;
}

export interface Live {
  /** `lastProcessedAt`; null until known, so that the page does not load its data twice. */
  readonly version: string | null;
  readonly isOffline: boolean;
}

/** Polls each second while the tab is visible. */
export function useLive(instanceId: string): Live {
  const [live, setLive] = useState<Live>({ version: null, isOffline: false });
  usePolling(LOOK_MS, instanceId, async (signal) => {
    if (instanceId === '') return;
    try {
      const version = (await lastProcessedAt(instanceId)) ?? '';
      if (!signal.aborted) setLive({ version, isOffline: false });
    } catch (error) {
      const isAway = error instanceof ApiError && (error.status === 0 || error.status === 503);
      if (!signal.aborted)
        setLive((last) => ({ version: last.version ?? '', isOffline: isAway || last.isOffline }));
    }
  });
  return live;
}
