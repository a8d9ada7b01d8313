import { describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import {
  describingFieldsOf,
  dimensionFieldsOf,
  dimensionShape,
  FILTERS,
  GROUP_BYS,
  GROUPINGS,
  groupingsWith,
} from '../../src/domain/groupings.ts';
import { queryResponseSchema } from '../../src/query/response-schema.ts';

describe('groupings', () => {
  it('are all listed, each with an entity of its own', () => {
    deepEqual(Object.keys(GROUPINGS).toSorted(), GROUP_BYS.toSorted());
    const groupings = Object.values(GROUPINGS);
    const own = [
      groupings.map(({ name }) => name),
      groupings.map(({ counts }) => counts.names),
      groupings.flatMap(({ counts }) => (counts.view === 'entity_rollup' ? [counts.kind] : [])),
    ];
    for (const values of own) equal(new Set<unknown>(values).size, values.length);
    deepEqual(
      Object.keys(dimensionShape),
      groupings.map(({ name }) => name),
    );
  });

  it('sort by something they have, and give every filter to somebody', () => {
    for (const { metrics, sorts, order } of Object.values(GROUPINGS)) {
      ok([...metrics, ...sorts].some((field) => field === order));
    }
    for (const filter of FILTERS) ok(groupingsWith(filter).length > 0, filter);
  });

  it('make the schema of an answer: what was not asked for may be missing, the rest may not', () => {
    const accepts = (dimensions: object): boolean =>
      queryResponseSchema.shape.elements.safeParse([{ dimensions, fields: {} }]).success;
    const id = '0192f0a0-0000-7000-8000-00000000000a';
    ok(accepts({ session: { id } }));
    ok(accepts({ session: { id, title: null } }));
    ok(accepts({ topic: { id, name: 'refunds', clusterId: null } }));
    ok(!accepts({ topic: { id, name: 'refunds' } }));
    ok(!accepts({ topic: { id, name: 'refunds', clusterId: null, more: 1 } }));
    deepEqual(dimensionFieldsOf('SESSION'), [
      'title',
      'summary',
      'topics',
      'language',
      'outcome',
      'externalId',
    ]);
    const sureness = ['checkedSessions', 'precisionLow', 'precisionHigh'];
    deepEqual(dimensionFieldsOf('TOPIC'), [
      'description',
      'isOwn',
      'isNamed',
      'isHidden',
      ...sureness,
      'life',
    ]);
    deepEqual(dimensionFieldsOf('CSAT_DSAT'), ['source', ...sureness, 'life']);
    deepEqual(describingFieldsOf('TOPIC'), ['description', 'isOwn', 'isNamed', 'isHidden']);
  });
});
