import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CurationRow } from '../../../src/domain/facts.ts';
import { SESSION_OUTCOMES } from '../../../src/domain/session-outcomes.ts';
import { secondsOfStep, waitStep } from '../../../src/domain/waits.ts';
import type { SinkManifest } from '../../../src/doors/sink/manifest.ts';
import { SinkFolder } from '../../../src/doors/sink/folder.ts';
import { runSink, SinkInterrupted } from '../../../src/doors/sink/sink.ts';
import { SINK_TABLES } from '../../../src/doors/sink/tables.ts';
import { openDatabase, type Connection, type Database } from '../../../src/store/duckdb.ts';
import { assignment, fact, openFixture, temporaryDirectory, uuid, type Fixture } from '../../support/fold.ts';
import { globbed, parquetFiles, sameFolders, sinkOnce, writeTimes } from '../../support/sink.ts';

const DAY = 86_400_000_000;
const NOON = Date.UTC(2026, 0, 5, 12) * 1000;
const INSTANCE = 'instance_id=00000000-0000-8001-8000-000000000001';
const OTHER = uuid(1, 2);

const session = (number: number, instance = 1) => ({
  instance,
  session: number,
  id: uuid(3, number),
  user: null,
  title: `session ${number}`,
  summary: null,
  language: 'en',
  outcome: SESSION_OUTCOMES[number]!,
});
const topic = (number: number, name: string) => ({
  instance: 1,
  topic: number,
  id: uuid(5, number),
  name,
  cluster: null,
  heir: null,
  since: null,
});

/** Rows of these move between files, or change in them. */
const MOVING = SINK_TABLES.filter(({ name }) => ['sessions', 'facts'].includes(name));

let fixture: Fixture;
let database: Database;
let connection: Connection;
const temporary = temporaryDirectory();
let folders = 0;

/** Three days of two instances; the last day's session has a topic. */
async function threeDays(): Promise<Fixture> {
  const opened = await openFixture();
  await opened.fold(
    assignment({
      messages: [
        fact({ position: 1, session: 1, at: NOON, user: 1 }),
        fact({ position: 2, session: 2, at: NOON + DAY, user: 1, micro: 1 }),
        fact({ position: 3, session: 3, at: NOON + 2 * DAY, user: 2, micro: 1 }),
        fact({ position: 4, session: 3, at: NOON + 2 * DAY + 1, micro: 2, wait: waitStep(90_000_000) }),
        fact({ position: 5, instance: 2, session: 4, at: NOON, user: 3 }),
      ],
      sessions: [session(1), session(2), session(3), session(4, 2)],
      micros: [
        { instance: 1, micro: 1, topic: 1 },
        { instance: 1, micro: 2, topic: 2 },
      ],
      topics: [topic(1, 'refunds'), topic(2, 'parcels')],
    }),
    [],
    { attributes: [{ instance: 1, session: 2, name: 'environment', value: 'test' }] },
  );
  await opened.publish();
  return opened;
}

function newFolder(): string {
  folders += 1;
  return join(temporary.path, `sink-${folders}`);
}

/** The files that a run wrote, seen by their times; without instance and file name. */
async function changedBy(to: string, work: () => Promise<unknown>): Promise<string[]> {
  const earlier = writeTimes(to);
  await work();
  const times = writeTimes(to);
  const changed = [...times].filter(([file, at]) => earlier.get(file) !== at).map(([file]) => `+${file}`);
  const gone = [...earlier.keys()].filter((file) => !times.has(file)).map((file) => `-${file}`);
  return [...changed, ...gone].map((file) => file.replace(`/${INSTANCE}`, '').replace('/data.parquet', ''));
}

before(async () => {
  fixture = await threeDays();
  database = await openDatabase({ threads: 1 });
  connection = await database.connect();
});
after(async () => {
  connection.close();
  database.close();
  await fixture.close();
  temporary.remove();
});

