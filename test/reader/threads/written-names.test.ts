import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TopicRow } from '../../../src/domain/facts.ts';
import type { PlacedWriting, Writing } from '../../../src/domain/writings.ts';
import { publishedRow, WrittenNames } from '../../../src/reader/threads/written-names.ts';
import { INSTANCE_ID, OPTIONS, enrichedTurn, Store, type EnrichedTurn } from './builders.ts';

const SESSION_ID = '0190a000-0000-7000-9000-000000000001';

function writing(fields: Partial<Writing> & Pick<Writing, 'target' | 'id'>): Writing {
  return { text: 'Written', model: 'm', at: 1, ...fields };
}

/** A writing of the first instance; one of a session is about session 1. */
function placed(given: Writing, before = 0): PlacedWriting {
  const session = given.target === 'session' ? 1 : null;
  return { before, instance: 1, instanceId: INSTANCE_ID, session, writing: given };
}

/** Requests of two topics and admitted gaps, each in a session of its own. */
const REQUESTS: readonly EnrichedTurn[] = Array.from({ length: 24 }, (_, number): EnrichedTurn[] => {
  const session = 10 + number;
  const position = number * 2 + 1;
  const thing = number % 2 === 0 ? 'track my parcel' : 'refund the broken kettle';
  return [
    enrichedTurn(position, `${thing} please`, { session }),
    enrichedTurn(position + 1, 'I cannot do that.', { session, role: 'assistant', gap: 'TOOL' }),
  ];
}).flat();

function topicsOf(store: Store): TopicRow[] {
  return [...store.rows].flatMap(([key, row]) => (key.startsWith('topic ') ? [row as TopicRow] : []));
}

function idOf(store: Store, kind: 'topic' | 'cluster' | 'gap', number = 0): string {
  return store.row<{ id: string }>(`${kind} 1 ${number}`).id;
}

function nameOf(store: Store, kind: 'topic' | 'cluster' | 'gap', number = 0): string {
  return store.row<{ name: string }>(`${kind} 1 ${number}`).name;
}

describe('names that a writer has written', () => {
  for (const target of ['topic', 'cluster', 'gap'] as const) {
    it(`stand for the name of a ${target} from then on, after a restart too`, () => {
      const store = new Store();
      store.fold(REQUESTS);
      const ours = nameOf(store, target);
      const id = idOf(store, target);
      store.fold([], [placed(writing({ target, id, text: 'Late parcels', at: 3 }))]);
      equal(nameOf(store, target), 'Late parcels');
      store.restart();
      // A request that belongs to it.
      store.fold(
        REQUESTS.slice(0, 2).map(({ turn, enrichment }) => ({
          turn: { ...turn, position: 90 + turn.position },
          enrichment,
        })),
      );
      equal(nameOf(store, target), 'Late parcels');
      notEqual(ours, 'Late parcels');
      store.fold([], [placed(writing({ target, id, text: 'Where a parcel is', at: 6 }))]);
      equal(nameOf(store, target), 'Where a parcel is');
    });
  }

  it('are not taken twice for the same number of requests, nor when others bear them', () => {
    const store = new Store();
    store.fold(REQUESTS);
    const [first, second] = topicsOf(store);
    ok(first !== undefined && second !== undefined);
    const write = (id: string, text: string, at: number): void => {
      store.fold([], [placed(writing({ target: 'topic', id, text, at }))]);
    };
    write(first.id, 'Late parcels', 8);
    write(first.id, 'Another', 8);
    equal(nameOf(store, 'topic', first.topic), 'Late parcels');
    write(second.id, 'late PARCELS', 8);
    equal(nameOf(store, 'topic', second.topic), second.name);
    write(second.id, 'Broken kettles', 8);
    equal(nameOf(store, 'topic', second.topic), 'Broken kettles');
    write('0190a000-0000-7000-8000-00000000dead', 'Of nothing', 8);
  });

  it('end in the same rows and state whatever the batches and wherever it was restarted', () => {
    const whole = new Store();
    whole.fold(REQUESTS);
    const about = [
      { at: 7, target: 'gap' as const },
      { at: 20, target: 'topic' as const },
      { at: 21, target: 'cluster' as const },
      { at: 33, target: 'topic' as const },
    ].map(({ at, target }, number) => {
      const given = writing({ target, id: idOf(whole, target), text: `Written ${number}`, at });
      return placed(given, at);
    });
    const summary = (before: number, at: number): PlacedWriting => ({
      ...placed(
        writing({ target: 'session', id: SESSION_ID.replace(/01$/, '12'), text: `Summary ${at}`, at }),
        before,
      ),
      session: 12,
    });
    // Session 12 has its turns at places 4 and 5.
    const writings = [summary(5, 1), ...about, summary(40, 2)].sort((x, y) => x.before - y.before);
    const once = new Store();
    once.fold(REQUESTS, writings);
    equal(once.row<{ summary: string }>('session 12').summary, 'Summary 2');
    deepEqual(
      (['gap', 'topic', 'cluster'] as const).map((kind) => nameOf(once, kind)),
      ['Written 0', 'Written 3', 'Written 2'],
    );
    for (const size of [1, 2, 5, 13]) {
      const parts = new Store();
      for (let from = 0; from < REQUESTS.length; from += size) {
        const isLast = from + size >= REQUESTS.length;
        const own = writings.filter(
          ({ before }) => before >= from && (before < from + size || (isLast && before === REQUESTS.length)),
        );
        parts.fold(
          REQUESTS.slice(from, from + size),
          own.map((one) => ({ ...one, before: one.before - from })),
        );
        if (size > 1) parts.restart();
      }
      deepEqual(parts.snapshot(), once.snapshot(), `batches of ${size}`);
    }
  });

  it('stand neither for a topic that has merged, nor for one that a person has named', () => {
    const names = new WrittenNames(1, 'topic');
    names.set(0, { text: 'Written', at: 3 });
    const row: TopicRow = {
      instance: 1,
      topic: 0,
      id: 'a',
      name: 'Ours',
      cluster: null,
      heir: null,
      since: null,
    };
    const given = (number: number): string | undefined => (number === 2 ? 'Given' : undefined);
    equal(publishedRow(names, given, 0, row).name, 'Written');
    equal(publishedRow(names, given, 0, { ...row, heir: 1, since: 7 }).name, 'Ours');
    equal(publishedRow(names, given, 1, { ...row, topic: 1 }).name, 'Ours');
    names.set(2, { text: 'Written', at: 3 });
    deepEqual(publishedRow(names, given, 2, { ...row, topic: 2 }), {
      ...row,
      topic: 2,
      name: 'Given',
      isNamed: true,
    });
  });
});

