import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  MOST_CORRECTIONS,
  MOST_CURATIONS,
  otherTopicId,
  quotesOf,
  type CurationAction,
  type PlacedCuration,
} from '../../../src/domain/curations.ts';
import type {
  ClusterRow,
  CurationRow,
  GapRow,
  MessageFact,
  SessionRow,
  SignalRow,
  TopicRow,
} from '../../../src/domain/facts.ts';
import { derivedId } from '../../../src/domain/ids.ts';
import { KINDS } from '../../../src/domain/kinds.ts';
import { LIFE_STATES, MOST_TRACKED } from '../../../src/domain/lives.ts';
import { SESSION_OUTCOMES, type SessionOutcome } from '../../../src/domain/session-outcomes.ts';
import { INFERRED_SIGNALS } from '../../../src/domain/signal-kinds.ts';
import { certain } from '../../support/signals.ts';
import { InstanceCurations } from '../../../src/reader/threads/instance-curations.ts';
import { OPTIONS, INSTANCE_ID, enrichedTurn, Store, vectorOf, type EnrichedTurn } from './builders.ts';

const uuid = (number: number): string => `0190b000-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** A curation of the first instance, behind `before` turns of its batch. */
function placed(number: number, action: CurationAction, before = 0): PlacedCuration {
  const texts = quotesOf(action);
  const examples = texts.length > 0 ? { examples: texts.map(vectorOf) } : {};
  return {
    before,
    session: null,
    position: 1_000_000 + number,
    instance: 1,
    instanceId: INSTANCE_ID,
    acceptedAt: number * 1e6,
    curation: { id: uuid(number), keyId: 'key', action },
    ...examples,
  };
}

const OTHER = otherTopicId(INSTANCE_ID);

const REQUESTS = ['track my parcel', 'cancel my order', 'refund the money', 'open a new account'];
/** Four topics of four requests each: of the first request at positions 1, 5, 9 and 13, and so on. */
const HISTORY = [0, 1, 2, 3].flatMap((round) =>
  REQUESTS.map((text, kind) => enrichedTurn(1 + round * 4 + kind, text, { session: 1 + round * 4 + kind })),
);

class Curated extends Store {
  #curations = 0;

  constructor(history: readonly EnrichedTurn[] = HISTORY) {
    // Few requests are asked: topics are found by less than this.
    super({ ...OPTIONS, thresholds: { ...OPTIONS.thresholds, topic: 0.54 } });
    if (history.length > 0) this.fold(history);
  }

  /** Applies a decision, and returns its row. */
  decide(action: CurationAction): CurationRow {
    this.#curations += 1;
    const [row, ...undone] = this.fold([], [placed(this.#curations, action)]).curations.toReversed();
    for (const one of undone) equal(one.undoneBy, row!.id);
    return row!;
  }

  /** The row of the topic that holds the message at a position; null: none does. */
  topicAt(position: number): TopicRow | null {
    const { micro } = this.row<MessageFact>(`message ${position}`);
    const topic = this.row<number | null>(`micro 1 ${micro}`);
    return topic === null ? null : this.row<TopicRow>(`topic 1 ${topic}`);
  }

  /** The same topic as it is now. */
  again({ topic }: TopicRow): TopicRow {
    return this.row<TopicRow>(`topic 1 ${topic}`);
  }

  ask(position: number, text: string): TopicRow | null {
    this.fold([enrichedTurn(position, text, { session: position })]);
    return this.topicAt(position);
  }
}

const rename = (id: string, name: string): CurationAction => ({ kind: 'RENAME', entity: 'TOPIC', id, name });
const create = (examples: readonly string[], fromBeginning = false): CurationAction => ({
  kind: 'CREATE',
  id: uuid(900),
  name: 'Ours',
  description: 'What we watch',
  examples,
  fromBeginning,
});

const at = (store: Curated, position: number): MessageFact => store.row<MessageFact>(`message ${position}`);

describe('what people decide about topics', () => {
  it('renames a topic for ever, and an undo gives the found name back', () => {
    const store = new Curated();
    const found = store.topicAt(1)!;
    const decision = store.decide(rename(found.id, 'Where it is'));
    deepEqual(store.again(found), { ...found, name: 'Where it is', isNamed: true });
    for (let position = 100; position < 140; position += 1)
      equal(store.ask(position, 'track my parcel today')?.name, 'Where it is');
    store.decide({ kind: 'UNDO', id: decision.id });
    const { name, isNamed } = store.again(found);
    deepEqual([name === 'Where it is', isNamed], [false, false]);
  });

  it('pins the name that is shown', () => {
    const store = new Curated();
    const found = store.topicAt(1)!;
    const row = store.decide({ kind: 'PIN', entity: 'TOPIC', id: found.id });
    deepEqual(JSON.parse(row.detail), { name: found.name });
    deepEqual(store.again(found), { ...found, isNamed: true });
  });

  it('renames a cluster and a gap', () => {
    const store = new Curated();
    const gap = { role: 'assistant', gap: { type: 'TOOL', words: 'change the address' } } as const;
    store.fold([enrichedTurn(50, 'I cannot change the address', gap)]);
    const { cluster } = store.topicAt(1)!;
    const { id } = store.row<ClusterRow>(`cluster 1 ${cluster}`);
    store.decide({ kind: 'RENAME', entity: 'CLUSTER', id, name: 'Parcels' });
    deepEqual(store.row(`cluster 1 ${cluster}`), {
      instance: 1,
      cluster,
      id,
      name: 'Parcels',
      isNamed: true,
    });
    const found = store.row<GapRow>('gap 1 0');
    store.decide({ kind: 'RENAME', entity: 'GAP', id: found.id, name: 'New address' });
    deepEqual(store.row('gap 1 0'), { ...found, name: 'New address', isNamed: true });
  });

  it('merges a topic into another, which answers for it, and takes them apart again', () => {
    const store = new Curated();
    const [parcel, order] = [store.topicAt(1)!, store.topicAt(2)!];
    const row = store.decide({ kind: 'MERGE', id: parcel.id, into: order.id });
    equal(store.topicAt(1)?.id, order.id);
    equal(store.topicAt(2)?.id, order.id);
    deepEqual(store.again(parcel), { ...parcel, heir: order.topic, since: row.position });
    equal(store.ask(100, 'track my parcel')?.id, order.id);
    store.decide({ kind: 'UNDO', id: row.id });
    equal(store.topicAt(1)?.id, parcel.id);
    equal(store.topicAt(100)?.id, parcel.id);
    equal(store.again(parcel).heir, null);
  });

  it('refuses a topic that would merge into itself, directly or through others', () => {
    const store = new Curated();
    const [a, b, c] = [1, 2, 3].map((position) => store.topicAt(position)!.id) as [string, string, string];
    equal(store.decide({ kind: 'MERGE', id: a, into: a }).refused, 'CIRCULAR');
    equal(store.decide({ kind: 'MERGE', id: a, into: b }).refused, null);
    equal(store.decide({ kind: 'MERGE', id: b, into: c }).refused, null);
    equal(store.decide({ kind: 'MERGE', id: c, into: a }).refused, 'CIRCULAR');
    equal(store.topicAt(1)?.id, c);
  });

  it('moves a topic to a cluster that is there, and to a new one', () => {
    const store = new Curated();
    const [parcel, order] = [store.topicAt(1)!, store.topicAt(2)!];
    const { id } = store.row<ClusterRow>(`cluster 1 ${order.cluster}`);
    store.decide({ kind: 'MOVE', id: parcel.id, cluster: id });
    equal(store.again(parcel).cluster, order.cluster);
    const row = store.decide({ kind: 'MOVE', id: parcel.id, cluster: uuid(800), clusterName: 'Goods' });
    const { cluster } = store.again(parcel);
    const made = { instance: 1, cluster, id: uuid(800), name: 'Goods', isNamed: true };
    deepEqual(store.row(`cluster 1 ${cluster}`), made);
    store.decide({ kind: 'UNDO', id: row.id });
    equal(store.again(parcel).cluster, order.cluster);
  });

  it('hides a topic: what it holds has none', () => {
    const store = new Curated();
    const parcel = store.topicAt(1)!;
    const row = store.decide({ kind: 'HIDE', id: parcel.id });
    equal(store.topicAt(1), null);
    equal(store.ask(100, 'track my parcel'), null);
    equal(store.again(parcel).isHidden, true);
    store.decide({ kind: 'UNDO', id: row.id });
    equal(store.topicAt(100)?.id, parcel.id);
  });

  it('refuses what is not there, and what cannot be undone, and lists it', () => {
    const store = new Curated();
    const { id } = store.topicAt(1)!;
    equal(store.decide(rename(uuid(1), 'x')).refused, 'UNKNOWN');
    equal(store.decide({ kind: 'MERGE', id, into: uuid(1) }).refused, 'UNKNOWN');
    equal(store.decide({ kind: 'MOVE', id, cluster: uuid(1) }).refused, 'UNKNOWN');
    const hidden = store.decide({ kind: 'HIDE', id });
    const undo = store.decide({ kind: 'UNDO', id: hidden.id });
    for (const one of [hidden, undo])
      equal(store.decide({ kind: 'UNDO', id: one.id }).refused, 'NOT_UNDOABLE');
    equal(store.decide({ kind: 'UNDO', id: uuid(999) }).refused, 'UNKNOWN');
    const { entity, entityId, action, keyId, createdAt } = undo;
    deepEqual([entity, entityId, action, keyId, createdAt], ['CURATION', hidden.id, 'UNDO', 'key', 5e6]);
    equal(store.row<CurationRow>('curation 1 3').undoneBy, undo.id);
  });

  it('takes so many decisions of an instance, and no more', () => {
    const store = new Curated();
    const curations = new InstanceCurations(1);
    const known = { target: 0, other: -1, name: 'Name', refused: null, undoneBy: null };
    for (let number = 0; number < MOST_CURATIONS - 1; number += 1) {
      const { curation, position, acceptedAt: createdAt } = placed(5000 + number, rename('a', 'Name'));
      curations.add({ ...known, curation, position, createdAt });
    }
    for (const row of curations.takeState()) store.state.set(`1 curation ${row.key}`, row);
    store.restart();
    const { id } = store.topicAt(1)!;
    const refusals = ['One', 'Two'].map((name) => store.decide(rename(id, name)).refused);
    deepEqual(refusals, [null, 'TOO_MANY']);
    equal(store.topicAt(1)?.name, 'One');
  });

  it('keeps topics apart that somebody decided about, however alike they become', () => {
    const alike = (store: Curated): Set<string | undefined> => {
      for (let position = 100; position < 300; position += 1)
        store.ask(position, position % 2 === 0 ? 'track my parcel order' : 'track my order parcel now');
      return new Set([1, 2].map((position) => store.topicAt(position)?.id));
    };
    const store = new Curated();
    const ids = [1, 2].map((position) => store.topicAt(position)!.id);
    for (const id of ids) store.decide(rename(id, `Our ${id}`));
    deepEqual([...alike(store)], ids);
  });
});

const correct = (kind: 'ASSIGN' | 'EXCLUDE', id: string, text: string): CurationAction => ({
  kind,
  of: 'TOPIC',
  id,
  text,
});

describe('corrections of topics', () => {
  it('count a request and its like for another topic, and give it back', () => {
    const store = new Curated();
    const [parcel, order] = [store.topicAt(1)!, store.topicAt(2)!];
    const row = store.decide(correct('ASSIGN', order.id, 'track my parcel'));
    for (const position of [1, 5, 9, 13, 2]) equal(store.topicAt(position)?.id, order.id);
    equal(store.ask(100, 'track my parcel')?.id, order.id);
    equal(store.ask(101, 'refund the money')?.id, store.topicAt(3)?.id);
    store.decide({ kind: 'UNDO', id: row.id });
    for (const position of [1, 5, 9, 13, 100]) equal(store.topicAt(position)?.id, parcel.id);
    equal(store.ask(102, 'track my parcel')?.id, parcel.id);
  });

  it('take a request and its like out of a topic, and of no other', () => {
    const store = new Curated();
    const parcel = store.topicAt(1)!;
    const row = store.decide(correct('EXCLUDE', parcel.id, 'track my parcel'));
    for (const position of [1, 5]) equal(store.topicAt(position), null);
    equal(store.ask(100, 'track my parcel'), null);
    store.decide(correct('EXCLUDE', parcel.id, 'cancel my order'));
    equal(store.topicAt(2)?.name, store.again(store.topicAt(6)!).name);
    store.decide({ kind: 'UNDO', id: row.id });
    equal(store.topicAt(100)?.id, parcel.id);
  });

  it('hold by the latest word, also against an own topic', () => {
    const store = new Curated();
    const [parcel, order] = [store.topicAt(1)!, store.topicAt(2)!];
    store.decide(create(['track my parcel'], true));
    equal(store.topicAt(1)?.id, uuid(900));
    const out = store.decide(correct('EXCLUDE', uuid(900), 'track my parcel'));
    equal(store.topicAt(1)?.id, parcel.id);
    store.decide(correct('ASSIGN', order.id, 'track my parcel'));
    equal(store.topicAt(1)?.id, order.id);
    const back = store.decide(correct('ASSIGN', uuid(900), 'track my parcel'));
    equal(store.topicAt(1)?.id, uuid(900));
    equal(store.ask(100, 'track my parcel')?.id, uuid(900));
    store.decide({ kind: 'UNDO', id: back.id });
    equal(store.topicAt(1)?.id, order.id);
    store.decide({ kind: 'UNDO', id: out.id });
    equal(store.topicAt(100)?.id, order.id);
  });

  it('follow a topic that is merged or hidden, and end with one that is unmade', () => {
    const store = new Curated();
    const [parcel, order, money] = [1, 2, 3].map((position) => store.topicAt(position)!) as [
      TopicRow,
      TopicRow,
      TopicRow,
    ];
    store.decide(correct('ASSIGN', order.id, 'track my parcel'));
    const merged = store.decide({ kind: 'MERGE', id: order.id, into: money.id });
    equal(store.topicAt(1)?.id, money.id);
    store.decide({ kind: 'UNDO', id: merged.id });
    const hidden = store.decide({ kind: 'HIDE', id: order.id });
    equal(store.topicAt(1), null);
    store.decide({ kind: 'UNDO', id: hidden.id });
    const made = store.decide(create(['open a new account']));
    store.decide(correct('ASSIGN', uuid(900), 'track my parcel'));
    equal(store.topicAt(1)?.id, uuid(900));
    store.decide({ kind: 'UNDO', id: made.id });
    equal(store.topicAt(1)?.id, order.id);
    equal(store.again(parcel).heir, null);
  });

  it('give a topic to a request in a language that the model does not know', () => {
    const store = new Curated();
    const { id } = store.topicAt(1)!;
    store.decide(correct('ASSIGN', id, 'gauuqme shekveta'));
    store.fold([enrichedTurn(100, 'gauuqme shekveta', { session: 100, isUnfamiliar: true })]);
    equal(store.topicAt(100)?.id, id);
  });

  it('say where a text holds no request, and keep no text', () => {
    const store = new Curated();
    const { id } = store.topicAt(1)!;
    const given = placed(700, correct('EXCLUDE', id, 'thanks'));
    const [row] = store.fold([], [{ ...given, examples: [] }]).curations;
    deepEqual([row?.refused, row?.detail], ['NO_REQUEST', '{}']);
    store.decide(correct('ASSIGN', id, 'SECRET order'));
    const kept = [...store.state.values()].filter(({ value }) => Buffer.from(value!).includes('SECRET'));
    deepEqual(kept, []);
  });

  it('end with the topic that a person unmade', () => {
    const store = new Curated();
    const made = store.decide(create(['open a new account']));
    store.decide(correct('ASSIGN', uuid(900), 'gauuqme shekveta'));
    store.decide({ kind: 'UNDO', id: made.id });
    store.fold([enrichedTurn(100, 'gauuqme shekveta', { session: 100, isUnfamiliar: true })]);
    equal(at(store, 100).micro, null);
  });

  it('leave micro-clusters that are taken back as alike as before', () => {
    const store = new Curated();
    const { id } = store.topicAt(1)!;
    const before = store.state.get(`1 micro ${at(store, 1).micro}`)?.value;
    for (let time = 0; time < 30; time += 1) {
      const row = store.decide(correct('EXCLUDE', id, 'track my parcel'));
      store.decide({ kind: 'UNDO', id: row.id });
    }
    deepEqual(store.state.get(`1 micro ${at(store, 1).micro}`)?.value, before);
  });

  it('refuse a topic that is not there, and one correction too many', () => {
    const store = new Curated();
    const { id } = store.topicAt(1)!;
    equal(store.decide(correct('ASSIGN', uuid(1), 'track my parcel')).refused, 'UNKNOWN');
    let last: CurationRow | null = null;
    for (let number = 0; number < MOST_CORRECTIONS; number += 1)
      last = store.decide(correct('ASSIGN', id, `nothing like it ${number}`));
    equal(last?.refused, null);
    equal(store.decide(correct('EXCLUDE', id, 'track my parcel')).refused, 'TOO_MANY');
    store.decide({ kind: 'UNDO', id: last!.id });
    equal(store.decide(correct('EXCLUDE', id, 'track my parcel')).refused, null);
  });
});

describe('corrections of single messages', () => {
  const [gratitude, praise] = (['gratitude', 'praise'] as const).map((key) =>
    INFERRED_SIGNALS.findIndex((signal) => signal.key === key),
  ) as [number, number];
  const signalId = (signal: number): string =>
    derivedId(INSTANCE_ID, 'signal', INFERRED_SIGNALS[signal]!.key);
  const on = (
    kind: 'ASSIGN' | 'EXCLUDE',
    of: 'SIGNAL' | 'GAP' | 'REPEATED_REQUEST',
    id: string,
    position: number,
  ): CurationAction => ({ kind, of, id, position });
  const gap = { role: 'assistant', gap: { type: 'TOOL', words: 'change the address' } } as const;
  /** Thanks at 20, a gap at 21, another at 22; each in a session of its own. */
  const shown = (): Curated => {
    const store = new Curated();
    const thanks = { kind: 'reply', signals: certain('gratitude') } as const;
    store.fold([
      enrichedTurn(20, 'thanks, great', thanks),
      enrichedTurn(21, 'I cannot change the address', gap),
      enrichedTurn(22, 'I cannot open a bank account', {
        ...gap,
        session: 2,
        gap: { type: 'TOOL', words: 'open a bank account' },
      }),
    ]);
    return store;
  };
  it('take a signal out of one message, put another in, and give back what was found', () => {
    const store = shown();
    deepEqual(at(store, 20).signals, [gratitude]);
    const out = store.decide(on('EXCLUDE', 'SIGNAL', signalId(gratitude), 20));
    deepEqual(at(store, 20).signals, []);
    const praised = store.decide(on('ASSIGN', 'SIGNAL', signalId(praise), 20));
    deepEqual(at(store, 20).signals, [praise]);
    equal(store.row<SignalRow>(`signal 1 ${praise}`).id, signalId(praise));
    // What was not there stays away.
    const none = store.decide(on('EXCLUDE', 'SIGNAL', signalId(praise), 1));
    store.decide({ kind: 'UNDO', id: none.id });
    deepEqual(at(store, 1).signals, []);
    store.decide({ kind: 'UNDO', id: out.id });
    deepEqual(at(store, 20).signals, [gratitude, praise]);
    store.decide({ kind: 'UNDO', id: praised.id });
    deepEqual(at(store, 20).signals, [gratitude]);
  });

  it('give a message another gap, or none, by the latest word', () => {
    const store = shown();
    const [address, account] = [0, 1].map((number) => store.row<GapRow>(`gap 1 ${number}`)) as [
      GapRow,
      GapRow,
    ];
    deepEqual([at(store, 21).gap, at(store, 22).gap], [0, 1]);
    const other = store.decide(on('ASSIGN', 'GAP', account.id, 21));
    equal(at(store, 21).gap, 1);
    // It is not about the first gap any more.
    store.decide(on('EXCLUDE', 'GAP', address.id, 21));
    equal(at(store, 21).gap, 1);
    const none = store.decide(on('EXCLUDE', 'GAP', account.id, 21));
    equal(at(store, 21).gap, null);
    store.decide({ kind: 'UNDO', id: other.id });
    equal(at(store, 21).gap, null);
    store.decide({ kind: 'UNDO', id: none.id });
    equal(at(store, 21).gap, null);
    equal(at(store, 22).gap, 1);
  });

  it('keep their word when groups merge later, and an undo gives back what was shown', () => {
    const curations = new InstanceCurations(1);
    const slot = { position: 20, kind: KINDS.gap, slot: KINDS.gap };
    const known = { position: 1, createdAt: 0, other: -1, name: '', refused: null, undoneBy: null };
    const add = (number: number, action: CurationAction, rest: object): void =>
      curations.add({ ...known, target: 1, ...rest, curation: { id: uuid(number), keyId: 'k', action } });
    // Gap 2 was found; somebody says that it is not gap 1, into which it merges later.
    add(1, on('EXCLUDE', 'GAP', uuid(101), 20), { target: 1, found: 2, excluded: [1] });
    const merged = (number: number): number => (number === 2 ? 1 : number);
    equal(curations.shownIn(slot, merged), 1);
    add(2, on('ASSIGN', 'GAP', uuid(103), 20), { target: 3, found: 2 });
    equal(curations.shownIn(slot, merged), 3);
    const undoable = curations.undoable(uuid(2));
    ok(typeof undoable !== 'string');
    curations.undo(undoable, uuid(3));
    equal(curations.shownIn(slot, merged), 1);
    deepEqual(curations.numbersIn(slot).toSorted(), [1, 2, 3]);
    // Now it is gap 1, which is not there either.
    add(4, on('EXCLUDE', 'GAP', uuid(101), 20), { target: 1, found: 2, excluded: [1, 2] });
    equal(curations.shownIn(slot, merged), null);
  });

  it('are refused where the message or what they name is not there', () => {
    const store = shown();
    const refusals = [
      on('EXCLUDE', 'SIGNAL', signalId(gratitude), 99),
      on('EXCLUDE', 'SIGNAL', uuid(1), 20),
      on('ASSIGN', 'GAP', uuid(1), 21),
      on('ASSIGN', 'REPEATED_REQUEST', uuid(1), 20),
    ].map((action) => store.decide(action).refused);
    deepEqual(refusals, ['UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN']);
    equal(store.batches.at(-1)!.corrections.length, 0);
  });

  it('change a message of the same batch in place', () => {
    const once = new Curated([]);
    const turns = [enrichedTurn(1, 'thanks, great', { kind: 'reply', signals: certain('gratitude') })];
    const { messages, corrections } = once.fold(turns, [
      placed(1, on('EXCLUDE', 'SIGNAL', signalId(gratitude), 1), 1),
    ]);
    deepEqual([messages[0]!.signals, corrections], [[], []]);
  });
});

describe('corrections of outcomes', () => {
  const sessionId = (session: number): string => enrichedTurn(1, '', { session }).turn.sessionId;
  const ended = (session: number, outcome: SessionOutcome): CurationAction => ({
    kind: 'ASSIGN',
    of: 'OUTCOME',
    id: sessionId(session),
    outcome,
  });
  const solved = { session: 50, kind: 'reply', signals: certain('problem-solved') } as const;
  const asked = (): Curated => {
    const store = new Curated();
    store.fold([enrichedTurn(20, 'please cancel the tennis lessons now', { session: 50 })]);
    return store;
  };
  const outcomeOf = (store: Curated, session = 50): SessionOutcome | null =>
    store.row<SessionRow>(`session ${session}`).outcome;

  it('hold whatever is found later, and an undo shows what is found then', () => {
    const store = asked();
    equal(outcomeOf(store), 'open');
    const { title, summary } = store.row<SessionRow>('session 50');
    const first = store.decide(ended(50, 'gave_up'));
    equal(outcomeOf(store), 'gave_up');
    const second = store.decide(ended(50, 'handed_over'));
    equal(outcomeOf(store), 'handed_over');
    deepEqual([title, summary], [store.row<SessionRow>('session 50').title, summary]);
    store.restart();
    store.fold([enrichedTurn(21, 'it works now', solved)]);
    equal(outcomeOf(store), 'handed_over');
    store.decide({ kind: 'UNDO', id: second.id });
    equal(outcomeOf(store), 'gave_up');
    store.restart();
    equal(store.decide({ kind: 'UNDO', id: first.id }).refused, null);
    equal(outcomeOf(store), 'solved');
    store.fold([enrichedTurn(22, 'please book the chess lessons instead', { session: 50 })]);
    equal(outcomeOf(store), 'open');
  });

  it('change the session alone, and are listed under it', () => {
    const store = asked();
    const before = new Map(store.rows);
    const row = store.decide(ended(50, 'solved'));
    const detail = '{"outcome":"solved","found":"open"}';
    deepEqual([row.entity, row.entityId, row.detail], ['OUTCOME', sessionId(50), detail]);
    deepEqual(
      [...store.rows].filter(([key, value]) => before.get(key) !== value).map(([key]) => key),
      ['session 50', 'curation 1 0'],
    );
    deepEqual(store.batches.at(-1)!.outcomes, [{ session: 50, outcome: 'solved' }]);
  });

  it('are refused where the session is not there yet', () => {
    const store = asked();
    equal(store.decide(ended(51, 'solved')).refused, 'UNKNOWN');
    const turn = enrichedTurn(30, 'please cancel the tennis lessons now', { session: 51 });
    store.fold([turn], [placed(31, ended(51, 'solved'), 0)]);
    equal(outcomeOf(store, 51), 'open');
    // In the same batch, but behind its first message.
    const other = enrichedTurn(40, 'please cancel the tennis lessons now', { session: 52 });
    store.fold([other], [placed(41, ended(52, 'solved'), 1)]);
    equal(outcomeOf(store, 52), 'solved');
  });

  it('end in the same rows in any batches, and through restarts', () => {
    const session = fc.integer({ min: 50, max: 52 });
    const step = fc.oneof(
      fc.record({ session, isSolved: fc.boolean() }),
      fc.record({ session, outcome: fc.constantFrom(...SESSION_OUTCOMES) }),
      fc.record({ undone: fc.nat({ max: 20 }) }),
    );
    type Steps = readonly (typeof step extends fc.Arbitrary<infer Value> ? Value : never)[];
    const folded = (steps: Steps, size: number): Store => {
      const store = new Store();
      for (let start = 0; start < steps.length; start += size) {
        const [turns, decisions]: [EnrichedTurn[], PlacedCuration[]] = [[], []];
        for (const [place, given] of steps.slice(start, start + size).entries()) {
          const number = start + place + 1;
          if ('isSolved' in given)
            turns.push(
              enrichedTurn(
                number,
                given.isSolved ? 'it works now' : 'please cancel the tennis lessons now',
                given.isSolved ? { ...solved, session: given.session } : { session: given.session },
              ),
            );
          else
            decisions.push(
              placed(
                number,
                'outcome' in given
                  ? ended(given.session, given.outcome)
                  : { kind: 'UNDO', id: uuid(1 + (given.undone % number)) },
                turns.length,
              ),
            );
        }
        store.fold(turns, decisions);
        store.restart();
      }
      return store;
    };
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 5, maxLength: 20, size: 'max' }),
        fc.integer({ min: 1, max: 6 }),
        (steps, size) => {
          deepEqual(folded(steps, size).snapshot(), folded(steps, 1000).snapshot());
          // What a person said last, and did not take back, is shown.
          const store = folded(steps, 1);
          const said = new Map<string, string>();
          for (const [key, row] of store.rows) {
            if (!key.startsWith('curation ')) continue;
            const { entity, entityId, refused, undoneBy, detail } = row as CurationRow;
            if (entity === 'OUTCOME' && refused === null && undoneBy === null)
              said.set(entityId, (JSON.parse(detail) as { outcome: string }).outcome);
          }
          for (const [key, row] of store.rows) {
            if (!key.startsWith('session ')) continue;
            const { id, outcome } = row as SessionRow;
            equal(outcome, said.get(id) ?? outcome);
          }
        },
      ),
      { numRuns: 40, seed: 7 },
    );
  });
});

describe('topics that people make', () => {
  it('claim requests near their examples from then on', () => {
    const store = new Curated();
    const { id } = store.topicAt(2)!;
    store.decide(create(['cancel my order please', 'order to be cancelled']));
    equal(store.topicAt(2)?.id, id);
    const own = store.ask(100, 'cancel my order')!;
    const { name, description, isOwn, isNamed } = own;
    deepEqual([own.id, name, description, isOwn, isNamed], [uuid(900), 'Ours', 'What we watch', true, true]);
    notEqual(store.ask(101, 'track my parcel')?.id, uuid(900));
    equal(own.cluster, store.again(store.topicAt(2)!).cluster);
  });

  it('claim requests in a language that the model does not know, which no other topic does', () => {
    const store = new Curated([]);
    store.decide(create(['gauuqme shekveta']));
    store.fold([enrichedTurn(1, 'gauuqme shekveta', { isUnfamiliar: true })]);
    equal(store.topicAt(1)?.id, uuid(900));
  });

  it('claim from the beginning when asked so, and give everything back when undone', () => {
    const store = new Curated();
    const found = store.topicAt(2)!;
    const made = store.decide(create(['cancel my order'], true));
    for (const position of [2, 6, 10, 14]) equal(store.topicAt(position)?.id, uuid(900));
    equal(store.ask(100, 'cancel my order')?.id, uuid(900));
    store.decide(rename(uuid(900), 'Cancelled'));
    equal(store.topicAt(2)?.name, 'Cancelled');
    store.decide({ kind: 'UNDO', id: made.id });
    for (const position of [2, 6, 10, 14, 100]) equal(store.topicAt(position)?.id, found.id);
    equal(store.ask(101, 'cancel my order')?.id, found.id);
  });

  it('take over a found topic, and stand on their own where nothing is found under its id', () => {
    const store = new Curated();
    const parcel = store.topicAt(1)!;
    const made = store.decide({ ...create(['cancel my order']), from: parcel.id } as CurationAction);
    equal(store.topicAt(1)?.id, uuid(900));
    equal(store.again(parcel).heir, store.topicAt(1)?.topic);
    // Somebody else keeps the same one a moment later: the first own topic stays.
    const other = { ...create(['refund the money'], true), id: uuid(901), from: parcel.id } as CurationAction;
    equal(store.decide(other).refused, null);
    equal(store.topicAt(1)?.id, uuid(900));
    equal(store.topicAt(3)?.id, uuid(901));
    // After a rebuild with other models, an id may mean nothing.
    const lost = {
      ...create(['open a new account'], true),
      id: uuid(902),
      from: uuid(999),
    } as CurationAction;
    equal(store.decide(lost).refused, null);
    equal(store.topicAt(4)?.id, uuid(902));
    store.decide({ kind: 'UNDO', id: made.id });
    equal(store.topicAt(1)?.id, parcel.id);
  });

  it('stand before the first message, and take part in merges', () => {
    const store = new Curated([]);
    store.decide(create(['cancel my order']));
    store.fold(HISTORY);
    equal(store.topicAt(2)?.id, uuid(900));
    const parcel = store.topicAt(1)!;
    const row = store.decide({ kind: 'MERGE', id: parcel.id, into: uuid(900) });
    equal(store.topicAt(1)?.id, uuid(900));
    // Without the topic that they merged into, the others stand on their own again.
    store.decide({ kind: 'UNDO', id: store.row<CurationRow>('curation 1 0').id });
    equal(store.topicAt(1)?.id, parcel.id);
    equal(store.decide({ kind: 'UNDO', id: row.id }).refused, null);
  });

  it('keep what they claim through regroupings and pruning', () => {
    const store = new Curated([]);
    store.decide(create(['cancel my order']));
    const words = [
      'apple',
      'brick',
      'cloud',
      'dune',
      'eagle',
      'flute',
      'grape',
      'house',
      'iris',
      'jade',
      'kite',
    ];
    const claimed: number[] = [];
    for (let position = 1; position < 1300; position += 1) {
      const isOurs = position % 50 === 0;
      if (isOurs) claimed.push(position);
      const [a, b, c] = [position % 11, Math.floor(position / 11) % 11, Math.floor(position / 121)];
      store.fold([
        enrichedTurn(position, isOurs ? 'cancel my order' : `${words[a]} ${words[b]} ${words[c]}`, {
          session: position,
        }),
      ]);
    }
    for (const position of claimed) equal(store.topicAt(position)?.id, uuid(900));
  });
});

describe('what no own topic claims', () => {
  const route = (unclaimed: 'FOUND' | 'OTHER'): CurationAction => ({ kind: 'ROUTE', id: OTHER, unclaimed });
  /** The id of the topic of each request of the history; null: none. */
  const shown = (store: Curated): (string | null)[] =>
    HISTORY.map(({ turn }) => store.topicAt(turn.position)?.id ?? null);

  it('counts as Other, from the beginning, until somebody chooses otherwise or takes it back', () => {
    const store = new Curated();
    const found = shown(store);
    const chosen = store.decide(route('OTHER'));
    deepEqual(new Set(shown(store)), new Set([OTHER]));
    const { name, isOwn, isHidden, cluster } = store.topicAt(1)!;
    deepEqual([name, isOwn, isHidden], ['Other', true, false]);
    equal(store.row<ClusterRow>(`cluster 1 ${cluster}`).name, 'Other');
    equal(store.ask(50, 'water the garden')?.id, OTHER);
    store.decide(route('FOUND'));
    deepEqual(shown(store), found);
    equal(store.row<TopicRow>('topic 1 4').isHidden, true);
    store.decide({ kind: 'UNDO', id: store.decide(route('OTHER')).id });
    deepEqual(shown(store), found);
    store.decide({ kind: 'UNDO', id: chosen.id });
    deepEqual(shown(store), found);
  });

  it('is claimed by a wider rule, but not where two own topics are nearly as near', () => {
    const store = new Curated();
    const request = 'cancel my new order today';
    equal(store.ask(60, request)?.isOwn, false);
    const own = store.decide(create(['cancel my order please']));
    store.decide(route('OTHER'));
    deepEqual([store.topicAt(60)?.id, store.topicAt(1)?.id], [uuid(900), OTHER]);
    store.decide({ ...create(['cancel my order please']), id: uuid(901) } as CurationAction);
    equal(store.topicAt(60)?.id, OTHER);
    store.decide({ kind: 'MERGE', id: uuid(901), into: uuid(900) });
    equal(store.topicAt(60)?.id, uuid(900), 'topics that are one need no margin');
    store.decide({ kind: 'UNDO', id: own.id });
    equal(store.topicAt(60)?.id, uuid(901));
  });

  it('goes by corrections first, then to the next best, and to Other at last', () => {
    const store = new Curated();
    const found = store.topicAt(1)!;
    store.decide(create(['track my parcel'], true));
    store.decide(route('OTHER'));
    equal(store.topicAt(1)?.id, uuid(900));
    const about = { of: 'TOPIC', text: 'track my parcel' } as const;
    const assigned = store.decide({ kind: 'ASSIGN', id: found.id, ...about });
    equal(store.topicAt(1)?.id, found.id);
    store.decide({ kind: 'UNDO', id: assigned.id });
    store.decide({ kind: 'EXCLUDE', id: uuid(900), ...about });
    equal(store.topicAt(1)?.id, OTHER);
    store.decide({ kind: 'EXCLUDE', id: OTHER, ...about });
    equal(store.topicAt(1), null);
  });

  it('keeps what a person merged or hid', () => {
    const store = new Curated();
    const [parcel, order, refund] = [1, 2, 3].map((position) => store.topicAt(position)!);
    store.decide(create(['buy a new umbrella']));
    store.decide({ kind: 'MERGE', id: parcel!.id, into: uuid(900) });
    store.decide({ kind: 'HIDE', id: order!.id });
    store.decide(route('OTHER'));
    deepEqual([store.topicAt(1)?.id, store.topicAt(2), store.topicAt(3)?.id], [uuid(900), null, OTHER]);
    store.decide({ kind: 'HIDE', id: OTHER });
    equal(store.topicAt(3), null);
    equal(store.decide({ kind: 'MERGE', id: OTHER, into: refund!.id }).refused, 'IS_OTHER');
    const merged = store.decide({ kind: 'MERGE', id: refund!.id, into: OTHER });
    equal(merged.refused, null);
    store.decide(route('FOUND'));
    equal(store.topicAt(3)?.id, refund!.id, 'a merge into Other waits while there is none');
    equal(store.decide(rename(OTHER, 'The rest')).refused, 'UNKNOWN');
  });

  it('changes nothing beneath, in any history', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 }), { minLength: 12, maxLength: 40 }), fc.nat(11), (asked, at) => {
        const texts = [...REQUESTS, 'track my order', 'refund my order'];
        const run = (chooses: boolean): Curated => {
          const store = new Curated();
          store.decide(create(['refund my money']));
          const chosen = (): CurationRow => store.decide(chooses ? route('OTHER') : route('FOUND'));
          let first: CurationRow | null = null;
          for (const [index, which] of asked.entries()) {
            if (index === at) first = chosen();
            const [session, position] = [100 + (index >> 2), 100 + 2 * index];
            const answer = enrichedTurn(position + 1, 'Sure.', { session, role: 'assistant' });
            store.fold([enrichedTurn(position, texts[which]!, { session }), answer]);
          }
          store.decide({ kind: 'UNDO', id: first!.id });
          return store;
        };
        const ids = (store: Curated): unknown[] =>
          [...HISTORY.map(({ turn }) => turn.position), ...asked.keys()].flatMap((given, index) => {
            const position = index < HISTORY.length ? given : 100 + 2 * given;
            return [
              store.topicAt(position)?.id ?? null,
              store.row<MessageFact>(`message ${position}`).repeatedRequest,
            ];
          });
        deepEqual(ids(run(true)), ids(run(false)));
      }),
      { numRuns: 15, seed: 3 },
    );
  });
});

describe('decisions among messages', () => {
  const texts = [
    'track my parcel',
    'track that parcel',
    'cancel my order',
    'cancel this order',
    'refund the money',
  ];
  const entity = fc.constantFrom('TOPIC' as const, 'CLUSTER' as const);
  const which = fc.nat({ max: 8 });
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ text: fc.nat({ max: texts.length - 1 }), says: fc.nat({ max: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.oneof(
        fc.record({ kind: fc.constant('RENAME' as const), entity, which }),
        fc.record({ kind: fc.constant('PIN' as const), entity, which }),
        fc.record({ kind: fc.constant('MERGE' as const), which, into: which }),
        fc.record({ kind: fc.constant('MOVE' as const), which, cluster: which, isNew: fc.boolean() }),
        fc.record({ kind: fc.constant('HIDE' as const), which }),
        fc.record({
          kind: fc.constant('CREATE' as const),
          text: fc.nat({ max: 4 }),
          fromBeginning: fc.boolean(),
        }),
        fc.record({
          kind: fc.constantFrom('ASSIGN' as const, 'EXCLUDE' as const),
          which,
          text: fc.nat({ max: 4 }),
        }),
        fc.record({
          kind: fc.constantFrom('ASSIGN' as const, 'EXCLUDE' as const),
          of: fc.constantFrom('SIGNAL' as const, 'GAP' as const),
          which,
          message: fc.nat({ max: 30 }),
        }),
        fc.record({
          kind: fc.constant('ROUTE' as const),
          unclaimed: fc.constantFrom('OTHER' as const, 'OTHER' as const, 'FOUND' as const),
        }),
        fc.record({
          kind: fc.constant('TRACK' as const),
          of: fc.constantFrom('TOPIC' as const, 'GAP' as const, 'SIGNAL' as const),
          which,
          state: fc.constantFrom(...LIFE_STATES),
        }),
        fc.record({ kind: fc.constant('UNDO' as const), which }),
      ),
    },
  );
  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

  /** Ids are known once the steps before have been folded one by one. */
  function recorded(steps: readonly Step[]): { turns: EnrichedTurn[]; decisions: PlacedCuration[] } {
    const store = new Store();
    const [turns, decisions]: [EnrichedTurn[], PlacedCuration[]] = [[], []];
    const idAt = (kind: string, which: number): string => {
      const ids = [...store.rows].flatMap(([key, row]) =>
        key.startsWith(`${kind} 1 `) ? [(row as TopicRow).id] : [],
      );
      return ids[which % Math.max(1, ids.length)] ?? uuid(0);
    };
    for (const [index, given] of steps.entries()) {
      if (!('kind' in given)) {
        const says = [
          {},
          { signals: certain('gratitude') },
          { role: 'assistant', gap: { type: 'TOOL', words: texts[given.text]! } },
          { role: 'assistant', gap: { type: 'KNOWLEDGE', words: texts[given.text]! } },
        ] as const;
        const turn = enrichedTurn(index + 1, texts[given.text]!, {
          session: 1 + (index % 7),
          ...says[given.says],
        });
        store.fold([turn]);
        turns.push(turn);
        continue;
      }
      const decision = placed(index + 1, actionOf(given, index, idAt), turns.length);
      store.fold([], [{ ...decision, before: 0 }]);
      decisions.push(decision);
    }
    return { turns, decisions };
  }

  function actionOf(
    given: Exclude<Step, { text: number; kind?: never }>,
    index: number,
    idAt: (kind: string, which: number) => string,
  ): CurationAction {
    if (!('kind' in given)) throw new Error('no decision');
    switch (given.kind) {
      case 'RENAME':
        return { ...given, id: idAt(given.entity.toLowerCase(), given.which), name: `Name ${index}` };
      case 'PIN':
        return { ...given, id: idAt(given.entity.toLowerCase(), given.which) };
      case 'MERGE':
        return { kind: 'MERGE', id: idAt('topic', given.which), into: idAt('topic', given.into) };
      case 'MOVE': {
        const moved = { kind: 'MOVE', id: idAt('topic', given.which) } as const;
        return given.isNew
          ? { ...moved, cluster: uuid(5000 + index), clusterName: `Cluster ${index}` }
          : { ...moved, cluster: idAt('cluster', given.cluster) };
      }
      case 'HIDE':
        return { kind: 'HIDE', id: idAt('topic', given.which) };
      case 'CREATE':
        return {
          kind: 'CREATE',
          id: uuid(7000 + index),
          name: `Own ${index}`,
          description: '',
          examples: [texts[given.text]!],
          fromBeginning: given.fromBeginning,
        };
      case 'ASSIGN':
      case 'EXCLUDE':
        if ('of' in given)
          return {
            kind: given.kind,
            of: given.of,
            id: idAt(given.of.toLowerCase(), given.which),
            position: 1 + (given.message % Math.max(1, index)),
          };
        return { kind: given.kind, of: 'TOPIC', id: idAt('topic', given.which), text: texts[given.text]! };
      case 'ROUTE':
        return { ...given, id: OTHER };
      case 'TRACK':
        return {
          kind: 'TRACK',
          of: given.of,
          id: idAt(given.of.toLowerCase(), given.which),
          state: given.state,
        };
      case 'UNDO':
        return { kind: 'UNDO', id: idAt('curation', given.which) };
    }
  }

  /** Folds in batches of so many turns; each is the last of its process when `restarts`. */
  function folded({ turns, decisions }: ReturnType<typeof recorded>, size: number, restarts: boolean): Store {
    const store = new Store();
    for (let start = 0; start <= turns.length; start += size) {
      const end = Math.min(start + size, turns.length);
      const isLast = start + size > turns.length;
      const own = decisions.filter(({ before }) => before >= start && (before < end || isLast));
      store.fold(
        turns.slice(start, end),
        own.map((one) => ({ ...one, before: one.before - start })),
      );
      if (restarts) store.restart();
    }
    return store;
  }

  it('end in the same rows in any batches, and through restarts', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
        fc.integer({ min: 1, max: 9 }),
        (steps, size) => {
          const stream = recorded(steps);
          const once = folded(stream, 1000, false);
          const parts = folded(stream, size, true);
          deepEqual(parts.snapshot(), once.snapshot());
          const merged = [...once.rows].filter(([key]) => key.startsWith('micro '));
          for (const [, topic] of merged) {
            if (topic === null) continue;
            const { heir, isHidden } = once.row<TopicRow>(`topic 1 ${topic as number}`);
            ok(heir === null && isHidden !== true, 'nothing is shown under what is merged or hidden');
          }
        },
      ),
      { numRuns: 25, seed: 7 },
    );
  });
});

describe('lives', () => {
  const track = (id: string, more: object = {}): CurationAction => ({
    kind: 'TRACK',
    of: 'TOPIC',
    id,
    state: 'PLANNED',
    owner: 'Ann',
    ...more,
  });

  it('are listed with what was said, change nothing, and are undone', () => {
    const [store, other] = [new Curated(), new Curated()];
    const { id } = store.topicAt(1)!;
    const row = store.decide(track(id));
    deepEqual(
      [row.action, row.entity, row.entityId, row.refused, JSON.parse(row.detail)],
      ['TRACK', 'TOPIC', id, null, { state: 'PLANNED', owner: 'Ann' }],
    );
    for (let position = 100; position < 300; position += 1) {
      store.ask(position, `track my parcel or cancel my order ${position}`);
      other.ask(position, `track my parcel or cancel my order ${position}`);
    }
    const withoutCurations = (one: Curated): unknown =>
      [...one.rows].filter(([key]) => !key.startsWith('curation ') && !key.startsWith('instance '));
    deepEqual(withoutCurations(store), withoutCurations(other));
    equal(store.decide({ kind: 'UNDO', id: row.id }).refused, null);
    equal(store.decide({ kind: 'UNDO', id: row.id }).refused, 'NOT_UNDOABLE');
  });

  it('are refused where the entity is not there when their turn comes', () => {
    const store = new Curated();
    const gap = { role: 'assistant', gap: { type: 'TOOL', words: 'change the address' } } as const;
    const found = derivedId(INSTANCE_ID, 'gap', '50');
    const of = { of: 'GAP' } as const;
    equal(store.decide(track(found, of)).refused, 'UNKNOWN');
    store.fold([enrichedTurn(50, 'I cannot change the address', gap)]);
    equal(store.row<GapRow>('gap 1 0').id, found);
    equal(store.decide(track(found, of)).refused, null);
    equal(store.decide(track(found)).refused, 'UNKNOWN');
    for (const key of ['gratitude', 'thumbs-down'])
      equal(store.decide(track(derivedId(INSTANCE_ID, 'signal', key), { of: 'SIGNAL' })).refused, null, key);
    equal(store.decide(track(uuid(1), { of: 'SIGNAL' })).refused, 'UNKNOWN');
    equal(store.decide(track(uuid(1), { of: 'REPEATED_REQUEST' })).refused, 'UNKNOWN');
    equal(store.decide(track(OTHER)).refused, 'UNKNOWN');
  });

  it('have a limit of their own', () => {
    const store = new Curated();
    const curations = new InstanceCurations(1);
    const { id } = store.topicAt(1)!;
    for (let number = 0; number < MOST_TRACKED - 1; number += 1) {
      const { curation, position, acceptedAt: createdAt } = placed(5000 + number, track(id));
      const rest = { target: -1, other: -1, name: '', refused: null, undoneBy: null };
      curations.add({ curation, position, createdAt, ...rest });
    }
    deepEqual([curations.tracked, curations.accepted, curations.checks], [MOST_TRACKED - 1, 0, 0]);
    for (const row of curations.takeState()) store.state.set(`1 curation ${row.key}`, row);
    store.restart();
    deepEqual(
      [1, 2].map(() => store.decide(track(id)).refused),
      [null, 'TOO_MANY'],
    );
    equal(store.decide(rename(id, 'One')).refused, null);
  });

  it('take memory for their texts', () => {
    const bytesOf = (more: object): number => {
      const curations = new InstanceCurations(1);
      const { curation, position, acceptedAt: createdAt } = placed(1, track(uuid(1), more));
      const rest = { target: -1, other: -1, name: '', refused: null, undoneBy: null };
      curations.add({ curation, position, createdAt, ...rest });
      return curations.bytes;
    };
    equal(bytesOf({ note: 'x'.repeat(1000), link: 'y'.repeat(500) }) - bytesOf({}), 3000);
  });
});

describe('verdicts of language models', () => {
  const said = (reader?: string): CurationAction => ({
    kind: 'CHECK',
    of: 'TOPIC',
    id: uuid(900),
    session: uuid(800),
    verdict: 'YES',
    ...(reader === undefined ? {} : { reader }),
  });

  it('count once, however often they are published, and by another model once more', () => {
    const store = new Curated([]);
    deepEqual(
      store.fold([], [placed(1, said('a')), placed(1, said('a')), placed(2, said('b'))]).curations.length,
      2,
    );
    store.restart();
    deepEqual(store.fold([], [placed(1, said('a'))]).curations, []);
  });

  it('are taken back once, and stay so when they come again', () => {
    const store = new Curated([]);
    store.fold([], [placed(1, said('a')), placed(2, { kind: 'UNDO', id: uuid(1) })]);
    deepEqual(store.fold([], [placed(1, said('a'))]).curations, []);
  });

  it('take nothing from the limit of people', () => {
    const curations = new InstanceCurations(1);
    for (const [number, action] of [said(), said('a'), said('a')].entries())
      curations.add({
        curation: placed(number, action).curation,
        position: number,
        createdAt: 0,
        target: -1,
        other: -1,
        name: '',
        refused: null,
        undoneBy: null,
      });
    deepEqual([curations.checks, curations.readerChecks, curations.accepted], [1, 2, 0]);
  });
});
