import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MessageFact } from '../../../src/domain/facts.ts';
import { TextSearchReader } from '../../../src/query/text-search/text-search-reader.ts';
import {
  textSearchParameterSchemas,
  type TextSearchResponse,
} from '../../../src/query/text-search/text-search-schema.ts';
import type { ReadMessage } from '../../../src/query/session-reader.ts';
import { fold } from '../../../src/reader/document/normalise.ts';
import { openFixture, uuid, VIEWS, type Fixture } from '../../support/fold.ts';
import { SYNTHETIC_IDS, SYNTHETIC_START, SyntheticStream } from '../../support/synthetic-stream.ts';

const MESSAGES = 3000;
const DAY = 86_400e6;

/** A few messages mention the kettle, others the texts of some are gone. */
const textOf = (position: number): string =>
  position % 41 === 0 ? `My Kettle, number ${position}` : `My pot, number ${position}`;
const isGone = (position: number): boolean => position % 103 === 0;

describe('a search in what was said', () => {
  let fixture: Fixture;
  const facts: MessageFact[] = [];
  /** Positions that were read, in all. */
  let reads = 0;
  let clock = 0;
  /** What a piece of reading takes by the clock, milliseconds. */
  let pieceMs = 0;
  const texts = {
    async each(
      positions: readonly number[],
      hear: (position: number, read: ReadMessage) => void,
    ): Promise<void> {
      clock += pieceMs;
      reads += positions.length;
      // In no order.
      for (const position of positions.toReversed()) {
        const fact = byPosition.get(position);
        if (isGone(position)) hear(position, { gone: 'EXPIRED' });
        else hear(position, { message: { role: 'user', content: textOf(position), at: fact?.at ?? 0 } });
      }
    },
  };
  const byPosition = new Map<number, MessageFact>();

  before(async () => {
    fixture = await openFixture({ compactRows: 100 });
    const stream = new SyntheticStream({ messages: MESSAGES, days: 40, topics: 10 });
    for (let batch = 0; batch < 4; batch += 1) {
      const next = stream.next(MESSAGES / 4);
      facts.push(...next.messages);
      await fixture.fold(next);
      await fixture.publish();
    }
    for (const fact of facts) byPosition.set(fact.position, fact);
  });
  after(() => fixture.close());

  let listed = 60_000;
  const search = (parameters: Readonly<Record<string, string>>): Promise<TextSearchResponse> =>
    new TextSearchReader({
      views: VIEWS,
      readerOf: () => fixture.reader,
      texts,
      fold,
      now: () => clock,
      listed,
    }).read(textSearchParameterSchemas.parse({ instanceId: uuid(1, 1), said: 'kettle', ...parameters }));

  /** All pages, and what they counted together. */
  async function searchAll(
    parameters: Readonly<Record<string, string>>,
  ): Promise<{ pages: TextSearchResponse[]; found: (readonly [session: string, position: number])[] }> {
    const pages: TextSearchResponse[] = [];
    for (
      let cursor: string | null | undefined;
      cursor !== null;
      cursor = pages.at(-1)?.pagination.next ?? null
    ) {
      pages.push(await search({ ...parameters, ...(cursor === undefined ? {} : { cursor }) }));
      ok(pages.length < 1000);
    }
    const found = pages.flatMap(({ elements }) =>
      elements.map(({ dimensions, said }) => [dimensions.session?.id ?? '', said.position] as const),
    );
    return { pages, found };
  }

  /** What a look at every message finds: each session once, in the order of their newest messages. */
  function plainly(isAsked: (fact: MessageFact) => boolean = () => true): (readonly [string, number])[] {
    const sessions = Map.groupBy(facts.filter(isAsked), ({ session }) => session);
    return [...sessions]
      .map(([session, messages]) => {
        const positions = messages.map(({ position }) => position).sort((a, b) => b - a);
        const hit = positions.find((position) => !isGone(position) && textOf(position).includes('Kettle'));
        return { session, newest: positions[0] ?? 0, hit };
      })
      .sort((a, b) => b.newest - a.newest)
      .flatMap(({ session, hit }) =>
        hit === undefined ? [] : [[SYNTHETIC_IDS.session(session), hit] as const],
      );
  }

  const looked = (pages: readonly TextSearchResponse[]): number =>
    pages.reduce((sum, { searched }) => sum + searched.messages, 0);

  /** Messages behind a cursor, by a search that finds nothing and looks at all of them. */
  async function leftBehind(cursor: string): Promise<number> {
    const [ms, most] = [pieceMs, listed];
    [pieceMs, listed] = [0, 60_000];
    const { searched } = await search({ said: 'nobody says this', cursor });
    [pieceMs, listed] = [ms, most];
    return searched.messages;
  }

  it('finds each session once, whatever the pages and however often the time is over', async () => {
    const expected = plainly();
    ok(expected.length > 30);
    for (const [limit, ms, most] of [
      ['100', 0, 60_000],
      ['7', 0, 60_000],
      ['100', 2000, 60_000],
      ['3', 700, 60_000],
      // Statements that end within a session.
      ['100', 0, 37],
      ['5', 700, 150],
    ] as const) {
      [pieceMs, listed] = [ms, most];
      const { pages, found } = await searchAll({ limit });
      deepEqual(found, expected, `${limit} ${ms}`);
      ok(pages.every(({ elements }) => elements.length <= Number(limit)));
      equal(pages.at(-1)?.searched.left, 0);
      // Nothing is looked at twice, and what is left only shrinks.
      const left = pages.map(({ searched }) => searched.left);
      deepEqual(
        left,
        left.toSorted((a, b) => b - a),
      );
      // What an answer says to be left is what the next ones look at, or skip of sessions that are found.
      ok(pages.every(({ searched }, page) => searched.left >= looked(pages.slice(page + 1))));
      for (const [page, { pagination, searched }] of pages.entries())
        if (pagination.next !== null && page % 5 === 0)
          equal(searched.left, await leftBehind(pagination.next), `page ${page}`);
    }
    [pieceMs, listed] = [0, 60_000];
  });

  it('says how many texts are gone, and looks at every other message of sessions without a match', async () => {
    pieceMs = 2000;
    const { pages, found } = await searchAll({ said: 'teapot' });
    pieceMs = 0;
    deepEqual(found, []);
    const sum = (name: 'messages' | 'gone'): number =>
      pages.reduce((all, { searched }) => all + searched[name], 0);
    equal(sum('messages'), MESSAGES);
    equal(sum('gone'), facts.filter(({ position }) => isGone(position)).length);
    const [first] = pages;
    equal((first?.searched.left ?? 0) + (first?.searched.messages ?? 0), MESSAGES);
    ok(pages.length >= 3 && pages.every(({ searched }) => searched.messages > 0));
  });

  it('looks only at messages of the range, and at sessions that the filters choose', async () => {
    const [start, end] = [SYNTHETIC_START + 10.3 * DAY, SYNTHETIC_START + 21.7 * DAY];
    const instant = (at: number): string => new Date(at / 1000).toISOString();
    const range = { 'dateRange.start': instant(start), 'dateRange.end': instant(end) };
    const inRange = ({ at }: MessageFact): boolean => at >= start && at < end;
    deepEqual((await searchAll({ ...range, limit: '5' })).found, plainly(inRange));

    const topic = 3;
    const topical = new Set(facts.filter(({ micro }) => micro === topic).map(({ session }) => session));
    deepEqual(
      (await searchAll({ topicIds: SYNTHETIC_IDS.topic(topic) })).found,
      plainly(({ session }) => topical.has(session)),
    );
    const dissatisfied = await searchAll({ minDsat: '1', fields: 'dsat,messages', dimensionFields: 'title' });
    ok(dissatisfied.found.length > 0 && dissatisfied.found.length < plainly().length);
    for (const { elements } of dissatisfied.pages)
      for (const { fields, dimensions, said } of elements) {
        ok((fields.dsat ?? 0) >= 1);
        ok(dimensions.session?.title);
        equal(said.createdAt, new Date((byPosition.get(said.position)?.at ?? 0) / 1000).toISOString());
        equal(said.excerpt, `My Kettle, number ${said.position}`);
      }
  });

  it('does not move between pages when more is said meanwhile', async () => {
    const first = await search({ limit: '3' });
    const last = facts.at(-1) as MessageFact;
    // The session that would be found last says something new, which would bring it to the top.
    const [id] = plainly().at(-1) ?? [''];
    const old = facts.find(({ session }) => SYNTHETIC_IDS.session(session) === id) as MessageFact;
    const added = { ...old, position: Math.ceil((last.position + 1) / 41) * 41, at: last.at + 1 };
    const expected = plainly();
    await fixture.fold({
      ...new SyntheticStream({ messages: 1, days: 1 }).next(0),
      messages: [added],
    } as never);
    await fixture.publish();
    const found = first.elements.map(({ dimensions }) => dimensions.session?.id);
    for (let cursor = first.pagination.next; cursor !== null;) {
      const page: TextSearchResponse = await search({ limit: '3', cursor });
      found.push(...page.elements.map(({ dimensions }) => dimensions.session?.id));
      cursor = page.pagination.next;
    }
    deepEqual(
      found,
      expected.map(([session]) => session),
    );
    // Whoever begins anew sees it.
    facts.push(added);
    byPosition.set(added.position, added);
    deepEqual((await searchAll({})).found, plainly());
  });

  it('refuses what it cannot look for', async () => {
    for (const [parameters, path] of [
      [{ dimensionFields: 'gaps' }, 'dimensionFields'],
      [{ fields: 'sessions' }, 'fields'],
      [{ 'dateRange.start': '2026-01-02', 'dateRange.end': '2026-01-01' }, 'dateRange.start'],
    ] as const)
      await rejects(
        async () => search(parameters as unknown as Readonly<Record<string, string>>),
        (error: { code?: string; details?: readonly { path: string }[] }) =>
          error.code === 'VALIDATION_ERROR' && error.details?.[0]?.path === path,
        path,
      );
    for (const wrong of [
      { said: ' ' },
      { said: 'x'.repeat(201) },
      { cursor: '1.2' },
      { limit: '101' },
      { limit: '0' },
    ])
      equal(
        textSearchParameterSchemas.safeParse({ instanceId: uuid(1, 1), said: 'a', ...wrong }).success,
        false,
      );
  });

  it('answers an instance without messages', async () => {
    const none = await search({ instanceId: uuid(1, 9) });
    deepEqual(none.elements, []);
    deepEqual(none.searched, { messages: 0, gone: 0, left: 0 });
    equal(none.pagination.next, null);
    ok(reads > 0);
  });
});
