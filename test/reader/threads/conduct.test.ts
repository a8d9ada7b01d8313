import { deepEqual, equal } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MessageFact, SessionRow } from '../../../src/domain/facts.ts';
import { SIGNALS, type SignalKey } from '../../../src/domain/signal-kinds.ts';
import { Conduct, type HeardTurn } from '../../../src/reader/conversations/conduct.ts';
import { createEnricher } from '../../../src/reader/acts/enricher.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { enrichedTurn, Store } from './builders.ts';

/** Turns of a conversation, of the user first and in turn, and the failures of the assistant by turn. */
interface Conversation {
  readonly turns: readonly string[];
  readonly failures: Readonly<Record<number, string>>;
  readonly isUnanswered?: true;
}

const ARTICLES = 'You can find all our articles in the help center.';
const INVOICES = 'Invoices are sent on the first day of each month by email.';
const NUMBER = 'What is your order number?';
const CONVERSATIONS: Readonly<Record<string, Conversation>> = {
  'a correction without effect': {
    turns: ['My invoice has the wrong amount.', INVOICES, 'No, you misunderstood me.', INVOICES],
    failures: { 3: 'ignores-correction' },
  },
  'corrected again at once': {
    turns: [
      'Which plan has single sign-on?',
      'Single sign-on is part of the Basic plan.',
      "That's wrong, Basic has none.",
      'It is in the Team plan.',
      "No, that's wrong too.",
    ],
    failures: { 4: 'ignores-correction' },
  },
  'a correction that was heard': {
    turns: [
      'Which plan has single sign-on?',
      'Single sign-on is part of the Basic plan.',
      "That's wrong, Basic has none.",
      'It is in the Team plan.',
      'Thanks a lot!',
    ],
    failures: {},
  },
  'asked twice for a number': {
    turns: ['Where is my parcel?', NUMBER, '4711', NUMBER],
    failures: { 3: 'forgets' },
  },
  'asked twice in German': {
    turns: [
      'Ich möchte meinen Vertrag kündigen',
      'Gerne. Wie lautet Ihre Kundennummer?',
      '882913',
      'Wie lautet Ihre Kundennummer?',
    ],
    failures: { 3: 'forgets' },
  },
  'a number that was not found': {
    turns: ['Where is my parcel?', NUMBER, '4711', `I could not find an order with that number. ${NUMBER}`],
    failures: {},
  },
  'a number that was not given': {
    turns: ['Where is my parcel?', NUMBER, "I don't have it", NUMBER],
    failures: {},
  },
  'a number of another order': {
    turns: [
      'Where is my parcel?',
      NUMBER,
      '4711',
      'Your parcel arrives tomorrow.',
      'And I want to return another order.',
      NUMBER,
    ],
    failures: {},
  },
  'the same answer to a complaint': {
    turns: ['How do I export my data?', ARTICLES, 'That does not help.', ARTICLES],
    failures: { 3: 'repeats-itself' },
  },
  'the same answer in Spanish': {
    turns: [
      '¿Cómo exporto mis datos?',
      'Puede encontrar todos los artículos en nuestro centro de ayuda.',
      'Eso no me ayuda. ¿Cómo exporto mis datos?',
      'Lo siento. ¡Puede encontrar todos los artículos en nuestro centro de ayuda!',
    ],
    failures: { 3: 'repeats-itself' },
  },
  'another answer to a complaint': {
    turns: [
      'My router does not work.',
      'Please unplug the router and wait ten seconds.',
      'Still not working',
      'Then please press the reset button at the back of the router.',
    ],
    failures: {},
  },
  'a question that was corrected': {
    turns: [
      'Book a table for two at seven.',
      'Shall I book a table for two at seven at Roma?',
      'No, at eight.',
      'Shall I book a table for two at eight at Roma?',
      'Yes',
    ],
    failures: {},
  },
  'an answer to something else': {
    turns: [
      'Can I pay by invoice?',
      'Our office is open from nine to five on weekdays.',
      "That's not what I asked. Can I pay by invoice?",
    ],
    failures: { 2: 'answers-else' },
    isUnanswered: true,
  },
  'something else beside a refusal': {
    turns: [
      'Ich will meine Bestellung stornieren',
      'Leider kann ich Bestellungen nicht stornieren. Sie können das Paket kostenlos zurücksenden.',
      'Das war nicht meine Frage. Ich will stornieren, nicht zurückschicken!',
    ],
    failures: { 2: 'answers-else' },
  },
  'a correction of a question': {
    turns: ['I need a latte, please.', 'Shall I make it with whole milk?', "No, that's not what I want."],
    failures: {},
  },
  'a question without an answer': {
    turns: [
      'How do I export my data?',
      'Open the settings and click Export.',
      'And how do I import it into another workspace?',
    ],
    failures: {},
    isUnanswered: true,
  },
  'no wish at the end': {
    turns: ['How do I export my data?', 'Open the settings and click Export.', 'Great, thank you!'],
    failures: {},
  },
};

