import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { AskedCuration } from '../../../src/domain/asked-curations.ts';
import { MOST_OWN_TOPICS, otherTopicId } from '../../../src/domain/curations.ts';
import { AppError, type ErrorCode } from '../../../src/errors.ts';
import { CurationTargets } from '../../../src/query/curations/targets.ts';
import type { Row } from '../../../src/store/duckdb.ts';
import type { Snapshot } from '../../../src/store/published/snapshot-reader.ts';
import { uuid } from '../../support/fold.ts';

const INSTANCE = uuid(1, 1);
const topic = (number: number, name: string, more: Row = {}): Row => ({
  topic: number,
  id: uuid(4, number),
  name,
  cluster: null,
  heir: null,
  is_own: false,
  is_hidden: false,
  ...more,
});
const cluster = (number: number, name: string): Row => ({ cluster: number, id: uuid(5, number), name });
const gap = (number: number, name: string, heir: number | null): Row => ({
  gap: number,
  id: uuid(6, number),
  name,
  heir,
});

describe('what a curation names', () => {
  let tables: Record<string, readonly Row[]>;
  const snapshot = {
    cached: (_: string, __: readonly string[], read: () => unknown) => read(),
    async all(sql: string, { bindings = {} }: { bindings?: Row }) {
      const [, name = ''] = /@(\w+)/.exec(sql) ?? [];
      const table = name === 'counted' ? 'entity_rollup' : name;
      const rows = tables[table] ?? [];
      if (sql.includes('entity_id')) return rows.filter((row) => row['action'] === 'CREATE');
      return table === 'instance' || table === 'curation'
        ? rows.filter(({ id }) => id === bindings['id'])
        : rows;
    },
  } as unknown as Snapshot;
  const targets = new CurationTargets({
    readerOf: () => ({ read: (work) => work(snapshot) }),
  });
  it('counts a decision like messages, with those that it moves', async () => {
    tables['entity_rollup'] = [{ messages: 41 }];
    const counted = (asked: AskedCuration): Promise<number> => targets.messagesOf(INSTANCE, asked);
    equal(await counted({ kind: 'HIDE', id: uuid(4, 1) }), 241);
    equal(await counted({ kind: 'HIDE', id: uuid(4, 99) }), 200);
    equal(await counted({ kind: 'RENAME', entity: 'TOPIC', id: uuid(4, 1), name: 'Other' }), 200);
  });

  const check = (asked: AskedCuration): Promise<AskedCuration> => targets.check(INSTANCE, asked);
  const refused = async (asked: AskedCuration, code: ErrorCode, message: RegExp): Promise<void> => {
    await rejects(check(asked), (error: unknown) => {
      equal(error instanceof AppError && error.code, code);
      match((error as Error).message, message);
      return true;
    });
  };

  beforeEach(() => {
    tables = {
      instance: [{ id: INSTANCE, instance: 1 }],
      topic: [
        topic(1, 'Track parcel', { cluster: 1 }),
        topic(2, 'Follow parcel', { heir: 3 }),
        topic(3, 'Where is it', { heir: 1 }),
        topic(4, 'Cancel order'),
        topic(5, 'Secret', { is_hidden: true, cluster: 2 }),
      ],
      cluster: [cluster(1, 'Parcels'), cluster(2, 'Left behind')],
      gap: [gap(1, 'Change address', null), gap(2, 'Move address', 1)],
      curation: [
        { id: uuid(7, 1), action: 'RENAME', refused: null, undone_by: null },
        { id: uuid(7, 2), action: 'RENAME', refused: null, undone_by: uuid(7, 3) },
        { id: uuid(7, 3), action: 'UNDO', refused: null, undone_by: null },
        { id: uuid(7, 4), action: 'MERGE', refused: 'UNKNOWN', undone_by: null },
      ],
    };
  });

  it('may be Other, which merges into nothing and is none of the topics that people made', async () => {
    const other = otherTopicId(INSTANCE);
    const own = { is_own: true };
    tables['topic'] = [
      topic(1, 'Track parcel'),
      { ...topic(2, 'Other', own), id: other },
      ...Array.from({ length: MOST_OWN_TOPICS - 1 }, (_, index) => topic(10 + index, `Own ${index}`, own)),
    ];
    await refused({ kind: 'MERGE', id: other, into: uuid(4, 1) }, 'CONFLICT', /merges into none/);
    equal((await check({ kind: 'MERGE', id: uuid(4, 1), into: other })).kind, 'MERGE');
    equal((await check({ kind: 'ROUTE', id: other, unclaimed: 'OTHER' })).kind, 'ROUTE');
    const made = { name: 'New', description: '', examples: ['x'], fromBeginning: false };
    equal((await check({ kind: 'CREATE', ...made })).kind, 'CREATE');
    tables['topic'] = tables['topic'].with(1, topic(2, 'Second', own));
    await refused({ kind: 'CREATE', ...made }, 'CONFLICT', /takes no more/);
  });

  it('is what answers for it', async () => {
    deepEqual(await check({ kind: 'HIDE', id: uuid(4, 2) }), { kind: 'HIDE', id: uuid(4, 1) });
    deepEqual(await check({ kind: 'PIN', entity: 'GAP', id: uuid(6, 2) }), {
      kind: 'PIN',
      entity: 'GAP',
      id: uuid(6, 1),
    });
    deepEqual(await check({ kind: 'MERGE', id: uuid(4, 4), into: uuid(4, 3) }), {
      kind: 'MERGE',
      id: uuid(4, 4),
      into: uuid(4, 1),
    });
    const move = { kind: 'MOVE', id: uuid(4, 4), cluster: uuid(5, 1) } as const;
    deepEqual(await check(move), move);
  });

  it('is there', async () => {
    const none = uuid(9, 9);
    const topicNone = new RegExp(`^There is no topic ${none} in this instance\\.$`);
    await refused({ kind: 'HIDE', id: none }, 'NOT_FOUND', topicNone);
    await refused({ kind: 'RENAME', entity: 'TOPIC', id: none, name: 'x' }, 'NOT_FOUND', topicNone);
    await refused({ kind: 'MERGE', id: uuid(4, 1), into: none }, 'NOT_FOUND', topicNone);
    await refused({ kind: 'PIN', entity: 'CLUSTER', id: uuid(4, 1) }, 'NOT_FOUND', /no topic cluster/);
    await refused({ kind: 'MOVE', id: uuid(4, 1), cluster: none }, 'NOT_FOUND', /no topic cluster/);
    await refused({ kind: 'RENAME', entity: 'GAP', id: none, name: 'x' }, 'NOT_FOUND', /no gap/);
    await refused({ kind: 'UNDO', id: none }, 'NOT_FOUND', /no curation/);
    tables = {};
    await refused({ kind: 'HIDE', id: uuid(4, 1) }, 'NOT_FOUND', /no topic/);
    await refused({ kind: 'UNDO', id: uuid(7, 1) }, 'NOT_FOUND', /no curation/);
  });

  it('gets a name that nothing else is shown with', async () => {
    const rename = (name: string, id = uuid(4, 4)) =>
      ({ kind: 'RENAME', entity: 'TOPIC', id, name }) as const;
    const taken = new RegExp(`"track PARCEL": ${uuid(4, 1)}\\. Merge the two`);
    await refused(rename('track PARCEL'), 'CONFLICT', taken);
    await check(rename('TRACK parcel', uuid(4, 1)));
    await check(rename('TRACK parcel', uuid(4, 2)));
    // What merged away or is hidden is not shown.
    await check(rename('Where is it'));
    await check(rename('Secret'));
    await check(rename('Parcels'));
    const create = { kind: 'CREATE', description: '', examples: ['x'], fromBeginning: false } as const;
    await refused({ ...create, name: 'Cancel order' }, 'CONFLICT', /Rename it, or choose another name\./);
    await check({ ...create, name: 'Gifts' });
    const move = { kind: 'MOVE', id: uuid(4, 4), cluster: null } as const;
    await refused({ ...move, clusterName: 'PARCELS' }, 'CONFLICT', /Name it as topicClusterId/);
    await check({ ...move, clusterName: 'Left behind' });
    const renameGap = { kind: 'RENAME', entity: 'GAP', id: uuid(6, 1) } as const;
    await check({ ...renameGap, name: 'Move address' });
  });

  it('is not what was made and unmade', async () => {
    tables['topic'] = [...(tables['topic'] ?? []), topic(6, 'Gifts', { is_own: true })];
    const create = {
      kind: 'CREATE',
      name: 'Gifts',
      description: '',
      examples: ['x'],
      fromBeginning: false,
    } as const;
    await refused(create, 'CONFLICT', /already/);
    tables['curation'] = [{ id: uuid(4, 6), action: 'CREATE', refused: null, undone_by: uuid(7, 5) }];
    await check(create);
    await refused({ kind: 'HIDE', id: uuid(4, 6) }, 'NOT_FOUND', /no topic/);
  });

  it('is undone once, if it did anything', async () => {
    await check({ kind: 'UNDO', id: uuid(7, 1) });
    await refused({ kind: 'UNDO', id: uuid(7, 2) }, 'CONFLICT', new RegExp(`was undone by ${uuid(7, 3)}`));
    await refused({ kind: 'UNDO', id: uuid(7, 3) }, 'CONFLICT', /is an undo/);
    await refused({ kind: 'UNDO', id: uuid(7, 4) }, 'CONFLICT', /was refused/);
  });

  it('is no circle, and within bounds', async () => {
    await refused({ kind: 'MERGE', id: uuid(4, 1), into: uuid(4, 2) }, 'CONFLICT', /are one already/);
    const own = Array.from({ length: MOST_OWN_TOPICS }, (_, i) => topic(i, `own ${i}`, { is_own: true }));
    tables['topic'] = own;
    const create = { name: 'x', description: '', examples: ['x'], fromBeginning: false };
    await refused({ kind: 'CREATE', ...create }, 'CONFLICT', /takes no more/);
    tables['topic'] = own.slice(1);
    await check({ kind: 'CREATE', ...create });
  });
});
