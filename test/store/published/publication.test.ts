import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, readManifest, type Manifest } from '../../../src/store/published/manifest.ts';
import { SnapshotReader } from '../../../src/store/published/snapshot-reader.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { SetupError } from '../../../src/errors.ts';
import { assignment, fact, temporaryDirectory, type Fixture } from '../../support/fold.ts';
import { COUNT_SAID, openSaid, SAID_VIEWS } from '../../support/said-views.ts';

describe('publication', () => {
  let directory: { path: string; remove: () => void };
  let fixture: Fixture;

  beforeEach(async () => {
    directory = temporaryDirectory();
    fixture = await openSaid({ directory: directory.path, compactRows: 5 });
  });
  afterEach(async () => {
    await fixture.close();
    directory.remove();
  });

  const turn = (position: number): Promise<void> =>
    fixture.fold(assignment({ messages: [fact({ position, session: position })] }));
  const counted = async (): Promise<{ sequence: number; messages: number }> => {
    const snapshot = await fixture.reader.snapshot();
    ok(snapshot !== null);
    try {
      const rows = await snapshot.all(COUNT_SAID);
      return { sequence: snapshot.sequence, messages: rows[0]?.['messages'] as number };
    } finally {
      snapshot.release();
    }
  };

  it('shows nothing before the first publication', async () => {
    equal(await fixture.reader.snapshot(), null);
  });

  it('takes no CURRENT that names what is no segment', async () => {
    await turn(1);
    await fixture.publish();
    const file = join(directory.path, 'CURRENT');
    const text = readFileSync(file, 'utf8');
    ok(readManifest(directory.path) !== null);
    const [segment = ''] = filesOf(readManifest(directory.path) as Manifest);
    for (const other of ['../other.duckdb', `newest-/../../${segment}`, '/tmp/x.duckdb', 'state.duckdb']) {
      writeFileSync(file, text.replaceAll(segment, other));
      equal(readManifest(directory.path), null, other);
    }
    writeFileSync(file, text);
  });

  it('waits for the first CURRENT, whose files are there a moment before it', async () => {
    await turn(1);
    await fixture.publish();
    const file = join(directory.path, 'CURRENT');
    const content = readFileSync(file);
    rmSync(file);
    const asked = counted();
    setTimeout(() => writeFileSync(file, content), 100);
    deepEqual(await asked, { sequence: 1, messages: 1 });
  });

  it('shows a batch after its publication, not after its commit', async () => {
    await turn(1);
    await fixture.publish();
    await turn(2);
    deepEqual(await counted(), { sequence: 1, messages: 1 });
    await fixture.publish();
    deepEqual(await counted(), { sequence: 2, messages: 2 });
  });

  it('compacts segments, keeps every row, and removes replaced files', async () => {
    for (let position = 1; position <= 16; position++) {
      await turn(position);
      await fixture.publish();
      await fixture.publication.settle();
      deepEqual(await counted(), { sequence: position, messages: position });
    }
    await fixture.publish();
    const manifest = readManifest(directory.path);
    ok(manifest !== null);
    const tables = Object.values(manifest.tables);
    ok(
      tables.some((segments) => segments.length >= 2),
      JSON.stringify(tables),
    );
    const files = readdirSync(directory.path).filter((file) => /^(newest|merged)/.test(file));
    deepEqual(files.toSorted(), [...filesOf(manifest)].toSorted());
  });

  it('compacts every table to one lower segment when there is time for it', async () => {
    const depth = (): number =>
      Math.max(
        ...Object.values(readManifest(directory.path)?.tables ?? {}).map((segments) => segments.length),
      );
    let deepest = 0;
    await fixture.close();
    // Compactions that include no earlier segment leave one each.
    fixture = await openSaid({ directory: directory.path, compactRows: 5, compactRatio: 0 });
    for (let position = 1; position <= 12; position++) {
      await turn(position);
      await fixture.publish();
      await fixture.publication.settle();
      deepest = Math.max(deepest, depth());
    }
    ok(deepest > 2, 'there was something to compact');
    for (let idle = 0; idle < 10; idle++) {
      await fixture.publish();
      await fixture.publication.settle();
    }
    ok(depth() <= 2, 'a publication without news compacts');
    const manifest = readManifest(directory.path)!;
    const files = readdirSync(directory.path).filter((file) => /^(newest|merged)/.test(file));
    deepEqual(files.toSorted(), [...filesOf(manifest)].toSorted(), 'and removes what it replaced');
    const merged = Object.values(manifest.tables).flatMap((segments) =>
      segments.map(({ file }) => file).filter((file) => file.startsWith('merged')),
    );
    equal(new Set(merged).size, merged.length, 'each table has a file of its own');
    deepEqual(await counted(), { sequence: 12, messages: 12 });
    await turn(13);
    await fixture.publication.compact();
    await fixture.publish();
    ok(depth() <= 2);
    deepEqual(await counted(), { sequence: 13, messages: 13 });
  });

  it('keeps replaced files for the readers that may open them, and removes them when nothing else happens', async () => {
    let now = 0;
    await fixture.close();
    fixture = await openSaid({ directory: directory.path, now: () => now });
    const files = (): number =>
      readdirSync(directory.path).filter((file) => file.startsWith('newest')).length;
    for (const position of [1, 2]) {
      await turn(position);
      await fixture.publish();
    }
    equal(files(), 2);
    now = 999;
    await fixture.publish();
    equal(files(), 2);
    now = 1000;
    await fixture.publish();
    equal(files(), 1);
    deepEqual(await counted(), { sequence: 2, messages: 2 });
  });

  it('writes the log of the state into its tables when nothing else happens, and never loses a batch by it', async () => {
    let now = 0;
    await fixture.close();
    fixture = await openSaid({ directory: directory.path, now: () => now });
    const { publication } = fixture;
    const isKept = async (): Promise<boolean> => {
      await fixture.publish();
      await publication.settle();
      return fixture.store.logBytes > 0;
    };
    const large = (key: number) => ({ instance: 1, kind: 'large', key, value: new Uint8Array(2 ** 20) });
    const session = (position: number) => assignment({ messages: [fact({ position, session: position })] });
    await fixture.fold(
      session(1),
      Array.from({ length: 20 }, (_, key) => large(key)),
    );
    equal(await isKept(), true);
    now = 4999;
    equal(await isKept(), true);
    now = 5000;
    await fixture.publish();
    // It comes after that.
    await fixture.fold(session(2), [large(0)]);
    await publication.settle();
    ok(fixture.store.logBytes < 2 ** 22, `${fixture.store.logBytes} bytes`);
    now = 100_000;
    equal(await isKept(), true, 'a small log stays');
    now = 200_000;
    equal(await isKept(), true, 'a small log stays');
    await fixture.fold(
      session(3),
      Array.from({ length: 20 }, (_, key) => large(key)),
    );
    equal(await isKept(), true);
    now = 205_000;
    equal(await isKept(), false);
    const rows =
      'select (select count(*) from st.said_at) as messages, count(*) as states from st.assign_state';
    deepEqual(await fixture.store.connection.one(rows), { messages: 3, states: 20 });
    await fixture.restart();
    deepEqual(await fixture.store.connection.one(rows), { messages: 3, states: 20 });
  });

  it('passes over files outside the range, and never over a row inside it', async () => {
    const day = 86_400_000_000;
    const start = Date.UTC(2026, 0, 1) * 1000;
    for (let position = 1; position <= 15; position++) {
      // Every third message comes late.
      const at = start + (position % 3 === 0 ? position - 3 : position) * day;
      await fixture.fold(assignment({ messages: [fact({ position, session: position, at })] }));
      await fixture.publish();
      await fixture.publication.settle();
    }
    const snapshot = await fixture.reader.snapshot();
    for (let from = 0; from <= 16; from++) {
      const rows = await snapshot?.all('select count(*) as facts from @facts', {
        rows: {
          facts: {
            table: 'said_at',
            equal: { instance: 1 },
            range: { from: start + from * day, to: start + (from + 2) * day },
          },
        },
      });
      const expected = Array.from({ length: 15 }, (_, index) => index + 1)
        .map((position) => (position % 3 === 0 ? position - 3 : position))
        .filter((at) => at >= from && at < from + 2).length;
      deepEqual(rows, [{ facts: expected }], `from day ${from}`);
    }
    snapshot?.release();
  });

  it('keeps a snapshot readable and unchanged while newer ones are published', async () => {
    await turn(1);
    await fixture.publish();
    const old = await fixture.reader.snapshot();
    for (let position = 2; position <= 10; position++) {
      await turn(position);
      await fixture.publish();
      await fixture.publication.settle();
      await counted();
    }
    deepEqual(await old?.all(COUNT_SAID), [{ messages: 1 }]);
    old?.release();
    deepEqual(await counted(), { sequence: 10, messages: 10 });
  });

  it('reads again what could not be read, also when a newer manifest came meanwhile', async () => {
    const segments = (): readonly string[] =>
      (readManifest(directory.path)?.tables['said'] ?? []).map(({ file }) => file);
    let position = 0;
    while (segments().length === 0 || segments().some((file) => file.startsWith('newest'))) {
      await turn((position += 1));
      await fixture.publish();
      await fixture.publication.settle();
      await fixture.publish();
    }
    const before = segments();
    const old = await fixture.reader.snapshot();
    const late = Promise.withResolvers<number>();
    const failing = old?.cached('sessions', ['said'], () => late.promise);
    await fixture.fold(assignment());
    await fixture.publish();
    const now = await fixture.reader.snapshot();
    ok(old !== null && now !== null && now.sequence > old.sequence);
    deepEqual(segments(), before);
    late.reject(new Error('Out of Memory Error'));
    await rejects(failing ?? Promise.resolve(), /Out of Memory/);
    equal(await now.cached('sessions', ['said'], () => Promise.resolve(7)), 7);
    equal(await now.cached('sessions', ['said'], () => Promise.resolve(8)), 7);
    old.release();
    now.release();
  });

  it('caches for one caller whatever another asks', async () => {
    await turn(1);
    await fixture.publish();
    const tables = ['said'];
    const [one, other] = [await fixture.reader.snapshot('one'), await fixture.reader.snapshot('other')];
    ok(one !== null && other !== null);
    equal(await one.cached('kept', tables, async () => 1), 1);
    for (let i = 0; i < 1100; i++) await other.cached(`asked ${i}`, tables, async () => i);
    equal(await one.cached('kept', tables, async () => 2), 1);
    equal(await other.cached('asked 1099', tables, async () => 0), 1099);
    equal(await other.cached('asked 0', tables, async () => -1), -1, 'all together are bounded');
    one.release();
    other.release();
  });

  it('gives a statement more memory, alone, when what all share does not suffice', async () => {
    await turn(1);
    await fixture.publish();
    const open = (memoryBytesAlone: number): Promise<SnapshotReader> =>
      SnapshotReader.open({
        directory: () => directory.path,
        views: SAID_VIEWS,
        threads: 1,
        connections: 2,
        memoryBytes: 10e6,
        memoryBytesAlone,
      });
    const large =
      'with a as materialized (select range as n, hash(range) as h from range(2000000)) select max(h) as h, ' +
      'count(*) as n from a';
    const [enough, tooLittle] = [await open(500e6), await open(12e6)];
    try {
      const snapshot = await enough.snapshot();
      const small = snapshot?.all('select count(*) as n from @said');
      const answers = await Promise.all([large, large, large].map((sql) => snapshot?.all(sql)));
      deepEqual(
        answers.map((rows) => rows?.[0]?.['n']),
        [2_000_000, 2_000_000, 2_000_000],
      );
      deepEqual(await small, [{ n: 1 }]);
      snapshot?.release();
      const other = await tooLittle.snapshot();
      await rejects(other?.all(large) ?? Promise.resolve(), /Out of Memory/);
      deepEqual(await other?.all('select count(*) as n from @said'), [{ n: 1 }]);
      other?.release();
    } finally {
      await enough.close();
      await tooLittle.close();
    }
  });

  it('closes a reader only after what it is reading and detaching', async () => {
    for (let position = 1; position <= 6; position += 2) {
      await turn(position);
      await fixture.publish();
      const reader = await SnapshotReader.open({
        directory: () => directory.path,
        views: SAID_VIEWS,
        threads: 1,
        connections: 2,
      });
      const old = await reader.snapshot();
      await turn(position + 1);
      await fixture.publish();
      const now = await reader.snapshot();
      const reading = now?.all(COUNT_SAID);
      old?.release();
      await reader.close();
      deepEqual(await reading, [{ messages: position + 1 }]);
    }
  });

  it('goes on from the files of an earlier run, and makes new ones when they are gone', async () => {
    for (let position = 1; position <= 12; position++) {
      await turn(position);
      await fixture.publish();
    }
    await fixture.close();
    fixture = await openSaid({ directory: directory.path, compactRows: 5 });
    equal(fixture.publication.sequence, 12);
    deepEqual(await counted(), { sequence: 12, messages: 12 });
    await fixture.close();
    for (const file of readdirSync(directory.path))
      if (/^(newest|merged)/.test(file)) rmSync(join(directory.path, file));
    writeFileSync(join(directory.path, 'newest.duckdb.tmp'), 'half-written');
    fixture = await openSaid({ directory: directory.path, compactRows: 5 });
    equal(fixture.publication.sequence, -1);
    await fixture.publish();
    deepEqual(await counted(), { sequence: 12, messages: 12 });
    ok(!readdirSync(directory.path).includes('newest.duckdb.tmp'));
  });

  it('has no answer from files that code of other views wrote', async () => {
    await turn(1);
    await fixture.publish();
    const file = join(directory.path, 'CURRENT');
    const manifest = readManifest(directory.path);
    ok(manifest !== null);
    for (const views of [{ ...manifest.views, said: 99 }, undefined]) {
      writeFileSync(file, JSON.stringify({ ...manifest, views }));
      await rejects(fixture.reader.snapshot(), /Another version/);
    }
    writeFileSync(file, '{"store":');
    await rejects(fixture.reader.snapshot(), /damaged/);
    writeFileSync(file, JSON.stringify(manifest));
    deepEqual(await counted(), { sequence: 1, messages: 1 });
    writeFileSync(file, '{"store":');
    deepEqual(await counted(), { sequence: 1, messages: 1 });
  });

  it('refuses views that other definitions or another model made', async () => {
    await turn(1);
    await fixture.store.close();
    await rejects(
      StateStore.open({ directory: directory.path, views: SAID_VIEWS, analysis: 'another', threads: 1 }),
      (error: unknown) => {
        ok(error instanceof SetupError);
        ok(error.message.includes('npm run rebuild'));
        return true;
      },
    );
    const raised = SAID_VIEWS.map((view) => ({ ...view, version: view.version + 1 }));
    await rejects(
      StateStore.open({ directory: directory.path, views: raised, analysis: 'test', threads: 1 }),
      SetupError,
    );
  });
});
