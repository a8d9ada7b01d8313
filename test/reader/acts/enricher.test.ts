import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Enrichment, Turn } from '../../../src/domain/facts.ts';
import type { Role } from '../../../src/domain/records.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';
import { createEnricher, ENRICHMENT_VERSION, enrichmentId } from '../../../src/reader/acts/enricher.ts';
import { loadHeads } from '../../../src/reader/acts/heads.ts';

function turn(content: string, role: Role = 'user', position = 0): Turn {
  return {
    position,
    instance: 1,
    instanceId: '0190a000-0000-7000-8000-000000000001',
    session: 1,
    sessionId: '0190a000-0000-7000-8000-000000000002',
    role,
    user: null,
    content,
    at: 0,
  };
}

const TURNS: readonly Turn[] = [
  turn('I want to cancel my booking'),
  turn("I'm sorry, I can't cancel bookings.", 'assistant'),
  turn('That is not what I asked! I want to cancel my booking'),
  turn('thanks'),
  turn('You are welcome', 'assistant'),
  turn('internal note: escalate', 'other'),
  turn('wo ist meine bestellung'),
  turn(''),
  turn('🙂🙂'),
  turn('\ud800 \u0000 ' + 'x '.repeat(40_000)),
  ...Array.from({ length: 80 }, (_, i) =>
    turn(`how do I change item ${'very '.repeat(i % 9)}number ${i % 7} of my order`),
  ),
];

describe('the enricher', () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await loadEmbedder({
      model: 'undertone-small',
      modelsDirectory: resolve(import.meta.dirname, '../../../models'),
    });
  });
  after(() => embedder.close());

  const plain = (found: readonly Enrichment[]): unknown[] =>
    found.map((one) => ({ ...one, vector: one.vector === null ? null : [...one.vector] }));

  it('finds the same of a turn in any batch, with or without cached vectors', async () => {
    const whole = plain(await createEnricher({ embedder }).enrich(TURNS));
    for (const cached of [0, 3, 4096]) {
      const enricher = createEnricher({ embedder, cached });
      for (const size of [1, 7, 32]) {
        const found: Enrichment[] = [];
        for (let i = 0; i < TURNS.length; i += size)
          found.push(...(await enricher.enrich(TURNS.slice(i, i + size))));
        deepEqual(plain(found), whole, `batches of ${size}, ${cached} cached`);
      }
    }
  });

  it('keeps to what the facts promise of each kind', async () => {
    const found = await createEnricher({ embedder }).enrich(TURNS);
    equal(found.length, TURNS.length);
    found.forEach((one, i) => {
      const role = TURNS[i]?.role;
      equal(one.kind === 'none', role !== 'user');
      equal(one.request !== '', one.kind === 'request');
      equal(one.vector !== null, one.kind === 'request');
      if (one.vector !== null) ok(Math.abs(one.vector.reduce((sum, x) => sum + x * x, 0) - 1) < 1e-4);
      if (role !== 'user') deepEqual(one.signals, []);
      if (role !== 'assistant') equal(one.gap, null);
      ok(!one.signals.some(({ key }) => key === 'repetition'));
    });
    deepEqual(
      found
        .slice(0, 4)
        .map(({ kind, gap, signals }) => [kind, gap?.type ?? null, signals.map(({ key }) => key)]),
      [
        ['request', null, []],
        ['none', 'TOOL', []],
        ['request', null, ['correction']],
        ['reply', null, ['gratitude']],
      ],
    );
    equal(found[6]?.kind, 'request');
  });

  it('takes a satisfied remark of a word for a reply, and what asks for something for a request', async () => {
    const kinds = async (content: string): Promise<string | undefined> =>
      (
        await createEnricher({
          embedder: {
            read: (texts) =>
              Promise.resolve(texts.map(() => ({ vector: new Float32Array([1]), isFamiliar: true }))),
          },
        }).enrich([{ role: 'user', content }])
      )[0]?.kind;
    equal(await kinds('Found it. Cheers'), 'reply');
    equal(await kinds('Great service, thank you!'), 'reply');
    equal(await kinds('Perfect, invoice please'), 'request');
    equal(await kinds('Thanks! Where is my parcel?'), 'request');
    equal(await kinds('Thanks, now cancel my second order'), 'request');
  });

  it('marks a request of unknown words, unless the lexicon hears what is to be done with what', async () => {
    const found = await createEnricher({ embedder }).enrich(
      [
        'დამავიწყდა პაროლი',
        'Unohdin salasanani',
        'لم يصلني شيء حتى الآن',
        'أريد إلغاء طلبي',
        'wo ist meine bestellung',
      ].map((content) => turn(content)),
    );
    deepEqual(
      found.map(({ kind, isUnfamiliar = false }) => [kind, isUnfamiliar]),
      [true, true, true, false, false].map((unfamiliar) => ['request', unfamiliar]),
    );
    ok(found.every(({ vector }) => vector !== null));
  });

  it('embeds equal requests once, in one call a batch', async () => {
    const calls: number[] = [];
    const counting = {
      read: (texts: readonly string[]) => {
        calls.push(texts.length);
        return embedder.read(texts);
      },
    };
    await createEnricher({ embedder: counting, cached: 0 }).enrich([
      turn('cancel my order'),
      turn('hi, cancel my order'),
      turn('refund my order'),
    ]);
    deepEqual(calls, [2]);
  });
});

describe('enrichmentId', () => {
  it('names the version and the head, and changes with it', () => {
    const heads = loadHeads();
    const id = enrichmentId(heads);
    match(id, new RegExp(`^${ENRICHMENT_VERSION}-[0-9a-f]{16}$`));
    equal(enrichmentId(loadHeads()), id);
    notEqual(enrichmentId({ gap: { ...heads.gap, digest: '0'.repeat(64) } }), id);
  });
});
