/**
 * Sends curations, and tracks the last one so that it can be undone.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { api, type Curation, type NewTopic, type SavedLabel, type Written } from './api.ts';

/** The last curation, in words. */
export interface Decision {
  readonly words: string;
  /** Null if it cannot be undone here. */
  readonly curationId: string | null;
}

export interface Curating {
  /** The reason why this key may not curate; '' if it may. */
  readonly reason: string;
  readonly last: Decision | null;
  readonly forget: () => void;
  /** Sends a curation and waits until the numbers include it. Throws ApiError, also when the worker refuses it. */
  readonly decide: (curation: Curation, words: string) => Promise<void>;
  readonly makeTopic: (topic: NewTopic) => Promise<void>;
  readonly saveLabel: (label: SavedLabel) => Promise<void>;
  /** Changes after each curation, so that views reload. */
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

/** Shown when the worker is behind or waits for a rebuild. */
const LATER =
  'This is stored. It shows once the service has processed it; the list of decisions then has it.';

/** `scopes`: those of the key, once known. */
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
    // Without scopes, the button stays enabled; a failing service reports its error on use.
    reason: scopes === null || scopes.includes('curate') ? '' : NO_SCOPE,
    last,
    forget: () => setLast(null),
    edits,
    decide: async (curation, words) =>
      finish(await api.curate(instance, curation), words, curation.action === 'UNDO'),
    saveLabel: async (label) =>
      finish(
        await api.saveLabel(instance, label),
        `Requests like these have the label “${label.name}” now.`,
        false,
      ),
    makeTopic: async (topic) =>
      finish(
        await api.makeTopic(instance, topic),
        `“${topic.name}” is a topic of your own now.` +
          (topic.fromTopicId === undefined ? ' It shows with its first request.' : ''),
        false,
      ),
  };
}
