/**
 * Polls how far the views are, and if the service responds.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError } from './api.ts';

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
  useEffect(() => {
    let timer = 0;
    let isOver = false;
    const look = async (): Promise<void> => {
      if (!document.hidden && instanceId !== '') {
        try {
          const version = (await lastProcessedAt(instanceId)) ?? '';
          if (!isOver) setLive({ version, isOffline: false });
        } catch (error) {
          const isAway = error instanceof ApiError && (error.status === 0 || error.status === 503);
          if (!isOver)
            setLive((last) => ({ version: last.version ?? '', isOffline: isAway || last.isOffline }));
        }
      }
      if (!isOver) timer = setTimeout(() => void look(), LOOK_MS) as unknown as number;
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [instanceId]);
  return live;
}