describe('a sink', () => {
  it('writes only the partitions whose rows have changed', async () => {
    const own = await threeDays();
    const to = newFolder();
    try {
      await sinkOnce(own.reader, to);
      deepEqual(await changedBy(to, () => sinkOnce(own.reader, to)), []);

      await own.fold(assignment({ topics: [topic(1, 'money back')] }));
      await own.publish();
      deepEqual(await changedBy(to, () => sinkOnce(own.reader, to)), ['+topics']);

      // A message of session 3 comes late, from the day before.
      await own.fold(
        assignment({ messages: [fact({ position: 6, session: 3, at: NOON + DAY + 1, user: 1 })] }),
      );
      await own.publish();
      deepEqual(await changedBy(to, () => sinkOnce(own.reader, to)), [
        '+end_users/date=2026-01-05',
        '+facts/date=2026-01-06',
        '+sessions/date=2026-01-06',
        '-sessions/date=2026-01-07',
      ]);

      // Topic 2 becomes part of topic 1.
      await own.fold(assignment({ micros: [{ instance: 1, micro: 2, topic: 1 }] }));
      await own.publish();
      const rollups = ['DAY', 'HOUR', 'MONTH', 'WEEK'].map(
        (each) => `+rollups/granularity=${each}/month=2026-01-01`,
      );
      deepEqual(await changedBy(to, () => sinkOnce(own.reader, to)), [
        '+facts/date=2026-01-07',
        ...rollups,
        '+totals',
      ]);
      const fresh = newFolder();
      await sinkOnce(own.reader, fresh);
      await sameFolders(connection, to, fresh);
    } finally {
      await own.close();
    }
  });

  it('says in the manifest what it read and what there is', async () => {
    const to = newFolder();
    const returned = await sinkOnce(fixture.reader, to, { now: () => NOON });
    const manifest = JSON.parse(readFileSync(join(to, '_manifest.json'), 'utf8')) as SinkManifest;
    deepEqual(manifest, returned);
    deepEqual(
      manifest.files.map(({ path }) => path),
      parquetFiles(to),
    );
    for (const { path, rows } of manifest.files) {
      const found = await connection.one(`select count(*) as rows from '${to}/${path}'`);
      equal(found?.['rows'], rows);
    }
    const { run, epoch, positions, lastProcessedAt, instancesRead } = manifest;
    equal(run?.startedAt, '2026-01-05T12:00:00.000Z');
    deepEqual([epoch, positions, lastProcessedAt], [1, [1], '1970-01-01T00:00:01.000Z']);
    deepEqual(
      instancesRead.map(({ instanceId, position }) => [instanceId, position]),
      [
        [uuid(1, 1), 1],
        [OTHER, 1],
      ],
    );
    for (const { name } of SINK_TABLES) {
      if (!manifest.files.some(({ path }) => path.startsWith(`${name}/`))) continue;
      const columns = await connection.all(
        `select column_name as name, column_type as type from (describe select * from '${to}/${name}/**/*.parquet')`,
      );
      const own = columns.filter(
        (column) => !['instance_id', 'date', 'granularity', 'month'].includes(column['name'] as string),
      );
      const types = own.map(({ name: column, type }) => ({
        name: column,
        type: type === 'TIMESTAMP WITH TIME ZONE' ? 'TIMESTAMPTZ' : type,
      }));
      deepEqual(types, manifest.schema[name]);
    }
  });

  it('says how each session ended', async () => {
    const to = newFolder();
    await sinkOnce(fixture.reader, to, { tables: MOVING });
    const ended = await connection.all(
      `select title, outcome from ${globbed(to, 'sessions')} order by title limit 2`,
    );
    deepEqual(ended, [
      { title: 'session 1', outcome: 'thanked' },
      { title: 'session 2', outcome: 'handed_over' },
    ]);
  });

  it('has where things stand, without what was refused or undone', async () => {
    const opened = await openFixture();
    const said = (number: number, detail: object, parts: Partial<CurationRow> = {}): CurationRow => ({
      instance: 1,
      curation: number,
      id: uuid(7, number),
      position: 10 + number,
      createdAt: NOON,
      keyId: 'key',
      action: 'TRACK',
      entity: 'TOPIC',
      entityId: uuid(5, number),
      detail: JSON.stringify(detail),
      refused: null,
      undoneBy: null,
      ...parts,
    });
    try {
      await opened.fold(
        assignment({
          messages: [fact({ position: 1 })],
          curations: [
            said(0, { state: 'FIXED' }),
            said(1, {
              state: 'FIXED',
              fixedAt: NOON - DAY,
              owner: 'Ann',
              note: 'x',
              link: 'https://a.example',
            }),
            said(2, { state: 'FIXED', release: { name: 'plan', value: 'pro' } }),
            said(3, { state: 'PLANNED' }),
            said(4, { state: 'OPEN' }, { refused: 'UNKNOWN' }),
            said(5, { state: 'OPEN' }, { undoneBy: uuid(7, 9) }),
            said(6, { session: uuid(3, 1), verdict: 'YES' }, { action: 'CHECK' }),
          ],
        }),
      );
      await opened.publish();
      const to = newFolder();
      await sinkOnce(opened.reader, to);
      const rows = await connection.all(
        `select place, state, epoch_us(fixed_at) as fixed_at, release_name, release_value, owner, note, link
from ${globbed(to, 'lives')} order by place`,
      );
      const nothing = { release_name: null, release_value: null, owner: null, note: null, link: null };
      deepEqual(rows, [
        { place: 0, state: 'FIXED', fixed_at: NOON, ...nothing },
        {
          place: 1,
          state: 'FIXED',
          fixed_at: NOON - DAY,
          ...nothing,
          owner: 'Ann',
          note: 'x',
          link: 'https://a.example',
        },
        { place: 2, state: 'FIXED', fixed_at: null, ...nothing, release_name: 'plan', release_value: 'pro' },
        { place: 3, state: 'PLANNED', fixed_at: null, ...nothing },
      ]);
    } finally {
      await opened.close();
    }
  });

  it('is read by the queries of docs/sink.md', async () => {
    const to = newFolder();
    await sinkOnce(fixture.reader, to);
    const document = readFileSync(join(import.meta.dirname, '../../../docs/sink.md'), 'utf8');
    const [, sql = ''] = /### DuckDB\n\n```sql\n([\s\S]*?)```/.exec(document) ?? [];
    const answers = [];
    for (const statement of sql.replaceAll('/data/lake/undertone', to).split(/;\n/))
      if (/\bselect\b/.test(statement)) answers.push(await connection.all(statement));
    deepEqual(answers, [
      [
        { name: 'refunds', sessions: 2, messages: 2, dsat: 0 },
        { name: 'parcels', sessions: 1, messages: 1, dsat: 0 },
      ],
      [
        { name: 'parcels', wait_seconds: secondsOfStep(waitStep(90_000_000)) },
        { name: 'refunds', wait_seconds: null },
      ],
      ['2026-01-05', '2026-01-06', '2026-01-07'].map((date, index) => ({
        date,
        language: 'en',
        sessions: index === 0 ? 2 : 1,
        dissatisfied: 0,
      })),
      // The second day has a test alone.
      [
        { date: '2026-01-05', sessions: 2 },
        { date: '2026-01-07', sessions: 1 },
      ],
    ]);
  });

  it('keeps what it was not asked for as it is', async () => {
    const to = newFolder();
    await sinkOnce(fixture.reader, to);
    const all = parquetFiles(to);
    const options = { tables: SINK_TABLES.filter(({ name }) => name === 'facts'), instances: [OTHER] };
    deepEqual(await changedBy(to, () => sinkOnce(fixture.reader, to, options)), []);
    const few = newFolder();
    await sinkOnce(fixture.reader, few, options);
    deepEqual(parquetFiles(few), [`facts/instance_id=${OTHER}/date=2026-01-05/data.parquet`]);
    await sinkOnce(fixture.reader, few);
    deepEqual(parquetFiles(few), all);
    await rejects(sinkOnce(fixture.reader, few, { instances: [uuid(1, 9)] }), /no messages of instance/);
  });

  it('writes again what somebody deleted or cut', async () => {
    const to = newFolder();
    await sinkOnce(fixture.reader, to);
    const [cut = '', gone = ''] = parquetFiles(to);
    truncateSync(join(to, cut), 10);
    rmSync(join(to, gone));
    const manifest = await sinkOnce(fixture.reader, to);
    equal(manifest.run?.filesWritten, 2);
    const fresh = newFolder();
    await sinkOnce(fixture.reader, fresh);
    await sameFolders(connection, to, fresh);
  });

  it('writes everything again when the columns have changed', async () => {
    const to = newFolder();
    const { files } = await sinkOnce(fixture.reader, to);
    const manifest = readFileSync(join(to, '_manifest.json'), 'utf8');
    writeFileSync(join(to, '_manifest.json'), manifest.replace(/"schemaVersion": \d+/, '"schemaVersion": 0'));
    const tables = SINK_TABLES.filter(({ name }) => name === 'topics');
    equal((await sinkOnce(fixture.reader, to, { tables })).run?.filesWritten, 1);
    equal((await sinkOnce(fixture.reader, to)).run?.filesWritten, files.length - 1);
    equal((await sinkOnce(fixture.reader, to)).run?.filesWritten, 0);
  });

  it('changes nothing when it is interrupted', async () => {
    const to = newFolder();
    const controller = new AbortController();
    const interrupted = sinkOnce(fixture.reader, to, {
      signal: controller.signal,
      onStep: () => controller.abort(),
    });
    await rejects(interrupted, SinkInterrupted);
    deepEqual(parquetFiles(to), []);
    deepEqual(readdirSync(join(to, '_tmp')), []);
    await sinkOnce(fixture.reader, to);
  });

  it('changes nothing when a file cannot be made durable', async () => {
    const to = newFolder();
    const folder = await SinkFolder.open(to);
    const snapshot = await fixture.reader.snapshot();
    ok(snapshot !== null);
    folder.seal = () => Promise.reject(new Error('no room'));
    try {
      const source = { epoch: 1, answeringSince: 0, snapshots: [snapshot] };
      const options = { folder, tables: SINK_TABLES, instances: null, now: () => 0 };
      await rejects(runSink(source, options), /no room/);
    } finally {
      snapshot.release();
      folder.close();
    }
    deepEqual(parquetFiles(to), []);
    deepEqual(readdirSync(join(to, '_tmp')), []);
    await sinkOnce(fixture.reader, to);
  });

  it('has a folder of its own', async () => {
    const foreign = newFolder();
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'facts.parquet'), '');
    await rejects(SinkFolder.open(foreign), /holds other files/);
    deepEqual(readdirSync(foreign), ['facts.parquet']);
    for (const manifest of [
      '{"files":',
      '{"files":[]}',
      '{"schemaVersion":2,"files":[null]}',
      '{"schemaVersion":2,"files":[{"path":"topics/../../other.parquet"}]}',
      '{"schemaVersion":2,"files":[{"path":"/etc/hostname"}]}',
    ]) {
      writeFileSync(join(foreign, '_manifest.json'), manifest);
      await rejects(SinkFolder.open(foreign), /damaged, or no sink wrote it/, manifest);
    }

    await rejects(SinkFolder.open('/proc/sink'), /The folder \/proc\/sink cannot be written: ENOENT/);

    const to = newFolder();
    const held = await SinkFolder.open(to);
    await rejects(SinkFolder.open(to), /Another npm run sink/);
    held.close();
    (await SinkFolder.open(to)).close();
  });
});

