import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GROUP_BYS, GROUPINGS } from '../../../src/domain/groupings.ts';
import { SINK_TABLES } from '../../../src/doors/sink/tables.ts';

describe('the tables of a sink', () => {
  it('have columns of their own, and are ordered by some of them', () => {
    const taken = ['instance_id', 'date', 'granularity', 'month'];
    for (const { name, columns, key } of SINK_TABLES) {
      const names = columns.map((column) => column.name);
      equal(new Set([...names, ...taken]).size, names.length + taken.length, name);
      ok(key.every((column) => names.includes(column)));
    }
  });

  it('call what is counted as queries do', () => {
    const facts = SINK_TABLES.find(({ name }) => name === 'facts');
    const [kind] = facts?.columns ?? [];
    const entities = GROUP_BYS.filter((groupBy) => GROUPINGS[groupBy].counts.view === 'entity_rollup');
    deepEqual(kind?.what.split(', ').toSorted(), ['MESSAGE', ...entities].toSorted());
  });
});
