import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Segment } from '../../../src/store/published/manifest.ts';
import { expandTables, type Statement } from '../../../src/store/published/segment-sql.ts';
import type { PublishedTable } from '../../../src/store/view-files.ts';

const TABLE: PublishedTable = {
  name: 'rollup',
  key: ['instance', 'bucket', 'topic'],
  order: [],
  alive: null,
  time: 'bucket',
  replaces: null,
};
const segment = (file: string, from: number, to: number, replaces = true): Segment => ({
  file,
  seq: 1,
  rows: 1,
  from,
  to,
  replaces,
});

function expand(
  sql: string,
  statement: Statement,
  segments: readonly Segment[],
): ReturnType<typeof expandTables> {
  return expandTables(sql, statement, new Map([[TABLE.name, TABLE]]), {
    segmentsOf: () => segments,
    catalogOf: ({ file }) => file,
  });
}

describe('rows of a published table', () => {
  it('are those of all segments, without those that a later segment replaces', () => {
    equal(
      expand('select * from @rollup', {}, [segment('a', 0, 9), segment('b', 0, 9, false), segment('c', 0, 9)])
        .sql,
      'select * from (' +
        'from (from a.rollup) anti join (select instance, bucket, topic from c.rollup) using (instance, ' +
        'bucket, topic)' +
        ' union all ' +
        'from (from b.rollup) anti join (select instance, bucket, topic from c.rollup) using (instance, ' +
        'bucket, topic)' +
        ' union all from c.rollup)',
    );
  });

  it('meet a condition, whose values are bound where the statement binds any', () => {
    const rows = { r: { table: 'rollup', equal: { instance: 1 }, and: 'topic in (2, 3)' } };
    deepEqual(expand('from @r', { rows }, [segment('a', 0, 9)]), {
      sql: 'from (from a.rollup where instance = 1 and topic in (2, 3))',
      bindings: undefined,
    });
    deepEqual(expand('from @r where id = $id', { rows, bindings: { id: 'x' } }, [segment('a', 0, 9)]), {
      sql: 'from (from a.rollup where instance = $r_instance and topic in (2, 3)) where id = $id',
      bindings: { id: 'x', r_instance: 1 },
    });
  });

  it('are compared by the columns that have more than one value', () => {
    const rows = { r: { table: 'rollup', equal: { instance: 1 } } };
    const { sql } = expand('from @r', { rows }, [segment('a', 0, 9), segment('b', 0, 9)]);
    equal(/using \([^)]*\)/.exec(sql)?.[0], 'using (bucket, topic)');
  });

  it('of a range come from the segments that may hold it, and always from the lowest', () => {
    const segments = [segment('a', 0, 9), segment('b', 10, 19), segment('c', 20, 29)];
    const filesIn = (from: number, to: number): string[] => {
      const rows = { r: { table: 'rollup', range: { from, to } } };
      const { sql } = expand('from @r', { rows }, segments);
      return ['a', 'b', 'c'].filter((file) => sql.includes(`${file}.rollup`));
    };
    deepEqual(filesIn(10, 20), ['a', 'b']);
    deepEqual(filesIn(19, 21), ['a', 'b', 'c']);
    deepEqual(filesIn(-Infinity, 5), ['a', 'b', 'c']);
    deepEqual(filesIn(25, Infinity), ['a', 'c']);
  });

  it('are refused of a table that no view publishes, and of a range without a time column', () => {
    throws(() => expand('from @other', {}, []), /no view publishes other/);
    const rows = { r: { table: 'rollup', range: { from: 0, to: 1 } } };
    throws(
      () =>
        expandTables('from @r', { rows }, new Map([['rollup', { ...TABLE, time: null }]]), {
          segmentsOf: () => [],
          catalogOf: () => '',
        }),
      /no time column/,
    );
  });
});
