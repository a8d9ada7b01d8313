import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createEnricher } from '../../../src/reader/acts/enricher.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { enrichedTurn, Store, type EnrichedTurn } from './builders.ts';

const KINDS = {
  refund: [
    'I want a refund for my blender.',
    'Please refund the blender that I sent back.',
    'When do I get the refund for my kettle?',
    'My refund for the toaster has not arrived.',
    'How do I get a refund for a toaster?',
  ],
  password: [
    'I forgot my password.',
    'How can I reset my password?',
    'The password reset link has expired.',
    'I need a new password for my login.',
    'My password is not accepted any more.',
  ],
  delivery: [
    'Can you deliver on a Saturday?',
    'I would like to change the delivery date.',
    'Is delivery on Monday possible?',
    'Please move my delivery to another day.',
    'The delivery day does not suit me.',
  ],
} as const;
const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const DEPOTS = ['Falcon', 'Orion', 'Grey Heron', 'Birch', 'Kestrel', 'Maple', 'Cobalt'] as const;
const DEVICES = ['Pixelo 7', 'Nokira tablet', 'work computer'] as const;

/** Forty sessions of one turn, every second with the user's own sentence and that of his device. */
const TURNS = Array.from({ length: 40 }, (_, session) => {
  const kind = NAMES[session % 3]!;
  const asked = KINDS[kind][Math.floor(session / 3) % 5]!;
  const user = Math.floor(session / 2) % DEPOTS.length;
  const signature = `I run the shop floor at ${DEPOTS[user]} and type between two customers.`;
  const content =
    session % 2 === 0 ? asked : `${asked}\n${signature}\nSent from my ${DEVICES[user % DEVICES.length]}`;
  return { kind, asked, content, session: session + 1, user };
});

describe('boilerplate, with the model that ships', () => {
  let embedder: Embedder;
  let stream: EnrichedTurn[];
  before(async () => {
    embedder = await loadEmbedder({
      model: 'undertone-small',
      modelsDirectory: join(import.meta.dirname, '../../../models'),
    });
    const enriched = await createEnricher({ embedder }).enrich(
      TURNS.map(({ content }) => ({ role: 'user', content })),
    );
    stream = TURNS.map(({ content, session, user }, index) => ({
      turn: enrichedTurn(index + 1, content, { session, user }).turn,
      enrichment: enriched[index]!,
    }));
  });
  after(() => embedder.close());

  const store = (): Store => {
    const { thresholds, dimensions } = embedder;
    return new Store({ thresholds, dimensions, detectLanguage });
  };

  it('leaves requests their topics, and none to signatures', () => {
    const all = store();
    all.fold(stream);
    const topics = TURNS.map((_, index) => all.topicName(index + 1));
    // Signed requests are where the same requests without signature are, from the third signature on.
    for (const { kind } of TURNS) {
      const own = topics.filter((topic, index) => index > 5 && topic !== null && TURNS[index]!.kind === kind);
      ok(own.length >= 10, `${kind}: ${topics.join(', ')}`);
    }
    const later = TURNS.map((turn, index) => ({ ...turn, topic: topics[index] ?? null })).slice(6);
    for (const [asked, turns] of Map.groupBy(later, (turn) => turn.asked))
      equal(new Set(turns.map(({ topic }) => topic)).size, 1, asked);
    for (const [topic, turns] of Map.groupBy(later, (turn) => turn.topic))
      if (topic !== null) equal(new Set(turns.map(({ kind }) => kind)).size, 1, topic);
    for (const topic of topics)
      ok(!/shop|floor|type|customer|sent|falcon|pixelo/i.test(topic ?? ''), topics.join(', '));
  });

  it('ends in the same rows in batches of any size and with restarts', () => {
    const whole = store();
    whole.fold(stream);
    for (const size of [1, 7, 19]) {
      const parts = store();
      for (let start = 0; start < stream.length; start += size) {
        parts.fold(stream.slice(start, start + size));
        parts.restart();
      }
      deepEqual(parts.snapshot(), whole.snapshot(), `batches of ${size}`);
    }
  });
});
