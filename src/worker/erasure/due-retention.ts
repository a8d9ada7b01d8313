/**
 * Finds the retention runs that are due. Instances are listed only if it matters of which project they are, and looks
 * that repeat read nothing again until a setting or a run changes or a day begins.
 *
 * Test: test/worker/erasure/due-retention.test.ts.
 */
import {
  dueRuns,
  midnightOf,
  needsInstances,
  retainedOf,
  type ProjectInstance,
  type RetentionRun,
} from '../../domain/retention.ts';
import type { Retentions } from '../../stream/ledgers/retentions.ts';

/** Lists the instances of all projects. */
export type ListInstances = () => Promise<readonly ProjectInstance[]>;

/** The runs to begin, resume or close. `now`: microseconds. */
export async function dueNow(
  retentions: Pick<Retentions, 'retained' | 'projects' | 'list' | 'settingsRevision'>,
  instances: ListInstances,
  now: number,
): Promise<RetentionRun[]> {
  for (;;) {
    const settings = await retentions.settingsRevision();
    const projects = await retentions.projects();
    const own = await retentions.retained();
    const listed = needsInstances(own, projects) ? await instances() : [];
    const retained = retainedOf(own, projects, listed, now);
    // Settings of different moments could make days that never held.
    if ((await retentions.settingsRevision()) === settings)
      return dueRuns(retained, await retentions.list(), now);
  }
}

/** Returns a function that checks if a run is due. `now`: microseconds. */
export function createDueLook(
  retentions: Pick<Retentions, 'retained' | 'projects' | 'list' | 'revision' | 'settingsRevision'>,
  instances: ListInstances,
): (now: number) => Promise<boolean> {
  let seen = '';
  let isDue = false;
  return async (now) => {
    const state = `${await retentions.revision()} ${midnightOf(now)}`;
    if (state !== seen) {
      isDue = (await dueNow(retentions, instances, now)).length > 0;
      seen = state;
    }
    return isDue;
  };
}
