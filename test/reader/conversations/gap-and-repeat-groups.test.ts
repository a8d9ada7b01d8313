import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  RequestGroups,
  type GroupedRequest,
} from '../../../src/reader/conversations/gap-and-repeat-groups.ts';
import { DotArena } from '../../../src/reader/numeric/dot-kernel.ts';
import { DIMENSIONS, vectorOf } from '../threads/builders.ts';

const FREQUENCIES = { groups: 1, groupsWith: (): number => 1 };

function fresh(labelsWithActs?: readonly number[]): RequestGroups {
  return new RequestGroups({
    instance: 1,
    kind: 'gap',
    ...(labelsWithActs && { labelsWithActs }),
    thresholds: { repeated: 0.55, hysteresis: 0.04 },
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

  it('joins the group of the same topic, whatever is said, also after topics or processes have changed', () => {
    const topics = new Map([
      [1, 7],
      [2, 7],
      [3, 8],
      [4, -1],
      [5, -1],
    ]);
    const options = {
      instance: 1,
      kind: 'repeated',
      thresholds: { repeated: 0.55, hysteresis: 0.04 },
      dimensions: DIMENSIONS,
      unnamed: 'Repeated request',
      topicOf: (micro: number): number => topics.get(micro) ?? -1,
      topicName: (topic: number): string => `Topic ${topic}`,
    };
    let groups = new RequestGroups({ ...options, arena: new DotArena(DIMENSIONS) });
    const addTo = (text: string, position: number, micro: number | null): number =>
      groups.add({ vector: vectorOf(text), text, label: 0, position, micro }, () => FREQUENCIES);
    const first = ['book a hotel', 'weather forecast', 'open an account', 'track parcels'];
    deepEqual(
      first.map((text, index) => addTo(text, index, index + 1)),
      [0, 0, 1, 2],
    );
    deepEqual(
      groups.drain().map(({ name }) => name),
      ['Topic 7', 'Topic 8', 'Track parcels'],
    );
    // Without a topic of its own, what it says decides.
    deepEqual([addTo('track parcels', 5, 5), addTo('open an account', 6, null)], [2, 1]);
    topics.set(3, 7);
    const state = groups.takeState();
    groups = new RequestGroups({ ...options, arena: new DotArena(DIMENSIONS) });
    groups.restore(state);
    deepEqual([addTo('anything else', 7, 3), addTo('open an account', 8, null)], [0, 1]);
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

  describe('that have become one', () => {
    const ANGLES = [0, 0, 60, 35, 100];
    /** Requests that lie on an arc, in degrees: their cosine follows from how far apart they are. */
    const addAt = (groups: RequestGroups, degrees: number, position: number): number => {
      const vector = new Float32Array(DIMENSIONS);
      vector[0] = Math.cos((degrees / 180) * Math.PI);
      vector[1] = Math.sin((degrees / 180) * Math.PI);
      return groups.add({ vector, text: `at ${degrees}`, label: 0, position }, () => FREQUENCIES);
    };

    it('merge: the smaller one retires, notes its heir and gets no more', () => {
      const groups = fresh();
      deepEqual(
        ANGLES.map((angle, index) => addAt(groups, angle, index + 1)),
        [0, 0, 1, 0, 2],
        'the request at 35° joins the group at 60°, which thereby is one with the first',
      );
      deepEqual(
        groups.groups.map(({ number, count, heir, since }) => ({ number, count, heir, since })),
        [
          { number: 0, count: 4, heir: -1, since: -1 },
          { number: 1, count: 2, heir: 0, since: 4 },
          { number: 2, count: 1, heir: -1, since: -1 },
        ],
      );
      deepEqual(
        groups.drain().map(({ number, heir }) => [number, heir]),
        [
          [0, -1],
          [1, 0],
          [2, -1],
        ],
      );
      equal(addAt(groups, 60, 6), 0);
    });

    it('are not apart by more than one step: the heir of a group always lives', () => {
      const groups = fresh();
      const angles = [30, 87, 87, 60, 130, 130, 130, 108, 108, 108, 108, 108, 108, 108];
      for (const [index, angle] of angles.entries()) addAt(groups, angle, index + 1);
      const heirs = groups.groups.map(({ heir }) => heir);
      equal(
        heirs.filter((heir) => heir >= 0).every((heir) => heirs[heir]! < 0),
        true,
      );
      deepEqual(heirs, [2, 2, -1]);
    });

    it('go on the same from their state rows, wherever it stops', () => {
      const whole = fresh();
      const numbers = ANGLES.map((angle, index) => addAt(whole, angle, index + 1));
      const rows = whole.takeState();
      for (let stop = 0; stop < ANGLES.length; stop += 1) {
        const before = fresh();
        ANGLES.slice(0, stop).forEach((angle, index) => addAt(before, angle, index + 1));
        const stored = before.takeState();
        const after = fresh();
        after.restore(stored);
        const rest = ANGLES.slice(stop).map((angle, index) => addAt(after, angle, stop + index + 1));
        deepEqual(rest, numbers.slice(stop));
        const last = new Map([...stored, ...after.takeState()].map((row) => [row.key, row]));
        deepEqual([...last.values()], rows);
      }
    });
  });

  it('does not read the state of another version', () => {
    const groups = fresh();
    add(groups, 'book a hotel', 1);
    const [row] = groups.takeState();
    const value = row!.value!.slice();
    value[0] = 1;
    throws(() => fresh().restore([{ ...row!, value }]), /another version/u);
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

    it('merge when they come to be one by what is done, and with what', () => {
      const groups = fresh([1]);
      addTo(groups, 1, ability('change', null, 'Change it'), 'red apple tree');
      addTo(groups, 2, ability('change', 'address', 'Change address'), 'blue car');
      addTo(groups, 3, ability('cancel', 'address', 'Delete address'), 'red apple tree');
      for (const position of [4, 5])
        equal(addTo(groups, position, ability('change', 'address', 'Edit address'), 'red apple tree'), 1);
      deepEqual(
        groups.groups.map(({ heir }) => heir),
        [1, -1, -1],
        'the half-known group joins; the one that differs does not',
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
