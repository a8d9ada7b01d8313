import { deepEqual, equal } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { CurationRow, GapRow } from '../../../src/domain/facts.ts';
import { LIFE_STATES, type StatedLife } from '../../../src/domain/lives.ts';
import { lifeOf, livesOf } from '../../../src/query/curations/lives.ts';
import { assignment, fact, openFixture, uuid, type Fixture } from '../../support/fold.ts';

const AT = Date.UTC(2026, 0, 1) * 1000;

function said(number: number, gap: number, life: StatedLife, parts: Partial<CurationRow> = {}): CurationRow {
  return {
    instance: 1,
    curation: number,
    id: uuid(7, number),
    position: 100 + number,
    createdAt: AT,
    keyId: 'key_1',
    action: 'TRACK',
    entity: 'GAP',
    entityId: uuid(6, gap),
    detail: JSON.stringify(life),
    refused: null,
    undoneBy: null,
    ...parts,
  };
}

const gap = (number: number, heir: number | null = null): GapRow => ({
  instance: 1,
  gap: number,
  id: uuid(6, number),
  name: `gap ${number}`,
  description: '',
  gapType: 'TOOL',
  heir,
  since: heir === null ? null : 50,
});

describe('the life of an entity', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
  });
  after(() => fixture.close());

  const stateOf = (number: number, instance = 1): Promise<string | null> =>
    fixture.reader.read(async (snapshot) => {
      const life = await lifeOf(snapshot, instance, 'GAP', number);
      return life === null ? null : life.state;
    });

  it('is what was said last and neither refused nor undone, of what merged into it too', async () => {
    await fixture.fold(
      assignment({
        messages: [fact({ position: 1 }), fact({ position: 2, instance: 2, session: 2 })],
        gaps: [0, 1, 2].map((number) => gap(number)),
        curations: [
          said(0, 0, { state: 'PLANNED' }),
          said(1, 1, { state: 'FIXED', owner: 'Ann' }),
          said(2, 0, { state: 'WONT_DO' }, { refused: 'TOO_MANY' }),
          said(3, 0, { state: 'OPEN' }, { undoneBy: uuid(7, 4) }),
          said(5, 1, { state: 'WONT_DO' }, { action: 'CHECK', detail: '{}' }),
          said(0, 0, { state: 'OPEN' }, { instance: 2, entityId: uuid(6, 1) }),
        ],
      }),
    );
    await fixture.publish();
    deepEqual([await stateOf(0), await stateOf(1), await stateOf(2)], ['PLANNED', 'FIXED', null]);
    await fixture.fold(assignment({ gaps: [gap(1, 0)] }));
    await fixture.publish();
    deepEqual([await stateOf(0), await stateOf(1)], ['FIXED', null]);
    await fixture.fold(assignment({ curations: [said(6, 0, { state: 'PLANNED' })] }));
    await fixture.publish();
    equal(await stateOf(0), 'PLANNED');
    await fixture.fold(
      assignment({ curations: [said(6, 0, { state: 'PLANNED' }, { undoneBy: uuid(7, 7) })] }),
    );
    await fixture.publish();
    equal(await stateOf(0), 'FIXED');
    deepEqual([await stateOf(0, 2), await stateOf(0, 3)], [null, null]);
  });

  it('is fixed since an instant, since it was said, or in a release', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const release = { name: 'service.version', value: '3.2' };
    const empty = { fixedAt: null, release: null, owner: null, note: null, link: null, at };
    const texts = { owner: 'Ann', note: 'Done', link: 'https://example.com/7' };
    await fixture.fold(
      assignment({
        gaps: [10, 11, 12, 13].map((number) => gap(number)),
        curations: [
          said(20, 10, { state: 'FIXED' }),
          said(21, 11, { state: 'FIXED', fixedAt: AT - 86_400_000_000, ...texts }),
          said(22, 12, { state: 'FIXED', release }),
          said(23, 13, { state: 'PLANNED' }),
        ],
      }),
    );
    await fixture.publish();
    const lives = await fixture.reader.read((snapshot) => livesOf(snapshot, 1, 'GAP'));
    deepEqual(
      [10, 11, 12, 13].map((number) => lives.get(number)),
      [
        { ...empty, state: 'FIXED', fixedAt: at, curationId: uuid(7, 20) },
        { ...empty, state: 'FIXED', fixedAt: '2025-12-31T00:00:00.000Z', ...texts, curationId: uuid(7, 21) },
        { ...empty, state: 'FIXED', release, curationId: uuid(7, 22) },
        { ...empty, state: 'PLANNED', curationId: uuid(7, 23) },
      ],
    );
  });
});

describe('lives in random histories', () => {
  const GAPS = 5;
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ does: fc.constant('say' as const), gap: fc.nat(GAPS - 1), state: fc.nat(3) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constant('merge' as const),
        gap: fc.nat(GAPS - 1),
        into: fc.nat(GAPS - 1),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('undo' as const), which: fc.nat(20) }) },
  );

  let fixture: Fixture;
  let instance = 0;
  before(async () => {
    fixture = await openFixture();
  });
  after(() => fixture.close());

  it('follow from the list alone, whatever the batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.integer({ min: 1, max: 9 }),
        async (steps, size) => {
          instance += 1;
          const own = <Row extends { instance: number }>(row: Row): Row => ({ ...row, instance });
          const heirs = Array.from({ length: GAPS }, (_, number) => number);
          const list: { gap: number; state: string; isUndone: boolean }[] = [];
          await fixture.fold(
            assignment({
              messages: [fact({ position: instance, instance, session: instance })],
              gaps: heirs.map((number) => own(gap(number))),
            }),
          );
          let [gaps, curations]: [GapRow[], CurationRow[]] = [[], []];
          for (const [index, one] of steps.entries()) {
            if (one.does === 'say') {
              const state = LIFE_STATES[one.state]!;
              curations.push(said(list.length, one.gap, { state }));
              list.push({ gap: one.gap, state, isUndone: false });
            } else if (one.does === 'merge') {
              const [from, into] = [heirs[one.gap]!, heirs[one.into]!];
              if (from !== into) {
                for (const [number, heir] of heirs.entries()) {
                  if (heir !== from) continue;
                  heirs[number] = into;
                  gaps.push(gap(number, into));
                }
              }
            } else if (list[one.which] !== undefined) {
              const { gap: of, state } = list[one.which]!;
              list[one.which]!.isUndone = true;
              curations.push(said(one.which, of, { state: state as 'OPEN' }, { undoneBy: uuid(7, 99) }));
            }
            if (index % size < size - 1 && index < steps.length - 1) continue;
            // The assigner gives each row once for a batch, as it is last.
            const newest = <Row>(rows: readonly Row[], key: (row: Row) => number): Row[] => [
              ...new Map(rows.map((row) => [key(row), row])).values(),
            ];
            await fixture.fold(
              assignment({
                gaps: newest(gaps, (row) => row.gap).map(own),
                curations: newest(curations, (row) => row.curation).map(own),
              }),
            );
            [gaps, curations] = [[], []];
          }
          await fixture.publish();
          const lives = await fixture.reader.read((snapshot) => livesOf(snapshot, instance, 'GAP'));
          const expected = new Map(
            list.flatMap((one) => (one.isUndone ? [] : [[heirs[one.gap]!, one.state] as const])),
          );
          deepEqual(
            [...lives].map(([number, { state }]) => [number, state]).toSorted(),
            [...expected].toSorted(),
          );
        },
      ),
      { numRuns: 12, seed: 5 },
    );
  });
});
