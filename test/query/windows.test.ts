import { after, before, describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GROUPINGS } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from '../support/groupings.ts';
import { GRANULARITIES, parseInstant } from '../../src/domain/time.ts';
import type { QueryParameters } from '../../src/query/parameters.ts';
import { planQuery, type ChosenEntities } from '../../src/query/plan.ts';
import type { Plan } from '../../src/query/statement.ts';
import type { Row } from '../../src/store/duckdb.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { openFixture, uuid, VIEWS, type Fixture } from '../support/fold.ts';
import { sampled } from '../support/long.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

/**
 * Windows without partition race in DuckDB (duckdb#22846, #25713, #25995): now and then a statement ends in an
 * internal error, and the whole database refuses to work from then on. So no statement has one.
 */
interface Operator {
  readonly name: string;
  readonly children: readonly Operator[];
  readonly extra_info: Readonly<Record<string, string | readonly string[]>>;
}

/** Windows without partition in what DuckDB says of how it would run a statement. */
function unpartitioned([explained]: readonly Row[]): string[] {
  const inside = ({ name, children, extra_info: { Projections: projections = [] } }: Operator): string[] => {
    const own = name.includes('WINDOW')
      ? [projections].flat().filter((each) => !each.includes('OVER (PARTITION BY'))
      : [];
    return [...own, ...children.flatMap(inside)];
  };
  return (JSON.parse(explained?.['explain_value'] as string) as Operator[]).flatMap(inside);
}

const EXPLAIN = 'explain (format json)';

const at = (text: string): number => parseInstant(text) as number;
const RANGES: readonly QueryParameters['range'][] = [
  { start: null, end: null },
  { start: at('2025-11-01T00:00Z'), end: null },
  { start: null, end: at('2025-12-03T04:05Z') },
  { start: at('2025-11-01T00:00Z'), end: at('2026-01-01T00:00Z') },
  { start: at('2025-11-21T02:30Z'), end: at('2025-12-03T04:05Z') },
  { start: at('2025-11-21T02:30Z'), end: at('2025-11-21T02:40Z') },
];

describe('windows without partition', () => {
  let fixture: Fixture;
  let snapshot: Snapshot;

  before(async () => {
    fixture = await openFixture({ compactRows: 100 });
    const stream = new SyntheticStream({ messages: 900, days: 40, topics: 10 });
    for (let batch = 0; batch < 3; batch += 1) {
      await fixture.fold(stream.next(300));
      await fixture.publish();
    }
    snapshot = (await fixture.reader.snapshot()) as Snapshot;
  });
  after(async () => {
    snapshot.release();
    await fixture.close();
  });

  it('are told from others in what DuckDB plans', async () => {
    const found = async (windows: string): Promise<string[]> =>
      unpartitioned(await snapshot.all(`${EXPLAIN} select *, ${windows} from @topic`));
    deepEqual(await found('count(*) over ()'), ['count() OVER ()']);
    deepEqual(await found('lag(id) over (partition by cluster order by id)'), []);
    equal((await found('row_number() over (), first(id) over (order by id)')).length, 2);
  });

  it('are in no statement of a query', async () => {
    const plans = new Map<string, Plan>();
    for (const { parameters, chosen } of everyQuestion()) {
      for (const wanted of ['page', 'total', 'page and total'] as const) {
        const plan = planQuery(parameters, 1, VIEWS, chosen, wanted);
        plans.set(plan.sql, plan);
      }
    }

    ok(plans.size > 300, `${plans.size} statements`);
    // The short form asks DuckDB about some of each kind.
    for (const plan of sampled([...plans.values()], 3))
      deepEqual(unpartitioned(await snapshot.all(`${EXPLAIN} ${plan.sql}`, plan)), [], plan.sql);
  });

  it('are in no statement of a fold', async () => {
    for (const { sql } of VIEWS.flatMap((view) => view.fold.flatMap((block) => block.statements)))
      deepEqual(unpartitioned(await fixture.store.connection.all(`${EXPLAIN} ${sql}`)), [], sql);
  });

  it('can come of no other statement: every window that is written down has a partition', () => {
    const root = join(import.meta.dirname, '../..');
    const files = ['src', 'views'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(root, folder, file),
      ),
    );
    const without = files
      .filter((file) => /\.(?:ts|sql)$/.test(file))
      .filter((file) => /\bover\s*\((?!\s*partition by)|\bover\s+(?:w|win|window)\b/i.test(sqlOf(file)));
    deepEqual(without, []);
  });
});

/** A file without its comments, which may speak of windows. */
function sqlOf(file: string): string {
  return readFileSync(file, 'utf8').replaceAll(/^\s*(?:--|\/\/|\/?\*).*$/gm, '');
}

const CHOSEN: ChosenEntities = {
  topic: [1, 2],
  cluster: [1],
  signal: [1],
  repeated_request: [1],
  gap: [1],
};

/** Every grouping, granularity, kind of range and order, plain and with everything that changes a statement. */
function* everyQuestion(): Generator<{ parameters: QueryParameters; chosen: ChosenEntities }> {
  for (const groupBy of PLAIN_GROUP_BYS) {
    const metrics = GROUPINGS[groupBy].metrics;
    const plain: QueryParameters = {
      instanceId: uuid(1, 1),
      groupBy,
      range: { start: null, end: null },
      granularity: 'ALL',
      timeZone: null,
      fields: metrics,
      dimensionFields: [],
      ids: null,
      topicIds: null,
      clusterIds: null,
      signalIds: null,
      repeatedRequestIds: null,
      gapIds: null,
      labelIds: null,
      endUserIds: null,
      gapType: null,
      signalSource: null,
      lifeStates: null,
      signals: null,
      language: null,
      outcome: null,
      externalId: null,
      titleContains: null,
      textContains: null,
      segment: [],
      segmentKey: null,
      limit: 50,
      offset: 0,
      sort: null,
      bounds: [],
    };
    const bounded: QueryParameters = { ...plain, bounds: [{ metric: 'messages', min: 1, max: 9 }] };
    const filtered: QueryParameters =
      groupBy === 'SESSION'
        ? { ...bounded, ids: [uuid(3, 1)], language: 'en', outcome: ['open', 'solved'], titleContains: 'a' }
        : bounded;
    const chosen = groupBy === 'SESSION' ? { ...CHOSEN, session: [1], end_user: [1] } : CHOSEN;
    if (metrics.includes('sat')) yield { parameters: { ...plain, signals: 'all' }, chosen: {} };
    for (const granularity of GRANULARITIES) {
      for (const range of RANGES) {
        yield { parameters: { ...plain, granularity, range }, chosen: {} };
        yield { parameters: { ...filtered, granularity, range }, chosen };
      }
    }
    for (const field of [...metrics, ...GROUPINGS[groupBy].sorts])
      yield { parameters: { ...plain, sort: { field, order: 'DESC' } }, chosen: {} };
  }
}
