import { deepEqual, equal, notEqual, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Assigner } from '../../../src/reader/threads/assigner.ts';
import type { MessageFact, RequestSentence } from '../../../src/domain/facts.ts';
import { INFERRED_SIGNALS } from '../../../src/domain/signal-kinds.ts';
import { waitStep } from '../../../src/domain/waits.ts';
import { derivedId } from '../../../src/domain/ids.ts';
import { INSTANCE_ID, OPTIONS, enrichedTurn, Store, type EnrichedTurn } from './builders.ts';
import { isLong } from '../../support/long.ts';
import { certain } from '../../support/signals.ts';

const VERBS = [
  'cancel',
  'change',
  'track',
  'book',
  'refund',
  'return',
  'upgrade',
  'explain',
  'find',
  'print',
];
const THINGS = [
  'order',
  'flight',
  'invoice',
  'password',
  'hotel',
  'parcel',
  'contract',
  'ticket',
  'recipe',
  'meter',
];
const FILLERS = [
  'my',
  'the',
  'please',
  'today',
  'again',
  'quickly',
  'online',
  'for me',
  'number seven',
  'from berlin',
];

function sentence(text: string, asks: boolean): RequestSentence {
  return { key: 1, text, score: 1, words: text.split(' ').length, asks, vector: null };
}

/** A reproducible stream of several instances and sessions with everything in it that assign looks at. */
function stream(length: number, seed: number): EnrichedTurn[] {
  let state = seed;
  const next = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const turns: EnrichedTurn[] = [];
  for (let position = 1; position <= length; position += 1) {
    const instance = next(5) === 0 ? 2 : 1;
    const session = instance * 1000 + next(20);
    const at = { instance, session };
    const kind = next(10);
    if (kind < 5) {
      const text = `${VERBS[next(10)]} ${FILLERS[next(10)]} ${THINGS[next(10)]} ${next(3) === 0 ? FILLERS[next(10)] : ''}`;
      turns.push(
        enrichedTurn(position, text, { ...at, user: next(4) === 0 ? null : session * 10 + next(2) }),
      );
    } else if (kind < 8) {
      const gap = next(6) === 0 ? (next(2) === 0 ? 'TOOL' : 'KNOWLEDGE') : null;
      turns.push(
        enrichedTurn(position, `This is answer ${next(50)} to that. Anything else?`, {
          ...at,
          role: 'assistant',
          gap,
        }),
      );
    } else if (kind === 8) {
      const { key } = INFERRED_SIGNALS[next(8)]!;
      turns.push(
        enrichedTurn(position, 'thanks, that is it', {
          ...at,
          kind: 'reply',
          signals: certain(key),
          user: session * 10,
        }),
      );
    } else {
      turns.push(enrichedTurn(position, 'tool call', { ...at, role: 'other' }));
    }
  }
  return turns;
}

