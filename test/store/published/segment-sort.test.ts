import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDatabase, quoted, type Row } from '../../../src/store/duckdb.ts';
import { readManifest, type Segment } from '../../../src/store/published/manifest.ts';
import { publishedTables } from '../../../src/store/view-files.ts';
import { assignment, fact, openFixture, VIEWS, type Fixture } from '../../support/fold.ts';

const BATCHES = 4;
const USERS = 600;

describe('a large file of segments', () => {
  let fixture: Fixture;
  before(async () => {
    // Of 25 MB, a file of more than 10,000 rows is large.
    fixture = await openFixture({ memoryBytes: 25e6, compactRows: 15_000 });
    for (let batch = 0; batch < BATCHES; batch += 1) {
      // The latest users come first: what is written as it comes is not in order.
      const messages = Array.from({ length: USERS }, (_, place) => {
        const user = (BATCHES - batch) * USERS - place;
        return fact({
          position: batch * USERS + place,
          session: user,
          user,
          at: (user % 7) * 86_400_000_000,
        });
      });
      await fixture.fold(assignment({ messages }));
    }
    await fixture.publish();
    await fixture.publication.settle();
    await fixture.publish();
  });
  after(() => fixture.close());

  it('is sorted in a database of its own and holds every row in its place', async () => {
    const manifest = readManifest(fixture.directory);
    ok(manifest !== null);
    const database = await openDatabase({ threads: 1 });
    const connection = await database.connect();
    const read = (from: string): Promise<Row[]> => connection.all(from);
    let rows = 0;
    for (const { name, order } of publishedTables(VIEWS)) {
      const segment: Segment | undefined = manifest.tables[name]?.[0];
      if (segment === undefined || !segment.file.startsWith('merged')) continue;
      await connection.run(`attach ${quoted(join(fixture.directory, segment.file))} as merged (read_only)`);
      const found = await read(`from merged.${name}`);
      const columns = order.join(', ');
      deepEqual(
        await read(`select ${columns} from merged.${name}`),
        await read(`select ${columns} from merged.${name} order by ${columns}`),
      );
      const key = (row: Row): string => JSON.stringify(row);
      deepEqual(
        found.map(key).toSorted(),
        (await fixture.store.connection.all(`from st.${name}`)).map(key).toSorted(),
      );
      equal(segment.rows, found.length);
      rows += found.length;
      await connection.run('detach merged');
    }
    ok(rows >= 12_000, `${rows} rows in compacted segments`);
    connection.close();
    database.close();
  });

  it('leaves nothing but the files that are named', () => {
    deepEqual(
      readdirSync(fixture.directory).filter((file) => file.includes('.tmp')),
      [],
    );
  });
});
