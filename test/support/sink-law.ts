import { deepEqual, equal } from 'node:assert/strict';
import { join } from 'node:path';
import { GROUPINGS, type GroupBy } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from './groupings.ts';
import type { Metric } from '../../src/domain/metrics.ts';
import { SIGNAL_SOURCES } from '../../src/domain/signal-kinds.ts';
import { formatBucket, GRANULARITIES, type Granularity } from '../../src/domain/time.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import { SINK_TABLES } from '../../src/doors/sink/tables.ts';
import { openDatabase, type Connection, type Row } from '../../src/store/duckdb.ts';
import type { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import type { View } from '../../src/store/view-files.ts';
import { openFixture, temporaryDirectory, uuid } from './fold.ts';
import {
  history,
  INSTANCES,
  parametersOf,
  readHistory,
  type History,
  type ReadHistory,
} from './histories.ts';
import type { Law } from './laws.ts';
import { globbed, hasTable, parquetFiles, sameFolders, sinkOnce, writeTimes } from './sink.ts';
import { foldLive } from './view-laws.ts';

/**
 * What a sink leaves after each run is what it would write into an empty folder, and what queries say; a file is
 * written again when its rows have changed, and only then. Views that a rebuild makes of the same stream change
 * nothing.
 */
export function sinkLaw(views: readonly View[]): Law<History> {
  return {
    name: 'sink',
    cases: history('stream'),
    check: async (given) => {
      const read = readHistory(given);
      const temporary = temporaryDirectory();
      const database = await openDatabase({ threads: 1 });
      const connection = await database.connect();
      const fixture = await openFixture({ views, compactRows: 100 });
      const rebuilt = await openFixture({ views });
      try {
        const to = join(temporary.path, 'sink');
        for (const batch of read.batches) {
          await foldLive(fixture, [batch], views);
          await checkRun(connection, to, () => sinkOnce(fixture.reader, to));
        }
        const fresh = join(temporary.path, 'fresh');
        await sinkOnce(fixture.reader, fresh);
        await sameFolders(connection, to, fresh);
        await checkAnswers(connection, to, fixture.reader, read, views);
        await foldLive(rebuilt, [{ ...read.whole, deeds: [] }], views);
        const again = await sinkOnce(rebuilt.reader, to, { epoch: 2 });
        deepEqual([again.run?.filesWritten, again.run?.filesRemoved], [0, 0], 'after a rebuild');
      } finally {
        await rebuilt.close();
        await fixture.close();
        connection.close();
        database.close();
        temporary.remove();
      }
    },
  };
}

/** Of the files that were there and are there, those are new whose rows are. */
async function checkRun(connection: Connection, folder: string, run: () => Promise<unknown>): Promise<void> {
  const [rowsBefore, timesBefore] = [await rowsByFile(connection, folder), writeTimes(folder)];
  await run();
  const [rows, times] = [await rowsByFile(connection, folder), writeTimes(folder)];
  for (const file of parquetFiles(folder)) {
    if (!rowsBefore.has(file)) continue;
    equal(times.get(file) === timesBefore.get(file), rows.get(file) === rowsBefore.get(file), file);
  }
}

async function rowsByFile(connection: Connection, folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { name } of SINK_TABLES) {
    if (!hasTable(folder, name)) continue;
    const rows = await connection.all(
      `select filename, list_sort(list(t::varchar))::varchar as rows
from ${globbed(folder, name).replace(')', ', filename = true)')} t group by filename`,
    );
    for (const row of rows)
      found.set((row['filename'] as string).slice(folder.length + 1), row['rows'] as string);
  }
  return found;
}

/** Metrics that are counts, and the last activity: the others follow from them. */
const COUNTED: Readonly<Partial<Record<Metric, string>>> = {
  sessions: 'sessions',
  users: 'users',
  messages: 'messages',
  sat: 'sat',
  dsat: 'dsat',
  repeatedRequests: 'repeated_requests',
};