describe('a sink whose folder leads elsewhere', () => {
  const elsewhere = (): string => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, 'kept.parquet'), 'not ours');
    return folder;
  };

  it('removes nothing that its journal names outside', async () => {
    const [to, other] = [newFolder(), elsewhere()];
    await sinkOnce(fixture.reader, to);
    const journal = join(to, '_tmp/publishing.json');
    for (const text of [JSON.stringify([`../${basename(other)}/kept.parquet`]), '[1]', '{']) {
      writeFileSync(journal, text);
      await rejects(sinkOnce(fixture.reader, to), /publishing\.json is damaged, or no sink wrote it/, text);
    }
    deepEqual(readdirSync(other), ['kept.parquet']);
    rmSync(journal);
    await sinkOnce(fixture.reader, to);
  });

  it('neither writes nor removes behind a link', async () => {
    const [to, other] = [newFolder(), elsewhere()];
    await sinkOnce(fixture.reader, to);
    const manifest = join(to, '_manifest.json');
    const text = readFileSync(manifest, 'utf8');
    const listed = JSON.parse(text) as SinkManifest;
    symlinkSync(other, join(to, 'facts', 'gone'));
    const foreign = { path: 'facts/gone/kept.parquet', rows: 1, bytes: 8, digest: 'x', writtenAt: '' };
    writeFileSync(manifest, JSON.stringify({ ...listed, files: [...listed.files, foreign] }));
    await rejects(sinkOnce(fixture.reader, to), /gone\/kept\.parquet leads out of the folder by a link/);
    writeFileSync(manifest, text);
    rmSync(join(to, 'facts'), { recursive: true });
    symlinkSync(other, join(to, 'facts'));
    await rejects(sinkOnce(fixture.reader, to), /facts\/.* leads out of the folder by a link/);
    rmSync(join(to, 'facts'));
    rmSync(join(to, '_tmp'), { recursive: true });
    symlinkSync(other, join(to, '_tmp'));
    await rejects(sinkOnce(fixture.reader, to), /_tmp leads out of the folder by a link/);
    deepEqual(readdirSync(other), ['kept.parquet']);
  });
});

