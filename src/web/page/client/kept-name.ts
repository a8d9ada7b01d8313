/**
 * Finds the decision that keeps a name.
 *
 * Test: test/web/page/kept-name.test.ts.
 */
import type { CurationsResponse } from './api.ts';

type Listed = CurationsResponse['elements'][number];
type Decided = Pick<Listed, 'curationId' | 'action' | 'status'> & {
  readonly target: Pick<Listed['target'], 'id'>;
};

/**
 * Returns the decision to keep the name of an entity, which an undo takes back; null if there is none, or if a later
 * decision gave another name. `decisions`: newest first.
 */
export function keptNameOf(decisions: readonly Decided[], id: string): string | null {
  const last = decisions.find(
    ({ action, status, target }) =>
      target.id === id && status === 'APPLIED' && (action === 'PIN' || action === 'RENAME'),
  );
  return last?.action === 'PIN' ? last.curationId : null;
}
