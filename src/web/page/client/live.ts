/** How far the numbers are, and whether the service answers. */
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError } from './api.ts';

/** How often the page asks whether something new was processed. */
const LOOK_MS = 1000;

/** How far the views of an instance are; null: it has no message. A few rows of a rollup say it. */
export async function lastProcessedAt(instanceId: string): Promise<string | null> {
  const answer = await api.query({ instanceId, groupBy: 'CSAT_DSAT', fields: 'messages', limit: 1 });
  return answer.lastProcessedAt;
}

export interface Live {
  /** How far the views are; null: not known yet, and what is asked before it is known would be asked twice. */
  readonly version: string | null;
  readonly isOffline: boolean;
}

/** Says what changed last, and whether the service answers; looks each second while the tab is seen. */
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