describe('a sink that is killed', () => {
  it('leaves whole files and no row twice, and the next run mends the folder, wherever it was', async () => {
    const own = await threeDays();
    const to = newFolder();
    try {
      const swapped = (first: number, second: number) => [
        { instance: 1, micro: 1, topic: first },
        { instance: 1, micro: 2, topic: second },
      ];
      await own.fold(
        assignment({
          messages: [fact({ position: 6, session: 5, at: NOON + 20 * DAY })],
          sessions: [session(5)],
        }),
      );
      await own.publish();
      await sinkOnce(own.reader, to, { tables: MOVING });
      // Sessions move to an earlier day, one to a day of its own, and two topics change places.
      await own.fold(
        assignment({
          messages: [
            fact({ position: 7, session: 2, at: NOON + 1, user: 1 }),
            fact({ position: 8, session: 3, at: NOON + DAY + 1, user: 1 }),
            fact({ position: 9, session: 5, at: NOON + 10 * DAY }),
          ],
          micros: swapped(2, 1),
        }),
      );
      await own.publish();
      const killed: string[] = [];
      await sinkOnce(own.reader, to, {
        tables: MOVING,
        onStep: (step) => {
          const copy = `${newFolder()}-${step}`;
          cpSync(to, copy, {
            recursive: true,
            preserveTimestamps: true,
            filter: (path) => !path.endsWith('.sock'),
          });
          killed.push(copy);
        },
      });
      ok(killed.length > 10, `${killed.length} points`);
      // Meanwhile the topics have changed back, and the session has moved on: the manifest from before the killed run
      // says of both what is right now, and wrong in the folder.
      await own.fold(
        assignment({ messages: [fact({ position: 10, session: 5, at: NOON })], micros: swapped(1, 2) }),
      );
      await own.publish();
      const fresh = newFolder();
      await sinkOnce(own.reader, fresh, { tables: MOVING });
      for (const folder of killed) {
        const twice = await connection.all(
          `select session_id from ${globbed(folder, 'sessions')} group by session_id having count(*) > 1
union all
select message_id::varchar from ${globbed(folder, 'facts')} where kind = 'MESSAGE'
group by instance_id, message_id having count(*) > 1`,
        );
        deepEqual(twice, [], folder);
        await sinkOnce(own.reader, folder, { tables: MOVING });
        await sameFolders(connection, folder, fresh);
        deepEqual(readdirSync(join(folder, '_tmp')), []);
      }
    } finally {
      await own.close();
    }
  });
});
