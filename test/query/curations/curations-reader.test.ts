import { deepEqual, equal } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CurationRow } from '../../../src/domain/facts.ts';
import { CurationsReader } from '../../../src/query/curations/curations-reader.ts';
import {
  curationsParameterSchemas,
  curationsResponseSchema,
  type CurationsResponse,
} from '../../../src/query/curations/curations-schema.ts';
import { CurationTargets } from '../../../src/query/curations/targets.ts';
import { assignment, fact, openFixture, uuid, type Fixture } from '../../support/fold.ts';

const curation = (number: number, parts: Partial<CurationRow>): CurationRow => ({
  instance: 1,
  curation: number,
  id: uuid(7, number),
  position: 100 + number,
  createdAt: Date.UTC(2026, 0, 1) * 1000,
  keyId: 'key_1',
  action: 'RENAME',
  entity: 'TOPIC',
  entityId: uuid(4, 1),
  detail: '{"name":"Parcels"}',
  refused: null,
  undoneBy: null,
  ...parts,
});

describe('the list of curations', () => {
  let fixture: Fixture;
  let reader: CurationsReader;
  before(async () => {
    fixture = await openFixture();
    reader = new CurationsReader({ readerOf: () => fixture.reader });
    const found = { cluster: 1, heir: null, since: null, description: null, isHidden: false, isNamed: false };
    await fixture.fold(
      assignment({
        messages: [fact({ position: 1 })],
        topics: [1, 2].map((topic) => ({
          instance: 1,
          topic,
          id: uuid(4, topic),
          name: `topic ${topic}`,
          isOwn: false,
          ...found,
        })),
        clusters: [{ instance: 1, cluster: 1, id: uuid(5, 1), name: 'cluster 1', isNamed: false }],
        curations: [
          curation(0, {}),
          curation(1, { action: 'MERGE', detail: JSON.stringify({ into: uuid(4, 2) }) }),
          curation(2, {
            action: 'MOVE',
            detail: JSON.stringify({ cluster: uuid(5, 1), clusterName: 'New' }),
          }),
          curation(3, { action: 'HIDE', entityId: uuid(4, 9), detail: '{}', refused: 'UNKNOWN' }),
        ],
      }),
    );
    await fixture.publish();
    const create = { name: 'Gifts', description: 'About', examples: ['Wrap it'], fromBeginning: true };
    await fixture.fold(
      assignment({
        curations: [
          curation(1, {
            action: 'MERGE',
            detail: JSON.stringify({ into: uuid(4, 2) }),
            undoneBy: uuid(7, 4),
          }),
          curation(4, { action: 'UNDO', entity: 'CURATION', entityId: uuid(7, 1), detail: '{}' }),
          curation(5, { action: 'CREATE', entityId: uuid(4, 3), detail: JSON.stringify(create) }),
        ],
      }),
    );
    await fixture.publish();
  });
  after(() => fixture.close());

  const list = async (parameters: Record<string, string> = {}): Promise<CurationsResponse> => {
    const page = await reader.read(
      curationsParameterSchemas.parse({ instanceId: uuid(1, 1), ...parameters }),
    );
    return curationsResponseSchema.parse(page);
  };

  it('says of each what it does, to what, and what became of it, the newest first', async () => {
    const { elements, pagination } = await list();
    deepEqual(pagination, { limit: 50, next: null });
    deepEqual(
      elements.map(({ action, details, status, undoneBy }) => [action, details, status, undoneBy]),
      [
        [
          'CREATE',
          { name: 'Gifts', description: 'About', examples: ['Wrap it'], fromBeginning: true },
          'APPLIED',
          null,
        ],
        ['UNDO', {}, 'APPLIED', null],
        ['HIDE', {}, 'REFUSED', null],
        [
          'MOVE',
          { topicCluster: { id: uuid(5, 1), name: 'cluster 1' }, newClusterName: 'New' },
          'APPLIED',
          null,
        ],
        ['MERGE', { intoTopic: { id: uuid(4, 2), name: 'topic 2' } }, 'UNDONE', uuid(7, 4)],
        ['RENAME', { name: 'Parcels' }, 'APPLIED', null],
      ],
    );
    deepEqual(
      elements.map(({ target }) => [target.type, target.id, target.name]),
      [
        ['TOPIC', uuid(4, 3), null],
        ['CURATION', uuid(7, 1), null],
        ['TOPIC', uuid(4, 9), null],
        ['TOPIC', uuid(4, 1), 'topic 1'],
        ['TOPIC', uuid(4, 1), 'topic 1'],
        ['TOPIC', uuid(4, 1), 'topic 1'],
      ],
    );
    deepEqual(elements[2]?.reason, {
      code: 'UNKNOWN',
      message: 'What it names was not there when its turn came.',
    });
    const { curationId, createdAt, position, keyId, reason } = elements.at(-1) ?? {};
    deepEqual(
      [curationId, createdAt, position, keyId, reason],
      [uuid(7, 0), '2026-01-01T00:00:00.000Z', 100, 'key_1', null],
    );
  });

  it('comes page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null | undefined;
    for (let pages = 0; cursor !== null && pages < 10; pages += 1) {
      const page: CurationsResponse = await list({ limit: '4', ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.elements.map(({ curationId }) => curationId));
      cursor = page.pagination.next;
    }
    deepEqual(
      seen,
      [5, 4, 3, 2, 1, 0].map((number) => uuid(7, number)),
    );
  });

  it('is empty where nobody decided anything', async () => {
    deepEqual(await list({ instanceId: uuid(1, 2) }), {
      elements: [],
      pagination: { limit: 50, next: null },
      lastProcessedAt: null,
    });
  });

  it('says what may be undone', async () => {
    const targets = new CurationTargets({ readerOf: () => fixture.reader });
    const codeOf = (number: number): Promise<string> =>
      targets.check(uuid(1, 1), { kind: 'UNDO', id: uuid(7, number) }).then(
        () => 'may be',
        (error: { code: string }) => error.code,
      );
    deepEqual(await Promise.all([0, 1, 2, 3, 4, 9].map(codeOf)), [
      'may be',
      'CONFLICT',
      'may be',
      'CONFLICT',
      'CONFLICT',
      'NOT_FOUND',
    ]);
    equal((await targets.check(uuid(1, 1), { kind: 'HIDE', id: uuid(4, 2) })).kind, 'HIDE');
  });
});