describe("the assistant's conduct, with the model that ships", () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await loadEmbedder({
      model: 'undertone-small',
      modelsDirectory: join(import.meta.dirname, '../../../models'),
    });
  });
  after(() => embedder.close());

  /** Reads each conversation as an instance of its own. `batch`: turns of a batch; `style`: changes what the assistant says. */
  async function readAll(batch: number, style: (text: string) => string = (text) => text): Promise<unknown> {
    const { thresholds, dimensions } = embedder;
    const enricher = createEnricher({ embedder });
    const read: Record<string, unknown> = {};
    for (const [name, { turns }] of Object.entries(CONVERSATIONS)) {
      const store = new Store({ thresholds, dimensions, detectLanguage });
      const said = turns.map((text, index) =>
        index % 2 === 0
          ? ({ role: 'user', content: text } as const)
          : ({ role: 'assistant', content: style(text) } as const),
      );
      const enriched = await enricher.enrich(said);
      for (let from = 0; from < said.length; from += batch)
        store.fold(
          said.slice(from, from + batch).map(({ role, content }, index) => ({
            turn: enrichedTurn(from + index + 1, content, { role, session: 1 }).turn,
            enrichment: enriched[from + index]!,
          })),
        );
      const failures = turns.flatMap((_, index) =>
        store
          .row<MessageFact>(`message ${index + 1}`)
          .signals.flatMap((signal) =>
            SIGNALS[signal]?.source === 'OBSERVED' ? [[index, SIGNALS[signal].key] as const] : [],
          ),
      );
      const { isUnanswered } = store.row<SessionRow>('session 1');
      read[name] = { failures: Object.fromEntries(failures), isUnanswered };
    }
    return read;
  }

  const expected = Object.fromEntries(
    Object.entries(CONVERSATIONS).map(([name, { failures, isUnanswered = false }]) => [
      name,
      { failures, isUnanswered },
    ]),
  );

  it('shows in repeated answers and questions, and in what the user says of them', async () => {
    deepEqual(await readAll(100), expected);
  });

  it('is read the same turn by turn, from states that were stored', async () => {
    deepEqual(await readAll(1), expected);
  });

  it('is read the same from a politer assistant', async () => {
    deepEqual(await readAll(100, (text) => `Of course! ${text}`), expected);
  });
});

describe('a wish without an answer', () => {
  const heard = (asks: boolean, ...signals: readonly SignalKey[]): HeardTurn => ({
    signals: new Set(signals),
    isRepeat: false,
    bringsUp: asks,
    asks,
    givesData: false,
    isAnswered: false,
  });

  it('stays one whatever the user adds, until they say that it is solved', () => {
    const conduct = new Conduct();
    conduct.addUserTurn(heard(true));
    conduct.addUserTurn(heard(false));
    conduct.addUserTurn(heard(false, 'gratitude'));
    equal(conduct.isUnanswered, true);
    conduct.addUserTurn(heard(false, 'problem-solved'));
    equal(conduct.isUnanswered, false);
    conduct.addUserTurn(heard(true, 'problem-solved'));
    equal(conduct.isUnanswered, true);
  });
});
