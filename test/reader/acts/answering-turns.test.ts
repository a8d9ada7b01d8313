import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksUser, canOnlyAnswer, holdsQuestion } from '../../../src/reader/acts/answering-turns.ts';
import type { MessageFact } from '../../../src/domain/facts.ts';
import { OPTIONS, enrichedTurn, Store } from '../threads/builders.ts';

const HOUR = 3_600_000_000;

describe('holdsQuestion', () => {
  it('knows the question marks of many scripts', () => {
    for (const text of ['Which one?', '"Really?"', '哪一个？', 'أي واحد؟', '¿Cuál?', 'Ո՞ր', 'So what ?'])
      equal(holdsQuestion(text), true, text);
  });

  it('takes no address and no statement for a question', () => {
    for (const text of ['https://example.org/?page=2', 'see a.b/c?d=e&f', 'In Berlin.', ''])
      equal(holdsQuestion(text), false, text);
  });
});

describe('asksUser', () => {
  it('looks at the end of a long turn', () => {
    equal(asksUser(`Is that so? ${'It is. '.repeat(100)}`), false);
    equal(asksUser(`${'It is. '.repeat(100)} Is that so?`), true);
  });
});

describe('canOnlyAnswer', () => {
  it('takes what asks back, or comes much later, for a beginning', () => {
    equal(canOnlyAnswer('in Berlin', 5 * HOUR, 5 * HOUR), true);
    equal(canOnlyAnswer('in Berlin', 5 * HOUR, 4 * HOUR), true);
    equal(canOnlyAnswer('in Berlin', 5 * HOUR + 1, 4 * HOUR), false);
    equal(canOnlyAnswer('where else?', 5 * HOUR, 5 * HOUR), false);
    equal(canOnlyAnswer('in Berlin', 5 * HOUR, null), false);
  });

  it('takes times before 1970 and late messages as any other', () => {
    equal(canOnlyAnswer('in Berlin', -3 * HOUR, -3 * HOUR), true);
    equal(canOnlyAnswer('in Berlin', -HOUR, -3 * HOUR), false);
    equal(canOnlyAnswer('in Berlin', -4 * HOUR, -3 * HOUR), true);
  });
});

describe('answers to the assistant', () => {
  const microsOf = (store: Store, count: number): (number | null)[] =>
    Array.from({ length: count }, (_, at) => store.row<MessageFact>(`message ${at + 1}`).micro);

  /** Conversations of a request, a question back and the answer to it. */
  function booked(count: number, question: string): Store {
    // Few requests are asked: topics are found by less than this.
    const store = new Store({ ...OPTIONS, thresholds: { ...OPTIONS.thresholds, topic: 0.54 } });
    for (let session = 0; session < count; session += 1) {
      const [at, of] = [session * 3, { session: session + 1 }];
      store.fold([
        enrichedTurn(at + 1, 'book a table', of),
        enrichedTurn(at + 2, question, { ...of, role: 'assistant' }),
        enrichedTurn(at + 3, 'berlin mitte', of),
      ]);
      store.restart();
    }
    return store;
  }

  it('found no topic and belong to what they are about', () => {
    const store = booked(6, 'Where would that be?');
    equal(store.topicName(1), 'Book table');
    deepEqual(new Set(microsOf(store, 18)), new Set([0]));
  });

  it('are requests when nothing was asked', () => {
    const store = booked(6, 'Please name the place.');
    equal(store.topicName(1), 'Book table');
    equal(store.topicName(3), 'Berlin mitte');
  });

  it('join the topic that they name, and do not count among what makes it', () => {
    const store = new Store();
    store.fold([1, 2, 3].map((position) => enrichedTurn(position, 'cancel my order', { session: position })));
    const { topics } = store.fold([
      enrichedTurn(4, 'book a table', { session: 9 }),
      enrichedTurn(5, 'Done. Anything else?', { session: 9, role: 'assistant' }),
      enrichedTurn(6, 'cancel my order', { session: 9 }),
      enrichedTurn(7, 'Done.', { session: 9, role: 'assistant' }),
    ]);
    equal(store.topicName(6), 'Cancel order');
    equal(store.topicName(7), 'Cancel order');
    deepEqual(topics, []);
  });

  it('go on after a courtesy, and end with the next turn of the assistant', () => {
    const store = new Store();
    store.fold([
      enrichedTurn(1, 'book a table'),
      enrichedTurn(2, 'Where would that be?', { role: 'assistant' }),
      enrichedTurn(3, 'sure', { kind: 'reply' }),
      enrichedTurn(4, 'berlin mitte'),
      enrichedTurn(5, 'It is booked.', { role: 'assistant' }),
      enrichedTurn(6, 'thanks', { kind: 'reply' }),
      enrichedTurn(7, 'print my invoice'),
    ]);
    deepEqual(microsOf(store, 7), [0, 0, 0, 0, 0, 0, 1]);
  });

  it('come after a request: the first thing that a user brings up is one', () => {
    const store = new Store();
    store.fold([
      enrichedTurn(1, 'How can I help you?', { role: 'assistant' }),
      enrichedTurn(2, 'book a table'),
      enrichedTurn(3, 'print my invoice'),
    ]);
    deepEqual(microsOf(store, 3), [null, 0, 1]);
  });
});
