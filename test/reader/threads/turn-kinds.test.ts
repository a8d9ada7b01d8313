import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MessageFact } from '../../../src/domain/facts.ts';
import { createEnricher } from '../../../src/reader/acts/enricher.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { enrichedTurn, Store } from './builders.ts';

type Line = readonly [role: 'user' | 'assistant', content: string];

describe('turns that found no topic, with the model that ships', () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await loadEmbedder({
      model: 'undertone-small',
      modelsDirectory: join(import.meta.dirname, '../../../models'),
    });
  });
  after(() => embedder.close());

  /** The micro-cluster, the topic and the gap of every message, session by session. */
  async function assigned(
    sessions: readonly (readonly Line[])[],
  ): Promise<{ micro: number | null; topic: string | null; gap: number | null }[]> {
    const { thresholds, dimensions } = embedder;
    const store = new Store({ thresholds, dimensions, detectLanguage });
    const turns = sessions.flatMap((lines, session) =>
      lines.map(([role, content]) => ({ role, content, session: session + 1 })),
    );
    const enriched = await createEnricher({ embedder }).enrich(turns);
    store.fold(
      turns.map(({ role, content, session }, index) => ({
        turn: enrichedTurn(index + 1, content, { role, session }).turn,
        enrichment: enriched[index]!,
      })),
    );
    return turns.map((_, index) => ({
      micro: store.row<MessageFact>(`message ${index + 1}`).micro,
      gap: store.row<MessageFact>(`message ${index + 1}`).gap,
      topic: store.topicName(index + 1),
    }));
  }

  it('puts requests to the assistant about itself into one topic, and those for a person into another', async () => {
    const about = [
      'are you a robot?',
      'who made you?',
      'what can you do',
      'bist du ein Mensch?',
      'your name?',
    ];
    const person = ['agent please', 'talk to an agent', 'I want an agent', 'let me talk to an agent'];
    const found = await assigned([...about, ...person].map((content) => [['user', content]] as const));
    const [first, second, third, fourth] = found;
    for (const one of [second, third, fourth]) deepEqual(one, first);
    notEqual(first?.topic ?? null, null);
    for (const { topic } of found.slice(about.length)) notEqual(topic, first?.topic);
  });

  it('leaves a code that was asked for with what was asked before', async () => {
    const dialogue: readonly Line[] = [
      ['user', 'My voucher does not work'],
      ['assistant', 'Could you tell me the code?'],
      ['user', 'WINTER7'],
    ];
    // A topic that a code alone would join otherwise.
    const codes = ['WINTER7', 'WINTER7 code', 'code WINTER7'].map((code): Line[] => [['user', code]]);
    const found = (await assigned([...codes, dialogue])).slice(codes.length);
    deepEqual(new Set(found.map(({ micro }) => micro)).size, 1);
  });

  it('leaves who asks again, in words that no topic knows, with what was asked before', async () => {
    const others = ['cancel my order', 'please cancel the order', 'cancel an order'].map((text): Line[] => [
      ['user', text],
    ]);
    const again: readonly Line[] = [
      ['user', 'I want to cancel my order'],
      ['assistant', 'You can return it free of charge when it arrives.'],
      [
        'user',
        'That was not my question, I asked whether it gets called off before the parcel leaves the hall',
      ],
      ['assistant', 'I am sorry.'],
      ['user', 'ridiculous'],
    ];
    const found = (await assigned([...others, again])).slice(others.length);
    deepEqual(new Set(found.map(({ topic }) => topic)), new Set(['Cancel order']));
  });

  it('leaves a question that names nothing with what was asked before', async () => {
    const found = await assigned([
      [
        ['user', 'Do you have the green tent in your Leeds store?'],
        ['assistant', 'I only see the stock of the warehouse.'],
        ['user', 'can you call them?'],
        ['assistant', 'They open at nine.'],
        ['user', 'Can you send me the invoice for my kettle?'],
      ],
    ]);
    const [first, , again, , other] = found.map(({ micro }) => micro);
    equal(again, first);
    notEqual(other, first);
  });

  it('counts a gap that is said again, of nothing new, as the same', async () => {
    const found = await assigned([
      [
        ['user', 'The zip of my jacket broke. How long does a repair take?'],
        ['assistant', "I don't know how long the workshop needs, sorry."],
        ['user', 'roughly? a week, a month?'],
        ['assistant', 'I really have no information on that.'],
        ['user', 'And what does a new zip cost?'],
        ['assistant', 'I have no information about prices of zips.'],
      ],
    ]);
    const [first, again, other] = found.flatMap(({ gap }) => gap ?? []);
    equal(again, first);
    notEqual(other, first);
  });

  it('leaves reactions with what was asked before', async () => {
    const found = await assigned([
      [
        ['user', 'My router loses its connection'],
        ['assistant', 'Please restart it.'],
        ['user', 'I already tried that, still not working'],
        ['user', 'ridiculous, days of waiting'],
      ],
      [['user', 'still not working']],
      [['user', 'my printer is still not working']],
    ]);
    equal(found[2]?.micro, found[0]?.micro);
    equal(found[3]?.micro, found[0]?.micro);
    equal(found[4]?.micro, null);
    notEqual(found[5]?.micro ?? null, null);
  });

  it('takes a name that was asked for as no request, and a request as one', async () => {
    const found = await assigned([
      [
        ['assistant', 'Welcome! May I have your full name?'],
        ['user', 'Marta Kowalczyk'],
      ],
      [
        ['assistant', 'Welcome! May I have your full name?'],
        ['user', 'I lost my card'],
      ],
      [
        ['assistant', 'Welcome! How can I help you?'],
        ['user', 'opening hours'],
      ],
    ]);
    equal(found[1]?.micro, null);
    notEqual(found[3]?.micro ?? null, null);
    notEqual(found[5]?.micro ?? null, null);
  });
});
