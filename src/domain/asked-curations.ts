/**
 * What a request asks to change about topics, clusters and gaps, before what it makes has an id.
 *
 * Covered by test/web/ingest/curator.test.ts.
 */
import type { CurationAction } from './curations.ts';

type ActionOf<Kind extends CurationAction['kind']> = Extract<CurationAction, { readonly kind: Kind }>;

export type AskedCuration =
  | Exclude<CurationAction, { readonly kind: 'MOVE' } | { readonly kind: 'CREATE' }>
  | Omit<ActionOf<'MOVE'>, 'clusterName'>
  /** Into a new cluster. */
  | { readonly kind: 'MOVE'; readonly id: string; readonly cluster: null; readonly clusterName: string }
  | Omit<ActionOf<'CREATE'>, 'id'>;

/** The action of what is asked for; `newId` is the id of the topic or cluster that it makes, if any. */
export function actionOf(asked: AskedCuration, newId: string): CurationAction {
  switch (asked.kind) {
    case 'CREATE':
      return { ...asked, id: newId };
    case 'MOVE':
      return asked.cluster === null ? { ...asked, cluster: newId } : asked;
    default:
      return asked;
  }
}

/** What a curation makes; null: nothing. */
export function madeBy(asked: AskedCuration): 'topic' | 'cluster' | null {
  if (asked.kind === 'CREATE') return 'topic';
  return asked.kind === 'MOVE' && asked.cluster === null ? 'cluster' : null;
}
