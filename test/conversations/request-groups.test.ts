import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestGroups, type GroupedRequest } from '../../src/conversations/request-groups.ts';
import { DotArena } from '../../src/numeric/dot-kernel.ts';
import { DIMENSIONS, vectorOf } from '../worker/analysis/builders.ts';

const FREQUENCIES = { groups: 1, groupsWith: (): number => 1 };

function fresh(labelsWithActs: readonly number[] = []): RequestGroups {
  return new RequestGroups({
    instance: 1,
    kind: 'gap',
    labelsWithActs,
    thresholds: { repeated: 0.55 },
    dimensions: DIMENSIONS,
    unnamed: 'Unclear request',
    arena: new DotArena(DIMENSIONS),
  });
}

function add(groups: RequestGroups, text: string, position: number, label = 0): number {
  const vector = text === '' ? null : vectorOf(text);
  return groups.add({ vector, text, label, position }, () => FREQUENCIES);
}

describe('RequestGroups', () => {
  it('joins the nearest group of the same label, or creates one', () => {
    const groups = fresh();
    const numbers = [
      add(groups, 'book a hotel', 1),
      add(groups, 'book the hotel', 2),
      add(groups, 'book a hotel', 3, 1),
      add(groups, 'weather forecast', 4),
      add(groups, '', 5),
      add(groups, '', 6),
    ];
    deepEqual(numbers, [0, 0, 1, 2, 3, 3]);
    deepEqual(
      groups
        .drain()
        .map(({ number, position, label, name, example }) => [number, position, label, name, example]),
      [
        [0, 1, 0, 'Book hotel', 'book a hotel'],
        [1, 3, 1, 'Book hotel', 'book a hotel'],
        [2, 4, 0, 'Weather forecast', 'weather forecast'],
        [3, 5, 0, 'Unclear request', ''],
      ],
    );
    deepEqual(groups.drain(), []);
  });

  it('names a group again when it has three times the requests', () => {
    const groups = fresh();
    add(groups, 'book hotel', 1);
    groups.drain();
    add(groups, 'hotel room', 2);
    deepEqual(groups.drain(), []);
    add(groups, 'hotel room please', 3);
    deepEqual(
      groups.drain().map(({ name }) => name),
      ['Hotel room'],
    );
  });

  it('goes on the same from its state rows', () => {
    const groups = fresh();
    for (const [index, text] of ['book a hotel', '', 'book the hotel', 'find a taxi'].entries())
      add(groups, text, index + 1);
    const again = fresh();
    again.restore(groups.takeState().toReversed());
    deepEqual(groups.takeState(), []);
    deepEqual(again.takeState(), []);
    for (const text of ['book hotel', 'call a taxi', ''])
      equal(add(again, text, 9), add(groups, text, 9), text);
    deepEqual(again.takeState(), groups.takeState());
  });

  describe('of missing abilities', () => {
    const ability = (
      act: string | null,
      thing: string | null,
      name: string,
    ): NonNullable<GroupedRequest['ability']> => ({
      act,
      thing,
      name,
      language: 'en',
      isWhole: act !== null && thing !== null,
    });
    const addTo = (
      groups: RequestGroups,
      position: number,
      of: GroupedRequest['ability'],
      text: string,
    ): number =>
      groups.add(
        { vector: vectorOf(text), text, label: 1, position, ...(of && { ability: of }) },
        () => FREQUENCIES,
      );

    it('groups by what they are about, whatever the words', () => {
      const groups = fresh([1]);
      const numbers = [
        addTo(groups, 1, ability('send', 'email', 'Send emails'), 'forward this'),
        addTo(groups, 2, ability('view', 'email', 'Read emails'), 'forward this'),
        addTo(groups, 3, ability('send', 'email', 'Send letters'), 'write to the landlord'),
        addTo(groups, 4, ability(null, null, ''), 'forward this'),
      ];
      deepEqual(numbers, [0, 1, 0, 1]);
      deepEqual(
        groups.drain().map(({ name }) => name),
        ['Send emails', 'Read emails'],
      );
    });

    it('goes on the same from its state rows', () => {
      const groups = fresh([1]);
      addTo(groups, 1, ability('send', 'email', 'Send emails'), 'forward this');
      addTo(groups, 2, ability('view', 'email', 'Read emails'), 'forward this');
      const again = fresh([1]);
      again.restore(groups.takeState());
      for (const one of [groups, again])
        equal(addTo(one, 3, ability('view', 'email', 'Open inbox'), 'any news?'), 1);
      deepEqual(again.takeState(), groups.takeState());
    });
  });
});
