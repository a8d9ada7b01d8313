import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expandUpsert } from '../../src/store/upsert.ts';
import { parseView } from '../../src/store/view-files.ts';

describe('upserts of view files', () => {
  it('are written out as one MERGE by key', () => {
    deepEqual(
      expandUpsert(
        'upsert into topic from batch_topic key (instance, topic) once (id) set (name) add (n) greatest (at)',
      ),
      {
        source: 'batch_topic',
        merges: [
          `merge into topic t using (from batch_topic) d
on t.instance = d.instance and t.topic = d.topic
when matched then update set name = d.name, n = t.n + d.n, at = greatest(t.at, d.at), seq = getvariable('seq')
when not matched then insert (instance, topic, id, name, n, at, seq)
  values (d.instance, d.topic, d.id, d.name, d.n, d.at, getvariable('seq'))`,
        ],
      },
    );
  });

  it('take some rows apart, into a table of their own if there is one', () => {
    const merges = (tables: string): string[] =>
      (
        expandUpsert(`upsert into ${tables} from (select 1 as a, (2) as b) key (a) add (b) apart (a = 4)`)
          ?.merges ?? []
      ).map((merge) => merge.split('\n')[0] ?? '');
    deepEqual(merges('one'), [
      'merge into one t using (from (select 1 as a, (2) as b) where not (a = 4)) d',
      'merge into one t using (from (select 1 as a, (2) as b) where a = 4) d',
    ]);
    deepEqual(merges('one, two')[1], 'merge into two t using (from (select 1 as a, (2) as b) where a = 4) d');
  });

  it('wait for the table that they read', () => {
    const { fold } = parseView(
      'a.sql',
      '-- view: a\n-- version: 1\n-- @fold\nupsert into t from b key (a) set (c);\n',
    );
    deepEqual(
      fold.map(({ when }) => when),
      [['b']],
    );
  });

  it('are told from other statements, and refused when they are wrong', () => {
    equal(expandUpsert('insert into upserted select 1'), null);
    throws(() => expandUpsert('upsert into t from b set (c)'), /no key/);
    throws(() => expandUpsert('upsert into t key (a)'), /upsert into table from source/);
    throws(() => expandUpsert('upsert into t from b key (a) sum (c)'), /"sum \(c\)" is not known/);
    throws(
      () => parseView('a.sql', '-- view: a\n-- version: 1\n-- @fold\nupsert into t from b;\n'),
      /views\/a\.sql: "upsert into t from b": it names no key/,
    );
  });
});
