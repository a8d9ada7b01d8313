import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Assignment, Turn } from '../../../src/domain/facts.ts';
import { createEnricher } from '../../../src/reader/acts/enricher.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { sampled } from '../../support/long.ts';
import { PLANTED } from '../../support/planted-data.ts';
import { OPTIONS, enrichedTurn, Store, vectorOf, type EnrichedTurn } from './builders.ts';

/** In the long form all of them; test/reader/personal/planted.test.ts redacts each in any case. */
const PIECES = sampled(PLANTED, 3);

/** A turn of a conversation about one piece of personal data. */
type Line = Pick<Turn, 'role' | 'content'>;

/**
 * Three sessions, so that there is a topic: the piece alone and beside a request, said again by the assistant, which
 * cannot help, asked once more, and said in the farewell.
 */
function sessionsAbout(piece: string): Line[][] {
  const user = (content: string): Line => ({ role: 'user', content });
  const assistant = (content: string): Line => ({ role: 'assistant', content });
  return [
    [
      user(piece),
      assistant(`${piece}: I'm sorry, I don't have access to that.`),
      user(`${piece}. I need a refund for my blender.`),
      user(`Thanks anyway. ${piece}`),
    ],
    [
      user(`I need a refund for my blender. ${piece}`),
      assistant(`I have noted this: ${piece}. It is on its way.`),
      user(`I said I need a refund for my blender. ${piece}`),
      assistant("I'm sorry, I cannot issue refunds."),
    ],
    [user(`${piece}, so please refund my blender`), assistant('It was sent yesterday.'), user(piece)],
  ];
}

/** What readers see of a batch. */
function textsIn({ topics, clusters, gaps, repeatedRequests, sessions }: Assignment): string[] {
  return [
    ...topics.map(({ name }) => name),
    ...clusters.map(({ name }) => name),
    ...[...gaps, ...repeatedRequests].flatMap(({ name, description }) => [name, description]),
    ...sessions.flatMap(({ title, summary }) => [title ?? '', summary ?? '']),
  ];
}

describe('personal data in the analysis of conversations', () => {
  /** Words as vectors, so that 200 instances take seconds. */
  const enricher = createEnricher({
    embedder: {
      read: (texts: readonly string[]) =>
        Promise.resolve(texts.map((text) => ({ vector: vectorOf(text), isFamiliar: true }))),
    },
  });

  async function analysed(sessions: readonly Line[][], userId?: string): Promise<Store> {
    const lines = sessions.flatMap((lines, session) => lines.map((line) => ({ ...line, session })));
    const enrichments = await enricher.enrich(lines);
    const turns = lines.map(({ role, content, session }, index): EnrichedTurn => {
      const author = userId === undefined || role !== 'user' ? {} : { userId };
      const { turn } = enrichedTurn(index + 1, content, {
        role,
        session: session + 1,
        ...author,
      });
      return { turn, enrichment: enrichments[index]! };
    });
    const store = new Store({ ...OPTIONS, detectLanguage });
    // One turn a batch: what is shown in between counts, too.
    for (const turn of turns) store.fold([turn]);
    return store;
  }

  function textsOf(store: Store): string[] {
    return store.batches.flatMap(textsIn).filter((text) => text !== '');
  }

  it('shows and keeps none of it, whatever its kind', async () => {
    const leaks: string[] = [];
    let [published, gaps, repeats] = [0, 0, 0];
    for (const [piece, ...parts] of PIECES) {
      const store = await analysed(sessionsAbout(piece));
      const texts = textsOf(store);
      published += texts.length;
      gaps += store.batches.flatMap((batch) => batch.gaps).length;
      repeats += store.batches.flatMap((batch) => batch.repeatedRequests).length;
      const kept = [...store.state.values()]
        .map(({ value }) => Buffer.from(value!).toString('utf8'))
        .join('\n');
      for (const part of parts) {
        for (const text of texts)
          if (text.toLowerCase().includes(part.toLowerCase())) leaks.push(`${part}: ${text}`);
        // Shorter ones can stand among the bytes of numbers.
        if (part.length > 4 && kept.includes(part)) leaks.push(`${part} is kept`);
      }
    }
    deepEqual(leaks, []);
    ok(published > 10 * PIECES.length, `${published} texts shown`);
    ok(gaps > PIECES.length / 2 && repeats > PIECES.length / 2, `${gaps} gaps, ${repeats} repeated requests`);
  });

  it('hides the id of an end user and the names that a session has heard', async () => {
    const texts = textsOf(
      await analysed(
        [
          [
            { role: 'user', content: 'keeper of falcon77: my name is Temperance Quill' },
            { role: 'assistant', content: 'Hello Quill, falcon77 is an account that I know, Temperance.' },
            { role: 'user', content: 'falcon77 should get a refund, said Quill' },
          ],
        ],
        'falcon77',
      ),
    );
    deepEqual(
      texts.filter((text) => /falcon77|quill|temperance/i.test(text)),
      [],
    );
    ok(texts.length > 0);
  });

  it('shows no bare answer to a question for a name or a number', async () => {
    const texts = textsOf(
      await analysed([
        [
          { role: 'user', content: 'I need a refund for my blender' },
          { role: 'assistant', content: 'May I have your full name?' },
          { role: 'user', content: 'Thornbury Vex' },
          { role: 'assistant', content: 'Thank you, Thornbury Vex. I have refunded it to you today.' },
        ],
      ]),
    );
    equal(texts.filter((text) => /thornbury|vex/i.test(text)).length, 0, texts.join('\n'));
  });
});
