import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { GROUP_BYS, GROUPINGS } from '../../src/domain/groupings.ts';
import { SINK_TABLES } from '../../src/sink/tables.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/sink.md'), 'utf8');

describe('the tables of a sink', () => {
  it('are those of docs/sink.md, column by column', () => {
    const [, described = ''] = DOCUMENT.split('## Tables and columns');
    const sections = described.split(/^### /m).slice(1, SINK_TABLES.length + 1);
    const listed = sections.map((section) => [
      section.split('\n')[0],
      [...section.matchAll(/^\| `(\w+)` +\| ([\w, ]+?) +\| (.+?) +\|$/gm)].map(([, ...cells]) => cells),
    ]);
    deepEqual(
      listed,
      SINK_TABLES.map(({ name, columns }) => [
        name,
        columns.map((column) => [
          column.name,
          `${column.type}${column.optional === true ? ', null' : ''}`,
          column.what,
        ]),
      ]),
    );
  });

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