describe('summaries that a writer has written', () => {
  const turns = [
    enrichedTurn(1, 'where is my parcel'),
    enrichedTurn(2, 'It arrives tomorrow at noon.', { role: 'assistant' }),
    enrichedTurn(3, 'and my refund'),
  ];
  const summary = (at: number): PlacedWriting =>
    placed(writing({ target: 'session', id: SESSION_ID, text: `Summary ${at}`, at }));
  const summaryOf = (store: Store): string => store.row<{ summary: string }>('session 1').summary;

  it('are shown until the session goes on', () => {
    const store = new Store();
    store.fold(turns.slice(0, 2));
    const ours = summaryOf(store);
    store.fold([], [summary(2)]);
    equal(summaryOf(store), 'Summary 2');
    store.restart();
    store.fold(turns.slice(2));
    const other = new Store();
    other.fold(turns);
    equal(summaryOf(store), summaryOf(other));
    equal(summaryOf(store), ours);
    notEqual(ours, 'Summary 2');
  });

  it('are not shown when the session has gone on before they came', () => {
    const store = new Store();
    store.fold(turns);
    const ours = summaryOf(store);
    store.fold([], [summary(2)]);
    equal(summaryOf(store), ours);
  });
});

describe('what a writer is told', () => {
  const options = { ...OPTIONS, reports: true };

  it('is each topic, cluster and gap once, and again when it has doubled', () => {
    const store = new Store(options);
    const summaries: string[] = [];
    for (const [place] of REQUESTS.entries()) {
      store.fold(REQUESTS.slice(place, place + 1));
      for (const { target, id, at } of store.assigner.takeReports().names)
        summaries.push(`${target} ${id} ${at}`);
    }
    const gap = idOf(store, 'gap');
    deepEqual(
      summaries.filter((one) => one.startsWith(`gap ${gap}`)).map((one) => Number(one.split(' ')[2])),
      [1, 2, 4, 8],
    );
    const counts = summaries
      .filter((one) => one.includes(idOf(store, 'topic')))
      .map((one) => Number(one.split(' ')[2]));
    ok(counts.length >= 2, summaries.join('\n'));
    counts.reduce((before, count) => {
      ok(count >= 2 * before, counts.join());
      return count;
    });
  });

  it('is told again by a process that finds no name yet, and not when there is one', () => {
    const store = new Store(options);
    store.fold(REQUESTS);
    const [first] = store.assigner.takeReports().names;
    ok(first !== undefined);
    const again = (): boolean => {
      store.restart();
      store.fold([enrichedTurn(200, 'hello there', { session: 99, kind: 'reply' })]);
      return store.assigner.takeReports().names.some(({ id }) => id === first.id);
    };
    ok(again());
    const { target, id, at } = first;
    store.fold([], [placed(writing({ target, id, at, text: 'Written' }))]);
    ok(!again());
  });

  it('is nothing of what a person has named', () => {
    const store = new Store(options);
    store.fold(REQUESTS);
    const reported = (): string[] => store.assigner.takeReports().names.map(({ id }) => id);
    const id = idOf(store, 'topic');
    ok(reported().includes(id));
    store.restart();
    const curation = {
      id: '0190b000-0000-7000-8000-000000000001',
      keyId: 'key',
      action: { kind: 'RENAME', entity: 'TOPIC', id, name: 'Given' },
    } as const;
    const decided = {
      before: 0,
      session: null,
      position: 900,
      instance: 1,
      instanceId: INSTANCE_ID,
      acceptedAt: 1,
    };
    store.fold([], [{ ...decided, curation }]);
    const summaries = reported();
    ok(summaries.length > 0 && !summaries.includes(id));
  });

  it('holds no personal data, and no text of turns that are not analysed', () => {
    const store = new Store(options);
    store.fold([
      enrichedTurn(1, 'my name is Alfonsina Quirke and my e-mail is quirke@example.org, where is my parcel'),
      enrichedTurn(2, 'lookup', { role: 'other' }),
      enrichedTurn(3, `Dear Alfonsina, ${'it arrives tomorrow. '.repeat(200)}`, { role: 'assistant' }),
    ]);
    const { turns } = store.assigner.takeReports();
    deepEqual(
      turns.map(({ at, speaker }) => [at, speaker]),
      [
        [1, 'user'],
        [2, 'other'],
        [3, 'assistant'],
      ],
    );
    for (const { text } of turns) ok(!/quirke|alfonsina|example/i.test(text), text);
    equal(turns[1]!.text, '');
    ok(turns[2]!.text.length < 1500);
  });

  it('is nothing when nobody wants to know', () => {
    const store = new Store();
    store.fold(REQUESTS);
    deepEqual(store.assigner.takeReports(), { names: [], turns: [] });
  });
});
