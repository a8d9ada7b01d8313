/** Refolding a history: what its law checks, and the process that a test kills. Used by test/store/live/refold.test.ts. */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection, Row } from '../../src/store/duckdb.ts';
import { refold, type RefoldOptions } from '../../src/store/live/refold.ts';
import type { View } from '../../src/store/view-files.ts';
import { openFixture, VIEWS } from './fold.ts';
import { history, INSTANCES, readHistory, type History } from './histories.ts';
import type { Law } from './laws.ts';
import { foldLive } from './view-laws.ts';
import { checkPublished, sameRows, stateRows } from './view-rows.ts';

const EACH_INSTANCE = Array.from({ length: INSTANCES }, (_, index) => index + 1);
/** So few that every history has several parts, and chains cross them. */
const PART_ROWS = 7;

/** Options of a refold of test views, into a folder. */
export function refoldOptions(
  from: string,
  directory: string,
  views: readonly View[] = VIEWS,
): RefoldOptions {
  return {
    from: join(from, 'state.duckdb'),
    directory,
    views,
    analysis: 'test',
    threads: 1,
    partRows: PART_ROWS,
  };
}

/** The tables of the worker alone, but for what tells one database from another. */
export async function ownRows(connection: Connection): Promise<Readonly<Record<string, readonly Row[]>>> {
  const rows: Record<string, readonly Row[]> = {};
  for (const table of ['request', 'assign_state', 'session_state', 'deferred'])
    rows[table] = await connection.all(`from st.${table} order by all`);
  rows['meta'] = await connection.all('select * exclude (store, revision) from st.meta');
  return rows;
}

/**
 * A history that is refolded on its way, in parts, and goes on in the database that came of it, ends in the rows of the
 * same facts folded at once into a fresh store; also as readers see it.
 */
export function refoldLaw(order: 'stream' | 'any', views: readonly View[]): Law<History> {
  return {
    name: order === 'stream' ? 'replay' : 'order',
    cases: history(order),
    check: async (given) => {
      const { batches, whole } = readHistory(given);
      const half = Math.ceil(batches.length / 2);
      const fixture = await openFixture({ views, compactRows: 100 });
      const fresh = await openFixture({ views });
      try {
        await foldLive(fixture, batches.slice(0, half), views);
        await fixture.restart(() => refoldInPlace(fixture.directory, views));
        await foldLive(fixture, batches.slice(half), views);
        await checkPublished(fixture, views, EACH_INSTANCE);
        await fixture.restart(() => refoldInPlace(fixture.directory, views));
        await fixture.publish();
        await checkPublished(fixture, views, EACH_INSTANCE);
        const { work, sequence, lastSequenceOf, sessionNames, attributes, feedback } = whole;
        await fresh.fold(work, [], {
          sequence,
          lastSequenceOf,
          sessionNames,
          attributes,
          feedback,
          processedAt: 0,
        });
        sameRows(
          await stateRows(fixture.store.connection, views),
          await stateRows(fresh.store.connection, views),
          'refolded, and replayed',
        );
      } finally {
        await fixture.close();
        await fresh.close();
      }
    },
  };
}

/** Puts a refolded database in the place of the one that it was made from. */
async function refoldInPlace(directory: string, views: readonly View[]): Promise<void> {
  const made = join(directory, 'refolded');
  await refold(refoldOptions(directory, made, views));
  renameSync(join(made, 'state.duckdb'), join(directory, 'state.duckdb'));
  rmSync(made, { recursive: true });
}

// Started as a process, it refolds FROM into TO and kills itself before the second part.
const [, script, from, to] = process.argv;
if (script === import.meta.filename && from !== undefined && to !== undefined) {
  await refold({
    ...refoldOptions(from, to),
    onPart: (done) => {
      if (done > 0) process.kill(process.pid, 'SIGKILL');
    },
  });
}