describe('Assigner', () => {
  it('ends in the same rows and the same state however the stream is cut and wherever it restarts', () => {
    for (const seed of isLong ? [1, 2] : [1]) {
      const turns = stream(1200, seed);
      const whole = new Store();
      whole.fold(turns);
      for (const [size, restartEvery] of [
        [1, 97],
        [7, 5],
        [100, 1],
        [400, 0],
      ] as const) {
        // So little that each batch restores what it needs, little, and enough.
        const memoryBytes = [0, 100_000, 1e9][size % 3] as number;
        const store = new Store({ ...OPTIONS, memoryBytes });
        let evicted = 0;
        for (let start = 0, batch = 1; start < turns.length; start += size, batch += 1) {
          store.fold(turns.slice(start, start + size));
          const { instances, sessions } = store.assigner.evict();
          evicted += instances.length + sessions.length;
          if (restartEvery > 0 && batch % restartEvery === 0) store.restart();
        }
        deepEqual(store.snapshot(), whole.snapshot());
        equal(evicted > 0, memoryBytes < 1e9);
      }
      ok([...whole.rows.keys()].some((key) => key.startsWith('repeated ')));
      ok([...whole.rows.keys()].some((key) => key.startsWith('gap ')));
    }
  });

  it('measures the wait from the latest user turn to the first reply behind it, as they arrive', () => {
    const store = new Store();
    const second = 1e6;
    const at = (seconds: number): { at: number } => ({ at: 1e15 + seconds * second });
    const answer = { role: 'assistant' } as const;
    store.fold([
      enrichedTurn(1, 'hello, how can I help?', { ...answer, ...at(0) }),
      enrichedTurn(2, 'hi', { kind: 'reply', ...at(10) }),
      enrichedTurn(3, 'cancel my order', at(20)),
    ]);
    // Its state is written and read in between.
    store.restart();
    store.fold([
      enrichedTurn(4, 'tool call', { role: 'other', ...at(22) }),
      enrichedTurn(5, 'it is cancelled', { ...answer, ...at(30) }),
      enrichedTurn(6, 'anything else?', { ...answer, ...at(31) }),
      enrichedTurn(7, 'thanks', { kind: 'reply', ...at(100) }),
      // Late: its reply would lie before it.
      enrichedTurn(8, 'you are welcome', { ...answer, ...at(99) }),
      enrichedTurn(9, 'bye', { kind: 'reply', ...at(101) }),
    ]);
    const ten = waitStep(10 * second);
    deepEqual(
      Array.from({ length: 9 }, (_, index) => store.row<MessageFact>(`message ${index + 1}`).wait),
      [0, 0, 0, 0, ten, 0, -ten, 0, 0],
    );
  });

  it('gives a topic to three identical requests at once, and to all three of them', () => {
    const store = new Store();
    store.fold([1, 2].map((position) => enrichedTurn(position, 'cancel my order', { session: position })));
    equal(store.topicName(1), null);
    const { topics } = store.fold([enrichedTurn(3, 'cancel my order', { session: 3 })]);
    deepEqual(
      [1, 2, 3].map((position) => store.topicName(position)),
      ['Cancel order', 'Cancel order', 'Cancel order'],
    );
    equal(topics[0]?.id, derivedId(INSTANCE_ID, 'topic', '1'));
    notEqual(topics[0]?.cluster, null);
  });

  it('gives unfamiliar requests no topic, and the session none after one, but finds them repeated', () => {
    const store = new Store();
    const unfamiliar = { isUnfamiliar: true };
    store.fold([
      ...[1, 2, 3].map((position) =>
        enrichedTurn(position, 'gauuqme shekveta', { session: position, ...unfamiliar }),
      ),
      enrichedTurn(4, 'kargi', { session: 3, role: 'assistant' }),
      enrichedTurn(5, 'shekveta gauuqme', { session: 3, ...unfamiliar }),
      enrichedTurn(6, 'cancel my order', { session: 4 }),
      enrichedTurn(7, 'sad aris chemi amanati', { session: 4, ...unfamiliar }),
    ]);
    const facts = [1, 2, 3, 5, 6, 7].map((position) => store.row<MessageFact>(`message ${position}`));
    deepEqual(
      facts.map(({ micro }) => micro),
      [null, null, null, null, 0, null],
    );
    deepEqual(
      facts.map(({ repeatedRequest }) => repeatedRequest),
      [null, null, null, 0, null, null],
    );
  });

  it('leaves an unfamiliar answer under the topic that it was asked about', () => {
    const store = new Store();
    store.fold([
      enrichedTurn(1, 'send my parcel to another address'),
      enrichedTurn(2, 'What is the new address?', { role: 'assistant' }),
      enrichedTurn(3, 'kperiyakadai street', { isUnfamiliar: true }),
    ]);
    equal(store.row<MessageFact>('message 3').micro, 0);
  });

  it('lets replies, assistant turns and nothing else take the topic under discussion', () => {
    const store = new Store();
    store.fold([
      enrichedTurn(1, 'Good morning', { role: 'assistant' }),
      enrichedTurn(2, 'hello', { kind: 'reply' }),
      enrichedTurn(3, 'cancel my order'),
      enrichedTurn(4, 'Done.', { role: 'assistant' }),
      enrichedTurn(5, 'thanks', { kind: 'reply' }),
      enrichedTurn(6, '{}', { role: 'other' }),
    ]);
    const micros = [1, 2, 3, 4, 5, 6].map((position) => store.row<MessageFact>(`message ${position}`).micro);
    deepEqual(micros, [null, null, 0, 0, 0, null]);
  });

  it('lets every turn belong to the latest user turn before it, opening turns to the first', () => {
    const store = new Store();
    store.fold([enrichedTurn(1, 'Welcome', { role: 'assistant' })]);
    const { openingAuthors } = store.fold([
      enrichedTurn(2, 'System prompt', { role: 'other' }),
      enrichedTurn(3, 'cancel my order', { user: 5 }),
      enrichedTurn(4, 'Which one?', { role: 'assistant' }),
      enrichedTurn(5, 'track my parcel', { user: 6 }),
      enrichedTurn(6, 'Sure', { role: 'assistant' }),
      enrichedTurn(7, 'print my ticket'),
      enrichedTurn(8, 'Yes', { role: 'assistant' }),
    ]);
    deepEqual(openingAuthors, [{ instance: 1, session: 1, user: 5, beforePosition: 3 }]);
    const users = [1, 2, 3, 4, 5, 6, 7, 8].map(
      (position) => store.row<MessageFact>(`message ${position}`).user,
    );
    deepEqual(users, [5, 5, 5, 5, 6, 6, null, null]);
    equal(store.row<{ user: number }>('session 1').user, 5);
  });

  it('leaves opening turns without an end user when the first user turn has none', () => {
    const store = new Store();
    store.fold([enrichedTurn(1, 'Welcome', { role: 'assistant' })]);
    store.fold([enrichedTurn(2, 'cancel my order'), enrichedTurn(3, 'track my parcel', { user: 6 })]);
    equal(store.row<MessageFact>('message 1').user, null);
    equal(store.row<{ user: number | null }>('session 1').user, null);
  });

  it('finds a request repeated only after an answer and adds the signal', () => {
    const store = new Store();
    const { repeatedRequests, signals } = store.fold([
      enrichedTurn(1, 'cancel my order'),
      enrichedTurn(2, 'cancel the order', { signals: certain('frustration') }),
      enrichedTurn(3, 'Your parcel is on its way.', { role: 'assistant' }),
      enrichedTurn(4, 'track my meter'),
      enrichedTurn(5, 'as I said, please cancel the order', { signals: certain('frustration') }),
    ]);
    const facts = [1, 2, 4, 5].map((position) => store.row<MessageFact>(`message ${position}`));
    deepEqual(
      facts.map(({ repeatedRequest }) => repeatedRequest),
      [null, null, null, 0],
    );
    const indices = ['repetition', 'frustration'].map((key) =>
      INFERRED_SIGNALS.findIndex((signal) => signal.key === key),
    );
    deepEqual(
      facts[3]?.signals,
      indices.sort((x, y) => x - y),
    );
    deepEqual(
      signals.map(({ id }) => id).sort(),
      ['repetition', 'frustration'].map((key) => derivedId(INSTANCE_ID, 'signal', key)).sort(),
    );
    deepEqual(repeatedRequests, [
      {
        instance: 1,
        repeatedRequest: 0,
        id: derivedId(INSTANCE_ID, 'repeated-request', '5'),
        name: 'Cancel order',
        description: 'Asked again in the same conversation: “cancel the order”',
        heir: null,
        since: null,
      },
    ]);
  });

  it('finds no knowledge missing where the user only tells something and the reply names no thing', () => {
    const store = new Store();
    const statement = 'you could see both of the towers from our old balcony';
    const reply = (
      position: number,
      session: number,
      gap: 'TOOL' | { type: 'KNOWLEDGE'; words: string },
    ): EnrichedTurn => enrichedTurn(position, 'I did not know that', { session, role: 'assistant', gap });
    const that = { type: 'KNOWLEDGE', words: 'that' } as const;
    store.fold([
      enrichedTurn(1, statement, { session: 1, sentences: [sentence(statement, false)] }),
      reply(2, 1, that),
      // A thanks in between changes nothing.
      enrichedTurn(3, 'thanks', { session: 1, kind: 'reply' }),
      reply(4, 1, that),
      reply(5, 1, { type: 'KNOWLEDGE', words: 'the delivery date' }),
      reply(6, 1, 'TOOL'),
      enrichedTurn(7, statement, { session: 2, sentences: [sentence(statement, true)] }),
      reply(8, 2, that),
      enrichedTurn(9, 'opening hours', { session: 3, sentences: [sentence('opening hours', false)] }),
      reply(10, 3, that),
    ]);
    deepEqual(
      [2, 4, 5, 6, 8, 10].map((position) => store.row<MessageFact>(`message ${position}`).gap !== null),
      [false, false, true, true, true, true],
    );
  });

  it('groups gaps by what was asked for, apart for each type', () => {
    const store = new Store();
    const { gaps } = store.fold([
      enrichedTurn(1, 'book a hotel', { session: 1 }),
      enrichedTurn(2, 'I cannot book hotels.', { session: 1, role: 'assistant', gap: 'TOOL' }),
      enrichedTurn(3, 'book the hotel', { session: 2 }),
      enrichedTurn(4, 'I am unable to do that.', { session: 2, role: 'assistant', gap: 'TOOL' }),
      enrichedTurn(5, 'book a hotel', { session: 3 }),
      enrichedTurn(6, 'I do not know.', { session: 3, role: 'assistant', gap: 'KNOWLEDGE' }),
      enrichedTurn(7, 'I have no information.', { session: 4, role: 'assistant', gap: 'KNOWLEDGE' }),
    ]);
    deepEqual(
      [2, 4, 6, 7].map((position) => store.row<MessageFact>(`message ${position}`).gap),
      [0, 0, 1, 2],
    );
    deepEqual(
      gaps.map(({ name, gapType }) => [name, gapType]),
      [
        ['Book hotel', 'TOOL'],
        ['Book hotel', 'KNOWLEDGE'],
        ['Unclear request', 'KNOWLEDGE'],
      ],
    );
  });

  it('keeps instances apart', () => {
    const store = new Store();
    store.fold([
      enrichedTurn(1, 'cancel my order', { instance: 1, session: 1 }),
      enrichedTurn(2, 'cancel my order', { instance: 2, session: 2 }),
      enrichedTurn(3, 'cancel my order', { instance: 1, session: 3 }),
      enrichedTurn(4, 'cancel my order', { instance: 2, session: 4 }),
    ]);
    deepEqual(
      [1, 2, 3, 4].map((position) => store.topicName(position)),
      [null, null, null, null],
    );
    store.fold([enrichedTurn(5, 'cancel my order', { instance: 2, session: 5 })]);
    deepEqual(
      [1, 2].map((position) => store.topicName(position)),
      [null, 'Cancel order'],
    );
  });

  it('gives no topic to a text of which the model knows no word', () => {
    const store = new Store();
    store.fold([enrichedTurn(1, '???'), enrichedTurn(2, '???'), enrichedTurn(3, '???')]);
    deepEqual(
      [1, 2, 3].map((position) => store.row<MessageFact>(`message ${position}`).micro),
      [null, null, null],
    );
  });

  it('says what was not restored, and goes on after reset', () => {
    const assigner = new Assigner(OPTIONS);
    const { turn, enrichment } = enrichedTurn(1, 'cancel my order');
    throws(() => assigner.assign([turn], [enrichment]), /instance 1 was not restored/);
    assigner.restoreInstance(1, INSTANCE_ID, []);
    throws(() => assigner.assign([turn], [enrichment]), /session 1 of instance 1 was not restored/);
    assigner.restoreSession(1, 1, null);
    equal(assigner.assign([turn], [enrichment]).messages.length, 1);
    assigner.reset();
    ok(!assigner.hasInstance(1) && !assigner.hasSession(1, 1));
    deepEqual(assigner.takeState(), []);
  });

  it('refuses state of a model with another vector length', () => {
    const store = new Store();
    store.fold([enrichedTurn(1, 'cancel my order')]);
    const other = new Assigner({ ...OPTIONS, dimensions: 16 });
    const rows = [...store.state.values()].filter((row) => row.kind !== 'session');
    throws(() => other.restoreInstance(1, INSTANCE_ID, rows), /32 dimensions.*16.*rebuild/);
  });
});
