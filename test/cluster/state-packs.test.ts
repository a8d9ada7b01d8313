import { deepEqual, equal, ok } from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveState, readState } from '../../src/cluster/read-state.ts';
import type { StoredPacks } from '../../src/cluster/state-index.ts';
import { StatePacks } from '../../src/cluster/state-packs.ts';
import { imageOfClosed } from '../../src/store/live/state-files.ts';
import { withDatabase, quoted } from '../../src/store/duckdb.ts';
import { openFixture, temporaryDirectory, type Fixture } from '../support/fold.ts';
import { BUCKET, startObjectStore, type TestObjectStore } from '../support/object-store.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

const MESSAGES = 40;

describe('states in packs', () => {
  const temporary = temporaryDirectory();
  let objects: TestObjectStore;
  let fixture: Fixture;
  let stream: SyntheticStream;
  let file = '';
  let files = 0;
  before(async () => {
    objects = await startObjectStore();
  });
  beforeEach(async () => {
    objects.requests.length = 0;
    file = join(temporary.path, `${(files += 1)}.duckdb`);
    fixture = await openFixture();
    stream = new SyntheticStream({ messages: 20_000, days: 5, topics: 5 });
  });
  after(async () => {
    await objects?.close();
    temporary.remove();
  });
  const at = (name = file) => ({ store: objects.store, prefix: `${files}/`, temporary: `${name}.temporary` });
  const count = (batches: number): Promise<void> =>
    Array.from({ length: batches }).reduce<Promise<void>>(
      (counted) => counted.then(() => fixture.fold(stream.next(MESSAGES))),
      Promise.resolve(),
    );
  const store = (packs: StatePacks) => packs.write(() => fixture.store.image());
  const requests = (method: string): number =>
    objects.requests.filter((each) => each.startsWith(`${method} /`)).length;
  /** Messages and stream sequence of a state, opened as a worker does. All of it can be read. */
  const opened = (path: string): Promise<unknown> =>
    withDatabase({ threads: 1 }, async (connection) => {
      await connection.run(`attach ${quoted(path)} as st`);
      const tables = await connection.all(
        `select table_name from duckdb_tables() where database_name = 'st'`,
      );
      for (const { table_name: table } of tables)
        await connection.run(`select sum(hash(t)) from st.${String(table)} t`);
      const row = await connection.one(
        'select (select count(*)::integer from st.message) as messages, (select sequence from st.meta) as sequence',
      );
      await connection.run('detach st');
      return row;
    });
  const of = (sequence: number) => ({ messages: sequence * MESSAGES, sequence });

  it('are what was counted at one position, whatever is counted and written into the tables meanwhile', async () => {
    const packs = new StatePacks(at());
    const stored: (StoredPacks & { sequence: number })[] = [];
    let isCounted = false;
    const counting = (async () => {
      for (let batch = 0; batch < 25; batch += 1) {
        await count(1);
        if (batch % 7 === 6) await fixture.store.writeLog();
      }
      isCounted = true;
    })();
    while (!isCounted) {
      stored.push(await store(packs));
      await sleep(100);
    }
    await counting;
    stored.push(await store(packs));
    for (const [place, each] of stored.entries()) {
      const path = `${file}.${place}`;
      ok(await readState(at(path), each, path));
      deepEqual(await opened(path), of(each.sequence));
    }
    equal(stored.at(-1)!.sequence, 25);
    ok(new Set(stored.map(({ sequence }) => sequence)).size > 3);
    await fixture.close();
  });

  it('are whole where commits write into the tables at once, and nothing else does', async () => {
    const large = new SyntheticStream({ messages: 40_000, days: 5, topics: 5, firstNumber: 1000 });
    // Checkpoints leave free blocks in the file.
    for (let batch = 0; batch < 4; batch += 1) {
      await fixture.fold(large.next(5000));
      await fixture.store.writeLog();
    }
    const packs = new StatePacks(at());
    await store(packs);
    for (let copy = 0; copy < 3; copy += 1) {
      await fixture.fold(large.next(5000));
      const stored = await store(packs);
      ok(await readState(at(), stored, file));
      copyFileSync(file, `${file}.${copy}`);
      copyFileSync(`${file}.wal`, `${file}.${copy}.wal`);
      deepEqual(await opened(`${file}.${copy}`), { messages: 25_000 + copy * 5000, sequence: copy + 5 });
    }
    await fixture.close();
  });

  it('store and read only what has changed, also by an owner that follows another one', async () => {
    await count(30);
    await fixture.store.writeLog();
    const first = await store(new StatePacks(at()));
    ok(await readState(at(), first, file));
    const packs = new StatePacks(at());
    await packs.follow(first);
    await count(1);
    objects.requests.length = 0;
    const second = await store(packs);
    // One pack with the log, and the index.
    equal(requests('PUT'), 2);
    deepEqual(second.packs.slice(0, first.packs.length), first.packs);
    objects.requests.length = 0;
    ok(await readState(at(), second, file));
    equal(requests('GET'), 2);
    copyFileSync(file, `${file}.0`);
    copyFileSync(`${file}.wal`, `${file}.0.wal`);
    deepEqual(await opened(`${file}.0`), of(31));
    // The files are not what the index says: all of it is read again.
    truncateSync(file, 20_000);
    ok(await readState(at(), second, file));
    moveState(file, `${file}.1`);
    deepEqual(await opened(`${file}.1`), of(31));
    deepEqual(
      readdirSync(temporary.path).filter(
        (name) => name.startsWith(`${files}.`) && /temporary|index/.test(name),
      ),
      [],
    );
    await fixture.close();
  });

  it('that are lost or damaged are not read, and what they had is stored again', async () => {
    await count(3);
    const packs = new StatePacks(at());
    const first = await store(packs);
    const [pack] = first.packs;
    const object = readdirSync(join(objects.folder, BUCKET), { recursive: true, encoding: 'utf8' }).find(
      (name) => name.includes(pack!.split('/').at(-1)!) && name.endsWith('_object'),
    );
    writeFileSync(join(objects.folder, BUCKET, object!), 'damaged');
    equal(await readState(at(), first, file), false);
    ok(!existsSync(file) && !existsSync(`${file}.wal`));
    await count(1);
    const second = await store(packs);
    ok(await readState(at(), second, file));
    deepEqual(await opened(file), of(4));
    await objects.store.remove(second.name);
    equal(await readState(at(), second, `${file}.1`), false);
    await fixture.close();
  });

  it('have few packs, and little that is not used', async () => {
    const packs = new StatePacks({ ...at(), mostPacks: 5 });
    let last = await store(packs);
    for (let copy = 0; copy < 12; copy += 1) {
      await count(1);
      last = await store(packs);
      ok(last.packs.length <= 7, `${last.packs.length} packs`);
    }
    ok(await readState(at(), last, file));
    deepEqual(await opened(file), of(12));
    await fixture.close();
  });

  it('are not whole once their database is closed', async () => {
    await count(1);
    const image = await fixture.store.image();
    equal(image.isWhole(), true);
    await fixture.close();
    equal(image.isWhole(), false);
  });

  it('are made of a closed database as well', async () => {
    await count(2);
    const { directory } = fixture;
    const path = join(temporary.path, 'closed.duckdb');
    await fixture.restart(async () => copyFileSync(join(directory, 'state.duckdb'), path));
    const stored = await new StatePacks(at()).write(async () => imageOfClosed(path, 2));
    ok(await readState(at(), stored, file));
    deepEqual(await opened(file), of(2));
    await fixture.close();
  });
});
