/**
 * The curations that a request asks for, before the topic, cluster or label that they make has an id.
 *
 * Test: test/web/ingest/curator.test.ts.
 */
import type { CurationAction } from './curations.ts';

type ActionOf<Kind extends CurationAction['kind']> = Extract<CurationAction, { readonly kind: Kind }>;

export type AskedCuration =
  | Exclude<CurationAction, { readonly kind: 'MOVE' | 'CREATE' | 'LABEL' }>
  | Omit<ActionOf<'MOVE'>, 'clusterName'>
  /** Moves topic `id` into a new cluster. */
  | { readonly kind: 'MOVE'; readonly id: string; readonly cluster: null; readonly clusterName: string }
  | Omit<ActionOf<'CREATE'>, 'id'>
  /** `id` null: a new label. */
  | (Omit<ActionOf<'LABEL'>, 'id'> & { readonly id: string | null });

/** Returns the action to record. `newId`: id of the topic, cluster or label that it makes, if any. */
export function actionOf(asked: AskedCuration, newId: string): CurationAction {
  switch (asked.kind) {
    case 'CREATE':
      return { ...asked, id: newId };
    case 'LABEL':
      return { ...asked, id: asked.id ?? newId };
    case 'MOVE':
      return asked.cluster === null ? { ...asked, cluster: newId } : asked;
    default:
      return asked;
  }
}

/** Returns the kind of entity that a curation makes, or null. */
export function madeBy(asked: AskedCuration): 'topic' | 'cluster' | 'label' | null {
  if (asked.kind === 'CREATE') return 'topic';
  if (asked.kind === 'LABEL') return asked.id === null ? 'label' : null;
  return asked.kind === 'MOVE' && asked.cluster === null ? 'cluster' : null;
}