/** Every grouping in every bucket, by each way in which the sink has it. */
async function checkAnswers(
  connection: Connection,
  folder: string,
  reader: SnapshotReader,
  read: ReadHistory,
  views: readonly View[],
): Promise<void> {
  const runner = new QueryRunner({ views, readerOf: () => reader });
  for (const groupBy of PLAIN_GROUP_BYS) {
    const metrics = GROUPINGS[groupBy].metrics.filter((metric) => metric in COUNTED);
    for (const granularity of GRANULARITIES) {
      const hasWaits = (GROUPINGS[groupBy].metrics as readonly Metric[]).includes('waitSeconds');
      const expected: { readonly row: readonly unknown[]; readonly wait: unknown }[] = [];
      // Queries leave out observed signals until they are checked; the sink has them, with their source.
      const sources = groupBy === 'CSAT_DSAT' ? SIGNAL_SOURCES : [null];
      for (let instance = 1; instance <= INSTANCES; instance += 1) {
        const fields = hasWaits ? ([...metrics, 'waitSeconds'] as const) : metrics;
        const question = { instance, groupBy, granularity, fields, dimensionFields: [] };
        const asked = sources.map((signalSource) =>
          runner.run(parametersOf({ ...question, signalSource }, read.namesOf(instance))),
        );
        const elements = (await Promise.all(asked)).flatMap((answer) => answer.elements);
        for (const { dimensions, fields } of elements) {
          const entity = (dimensions as Record<string, { readonly id: string }>)[GROUPINGS[groupBy].name];
          const counts = metrics.map((metric) => fields[metric]);
          const row = [uuid(1, instance), entity?.id, dimensions.date ?? null, ...counts];
          expected.push({ row, wait: fields.waitSeconds ?? null });
        }
      }
      for (const { sql, tellsWaits } of waysOf(folder, groupBy, granularity)) {
        const columns = metrics.map((metric) => COUNTED[metric] ?? '');
        if (tellsWaits) columns.push('wait_seconds');
        const rows = await connection.all(
          `select instance_id, id, bucket, ${columns.join(', ')} from (${sql})`,
        );
        const found = rows.map((row) => [
          row['instance_id'],
          row['id'],
          dateOf(row),
          ...columns.map((column) => row[column]),
        ]);
        const wanted = expected.map(({ row, wait }) => (tellsWaits ? [...row, wait] : row));
        deepEqual(sorted(found), sorted(wanted), `${groupBy} by ${granularity}: ${sql}`);
      }
    }
  }
}

function dateOf({ bucket }: Row): string | null {
  return typeof bucket === 'number' && Number.isFinite(bucket) ? formatBucket(bucket) : null;
}

function sorted(rows: readonly (readonly unknown[])[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

interface Way {
  readonly sql: string;
  /** It has `wait_seconds`, too: facts alone tell waits. */
  readonly tellsWaits: boolean;
}

/** Statements that give a grouping from tables of the sink. */
function waysOf(folder: string, groupBy: GroupBy, granularity: Granularity): Way[] {
  const { counts } = GROUPINGS[groupBy];
  const of = (table: string): string | null => (hasTable(folder, table) ? globbed(folder, table) : null);
  const bucket =
    granularity === 'ALL'
      ? 'null::timestamp'
      : `date_trunc('${granularity}', event_at::timestamp)::timestamp`;
  const kind = counts.view === 'entity_rollup' ? groupBy : 'MESSAGE';
  const id = counts.view === 'entity_rollup' ? 'entity_id' : `${counts.names}_id`;
  const ways: Way[] = [];
  const add = (sql: string, tellsWaits = false): number => ways.push({ sql, tellsWaits });
  const facts = of('facts');
  if (facts !== null)
    add(
      `select instance_id, ${id} as id, ${bucket} as bucket, count(distinct session_id) as sessions,
  count(distinct end_user_id) as users, count(*) as messages, sum(sat)::int as sat, sum(dsat)::int as dsat,
  sum(repeated_requests)::int as repeated_requests, quantile_disc(wait_seconds, 0.5) as wait_seconds
from ${facts} where kind = '${kind}' and ${id} is not null group by all`,
      true,
    );
  const whole = granularity === 'ALL';
  const table =
    counts.view !== 'entity_rollup' ? (whole ? `${counts.names}s` : null) : whole ? 'totals' : 'rollups';
  const rollup = table === null ? null : of(table);
  if (rollup !== null && counts.view !== 'entity_rollup')
    add(`select *, ${id} as id, null::timestamp as bucket, 1 as users from ${rollup}`);
  else if (rollup !== null && whole)
    add(`select *, entity_id as id, null::timestamp as bucket from ${rollup} where kind = '${kind}'`);
  else if (rollup !== null)
    add(`select * replace (bucket::timestamp as bucket), entity_id as id from ${rollup}
where kind = '${kind}' and granularity = '${granularity}'`);
  return ways;
}
