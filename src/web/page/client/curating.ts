/** What people decide about topics: whether this key may, and how a decision is sent and undone. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { api, type Curation, type NewTopic, type Written } from './api.ts';

/** What was decided last, in words. */
export interface Decision {
  readonly words: string;
  /** Null: it cannot be undone here. */
  readonly curationId: string | null;
}

export interface Curating {
  /** Why this key may not; '' where it may. */
  readonly reason: string;
  readonly last: Decision | null;
  readonly forget: () => void;
  /** Sends a decision, and waits until the numbers have it. Throws ApiError, also when the worker refused it. */
  readonly decide: (curation: Curation, words: string) => Promise<void>;
  readonly makeTopic: (topic: NewTopic) => Promise<void>;
  /** Different after each decision: what shows it asks again. */
  readonly edits: number;
}

export const CuratingContext = createContext<Curating | null>(null);

export function useCurating(): Curating {
  const curating = useContext(CuratingContext);
  if (curating === null) throw new Error('there is nobody to decide');
  return curating;
}

const NO_SCOPE =
  'This key may look but not change anything, as it lacks the scope curate. To make one that may: ' +
  'npm run keys -- create --project NAME --scope query,curate';

/** The worker is behind, or waits for a rebuild. */
const LATER =
  'This is stored. It shows once the service has processed it; the list of decisions then has it.';

/** Decisions about one instance. `scopes`: those of the key, once they are known. */
export function useDecisions(instance: string, scopes: readonly string[] | null): Curating {
  const [last, setLast] = useState<Decision | null>(null);
  const [edits, setEdits] = useState(0);
  useEffect(() => setLast(null), [instance]);
  const finish = async (written: Written, words: string, isUndo: boolean): Promise<void> => {
    const isProcessed = await api.settle(instance, written.position);
    const { elements } = await api.curations({ instanceId: instance, limit: 20 });
    const refusal = elements.find(({ curationId }) => curationId === written.curationId)?.reason;
    setEdits((count) => count + 1);
    if (refusal != null) throw new Error(refusal.message);
    setLast(
      isProcessed
        ? { words, curationId: isUndo ? null : written.curationId }
        : { words: LATER, curationId: null },
    );
  };
  return {
    // A service that cannot be asked now says so when a decision is sent.
    reason: scopes === null || scopes.includes('curate') ? '' : NO_SCOPE,
    last,
    forget: () => setLast(null),
    edits,
    decide: async (curation, words) =>
      finish(await api.curate(instance, curation), words, curation.action === 'UNDO'),
    makeTopic: async (topic) =>
      finish(
        await api.makeTopic(instance, topic),
        `“${topic.name}” is a topic of your own now. It shows with its first request.`,
        false,
      ),
  };
}
