/**
 * POST /v1/curations, POST /v1/topics, POST /v1/checks and what lists them: what people decide, from the request to
 * what queries show.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { KeyScope } from '../../src/domain/key-scopes.ts';
import { curatedSchema, labelAnswerSchema, newTopicAnswerSchema } from '../../src/contract/steering.ts';
import { keySchema } from '../../src/contract/instances.ts';
import {
  curationsResponseSchema,
  type CurationsResponse,
} from '../../src/query/curations/curations-schema.ts';
import { checksResponseSchema, type ChecksResponse } from '../../src/query/checks/checks-schema.ts';
import { whyResponseSchema, type WhyResponse } from '../../src/query/why/why-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Answer, type Parameters } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  DONE,
  fill,
  PASSWORD,
  THANKS,
  user,
  type Message,
} from '../support/conversations.ts';
import { curlRequest, fencedBlocks, shellCommands } from '../support/readme.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;
let stranger: Client;
before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  stranger = new Client(service.url, (await service.newProject()).key);
});
after(() => service?.stop());

const ARTICLES = 'You can find all our articles in the help center.';

/** A conversation in which the assistant answers again what it was asked again. */
const repeating = (hour: number): Message[] => [
  user('How do I export my data?', `2026-03-03T1${hour}:00:00Z`),
  assistant(ARTICLES, `2026-03-03T1${hour}:01:00Z`),
  user('How do I export my data, please?', `2026-03-03T1${hour}:02:00Z`),
  assistant(ARTICLES, `2026-03-03T1${hour}:03:00Z`),
  user('And how do I import it?', `2026-03-03T1${hour}:04:00Z`),
];

/** The listed signals by name. */
async function signalsOf(
  instanceId: string,
  parameters: Parameters = {},
): Promise<Record<string, { id: string; sessions: number }>> {
  const rows = await client.rows({ instanceId, groupBy: 'CSAT_DSAT', fields: 'sessions', ...parameters });
  return Object.fromEntries(
    rows.map(({ dimensions: { csatDsatSignal: signal }, fields }) => [
      signal?.name ?? '',
      { id: signal?.id ?? '', sessions: fields.sessions ?? 0 },
    ]),
  );
}

/** An instance with two topics of three requests each, and a gap. */
class Shop {
  readonly instanceId: string;
  /** Of the newest thing that was sent. */
  position: number;
  cancel = '';
  password = '';
  cluster = '';
  gap = '';

  constructor(instanceId: string, position: number) {
    this.instanceId = instanceId;
    this.position = position;
  }

  static async open(): Promise<Shop> {
    const day = '2026-03-03T10:0';
    const conversations = [0, 1, 2].flatMap((index) => [
      [user(CANCEL[index] ?? '', `${day}0:00Z`), assistant(CANNOT, `${day}1:00Z`)],
      [user(PASSWORD[index] ?? '', `${day}0:00Z`)],
    ]);
    const { instanceId, sessions, position } = await fill(client, conversations);
    const shop = new Shop(instanceId, position);
    await shop.reached();
    const found = await Promise.all(
      [0, 1].map((index) => client.session(sessions[index] ?? '', { instanceId })),
    );
    [shop.cancel = '', shop.password = ''] = found.map(({ messages }) => messages[0]?.topic?.id ?? '');
    shop.gap = found[0]?.messages[1]?.gap?.id ?? '';
    shop.cluster = (await shop.why('topics', shop.cancel)).topic?.clusterId ?? '';
    ok([shop.cancel, shop.password, shop.gap, shop.cluster].every((id) => id !== ''));
    return shop;
  }

  /** Waits until what was sent is processed: a busy machine may need more than one wait. */
  async reached(): Promise<void> {
    const { instanceId, position } = this;
    const query = { instanceId, groupBy: 'GAP', fields: 'messages' };
    for (let waits = 0; waits < 12; waits += 1) {
      const { headers } = await client.get(query, { 'x-wait-for-position': String(position) });
      if (headers.get('x-wait-result') === 'reached') return;
    }
    throw new Error(`position ${position} was not reached within a minute`);
  }

  /** Sends a body, as it is beside the instance; what is taken is processed afterwards. */
  async send(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const answer = await client.send(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-wait-for-position': String(this.position),
        ...headers,
      },
      body: JSON.stringify({ instanceId: this.instanceId, ...body }),
    });
    if (answer.status === 201) {
      this.position = Number(answer.headers.get('x-stream-position'));
      await this.reached();
    }
    return answer;
  }

  curate(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('/v1/curations', body, headers);
  }

  /** Curates what must be taken; its id, and that of a new cluster. */
  async curated(body: object): Promise<{ curationId: string; topicClusterId?: string | undefined }> {
    const answer = await this.curate(body);
    equal(answer.status, 201, JSON.stringify(answer.body));
    return curatedSchema.parse(answer.body);
  }

  async refused(body: object, status: number, code: string): Promise<string> {
    return faultOf(await this.curate(body), status, code).message;
  }

  async get(path: string, parameters: Parameters = {}): Promise<unknown> {
    const search = toSearch({ instanceId: this.instanceId, ...parameters });
    const { status, body } = await client.send(`${path}?${search}`);
    equal(status, 200, JSON.stringify(body));
    return body;
  }

  async why(path: 'topics' | 'topic-clusters' | 'gaps', id: string): Promise<WhyResponse> {
    return whyResponseSchema.parse(await this.get(`/v1/${path}/${id}`));
  }

  async list(parameters: Parameters = {}): Promise<CurationsResponse> {
    return curationsResponseSchema.parse(await this.get('/v1/curations', parameters));
  }

  async checks(parameters: Parameters = {}): Promise<ChecksResponse> {
    return checksResponseSchema.parse(await this.get('/v1/checks', { of: 'TOPIC', ...parameters }));
  }

  /** A verdict that must be taken; its id. */
  async check(id: string, sessionId: string, verdict: string): Promise<string> {
    const answer = await this.send('/v1/checks', { of: 'TOPIC', id, sessionId, verdict });
    equal(answer.status, 201, JSON.stringify(answer.body));
    return curatedSchema.parse(answer.body).curationId;
  }

  /** Messages of each topic, by its name. */
  async topics(): Promise<Record<string, number>> {
    const { instanceId } = this;
    const rows = await client.rows({ instanceId, groupBy: 'TOPIC', fields: 'messages' });
    return Object.fromEntries(
      rows.map(({ dimensions, fields }) => [dimensions.topic?.name ?? '', fields.messages ?? 0]),
    );
  }
}

function digest(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

describe('what people check', { concurrency: 10 }, () => {
  it('draws as many found sessions as others, shuffled, in an order that anybody can make again', async () => {
    const shop = await Shop.open();
    const id = shop.cancel;
    const { sample, found, notFound, share, foundShare } = await shop.checks({ id });
    deepEqual([found.sessions, notFound.sessions, foundShare, share], [3, 3, 0.5, null]);
    const shuffled = sample.toSorted((a, b) => (digest(a.sessionId) < digest(b.sessionId) ? -1 : 1));
    deepEqual(
      sample.map((one) => one.found),
      shuffled.map((one) => one.found),
    );
    const placeOf = (sessionId: string): string => digest(`${id} ${sessionId}`);
    for (const stratum of [true, false]) {
      const drawn = sample.filter((one) => one.found === stratum).map(({ sessionId }) => sessionId);
      deepEqual(
        drawn,
        drawn.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
      );
    }
    deepEqual((await shop.checks({ id, limit: '2' })).sample, sample.slice(0, 2));
    equal((await shop.checks({ id, 'dateRange.end': '2026-03-03' })).foundShare, null);
  });

  it('estimates from the latest verdicts, moves no number, and is undone', async () => {
    const shop = await Shop.open();
    const id = shop.cancel;
    const topics = await shop.topics();
    const { sample } = await shop.checks({ id });
    const [found, others] = [true, false].map((stratum) =>
      sample.filter((one) => one.found === stratum).map(({ sessionId }) => sessionId),
    ) as [string[], string[]];
    await shop.check(id, found[0]!, 'NO');
    await shop.check(id, found[0]!, 'YES');
    await shop.check(id, found[1]!, 'UNSURE');
    await shop.check(id, others[0]!, 'NO');
    const one = await shop.checks({ id });
    deepEqual(
      { ...one.found, share: one.found.share?.share },
      { sessions: 3, yes: 1, no: 0, unsure: 1, share: 1 },
    );
    ok(one.share !== null && one.share.low < 0.5 && one.share.high > 0.5);
    equal(one.uncounted, 0);
    // Of another range, nobody said anything.
    equal((await shop.checks({ id, 'dateRange.end': '2026-03-03' })).uncounted, 3);
    deepEqual(
      one.sample.map(({ sessionId }) => sessionId).toSorted(),
      [found[2]!, ...others.slice(1)].toSorted(),
    );
    // Whoever has read all knows: one found session is not about it, and one other is.
    await shop.check(id, found[1]!, 'NO');
    await shop.check(id, found[2]!, 'YES');
    await shop.check(id, others[1]!, 'YES');
    const last = await shop.check(id, others[2]!, 'NO');
    const { share, recall, sample: rest } = await shop.checks({ id });
    deepEqual([share, recall, rest], [{ share: 0.5, low: 0.5, high: 0.5 }, 2 / 3, []]);
    const doubted = await shop.checks({ id, reviewerError: '0.05' });
    ok(doubted.share !== null && doubted.share.low < 0.5 && doubted.share.high > 0.5);
    deepEqual(await shop.topics(), topics);
    const { checked } = await shop.why('topics', id);
    deepEqual([checked?.share, checked?.recall, checked?.found.yes], [share, recall, 2]);
    equal((await shop.why('topics', shop.password)).checked, null);
    const sure = {
      groupBy: 'TOPIC',
      fields: 'sessions',
      dimensionFields: 'checkedSessions,precisionLow,precisionHigh',
    };
    const rows = await client.rows({ instanceId: shop.instanceId, ...sure });
    const sureOf = (topic: string) =>
      rows.find(({ dimensions }) => dimensions.topic?.id === topic)?.dimensions.topic;
    equal(sureOf(id)?.checkedSessions, 3);
    deepEqual(
      [sureOf(id)?.precisionLow, sureOf(id)?.precisionHigh],
      [checked?.found.share?.low, checked?.found.share?.high],
    );
    equal(sureOf(shop.password)?.checkedSessions, 0);
    equal(sureOf(shop.password)?.precisionLow, null);
    const search = toSearch({ instanceId: shop.instanceId, ...sure });
    const headers = { 'x-api-key': project.key, accept: 'text/csv' };
    const csv = await (await fetch(`${service.url}/v1/query?${search}`, { headers })).text();
    match(csv, /^id,name,clusterId,checkedSessions,precisionLow,precisionHigh,sessions\r\n/);
    match(csv, /,3,0\.6666\d+,0\.6666\d+,3\r\n/);
    // The list of decisions holds no verdicts, but may take one back.
    deepEqual((await shop.list()).elements, []);
    await shop.curated({ action: 'UNDO', curationId: last });
    equal((await shop.checks({ id })).notFound.no, 1);
    deepEqual((await shop.list()).elements, []);
  });

  it('counts verdicts in the drawn order alone, and none on what merged later', async () => {
    const shop = await Shop.open();
    const id = shop.cancel;
    const { sample } = await shop.checks({ id });
    const [first, second] = sample.filter(({ found }) => found).map(({ sessionId }) => sessionId);
    // Whoever skips one has chosen the other.
    await shop.check(id, second!, 'NO');
    deepEqual((await shop.checks({ id })).found.share, null);
    await shop.check(id, first!, 'YES');
    deepEqual((await shop.checks({ id })).found.share?.share, 0.5);
    await shop.curated({ action: 'MERGE', topicId: shop.cancel, intoTopicId: shop.password });
    const merged = await shop.checks({ id });
    deepEqual([merged.checked.id, merged.found.sessions], [shop.password, 6]);
    deepEqual([merged.found.yes, merged.found.no], [0, 0]);
  });

  it('estimates a segment from those of it in the same order, and leaves out what the instance does', async () => {
    const shop = await Shop.open();
    const id = shop.cancel;
    const { instanceId } = shop;
    const [test, next, last] = (await shop.checks({ id })).sample.filter(({ found }) => found);
    await shop.check(id, next!.sessionId, 'YES');
    const { position } = await client.ingest({
      instanceId,
      sessionId: test!.sessionId,
      messages: [user(THANKS, '2026-03-03T10:02:00Z')],
      metadata: { session: { environment: 'test' } },
    });
    shop.position = position;
    await shop.reached();
    const countsOf = ({ found, notFound, uncounted }: ChecksResponse): unknown => [
      [found.sessions, found.yes, notFound.sessions, uncounted],
      found.share?.share ?? null,
    ];
    // Of all, the first drawn one has no verdict.
    const all = [[3, 0, 3, 1], null];
    const without = [[2, 1, 3, 0], 1];
    deepEqual(countsOf(await shop.checks({ id })), all);
    deepEqual(countsOf(await shop.checks({ id, 'segment.environment!': 'test' })), without);
    deepEqual(countsOf(await shop.checks({ id, 'segment.environment': 'test' })), [[1, 0, 0, 1], null]);
    const unknown = toSearch({ instanceId, of: 'TOPIC', id, 'segment.plan': 'pro' });
    faultOf(await client.send(`/v1/checks?${unknown}`), 400, 'VALIDATION_ERROR');
    const changed = await client.send(`/v1/instances/${instanceId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leaveOut: { environment: ['test'] } }),
    });
    equal(changed.status, 200, JSON.stringify(changed.body));
    const own = await shop.checks({ id });
    deepEqual(countsOf(own), without);
    deepEqual(
      own.sample.filter(({ found }) => found).map(({ sessionId }) => sessionId),
      [last!.sessionId],
    );
    deepEqual(countsOf(await shop.checks({ id, 'segment.environment!': '' })), all);
    // What stands beside numbers is of the sessions that they count.
    equal((await shop.why('topics', id)).checked?.found.yes, 1);
    const rows = { instanceId, groupBy: 'TOPIC', fields: 'sessions', dimensionFields: 'checkedSessions' };
    const checkedIn = async (more: Parameters): Promise<unknown> =>
      (await client.rows({ ...rows, ...more })).find(({ dimensions }) => dimensions.topic?.id === id)
        ?.dimensions.topic?.checkedSessions;
    deepEqual([await checkedIn({}), await checkedIn({ 'segment.environment!': '' })], [1, 0]);
  });

  it('is no surer once somebody corrects what was found wrong', async () => {
    const shop = await Shop.open();
    const questions = [
      { of: 'GAP', id: shop.gap },
      { of: 'GAP_TYPE', id: 'TOOL' },
      { of: 'OUTCOME', id: 'not_possible' },
    ];
    const [wrong, , , other] = (await shop.checks(questions[0]!)).sample.toSorted(
      (x, y) => Number(y.found) - Number(x.found),
    );
    for (const question of questions)
      for (const { sessionId, found } of (await shop.checks(question)).sample) {
        const verdict = found && sessionId !== wrong!.sessionId ? 'YES' : 'NO';
        equal((await shop.send('/v1/checks', { ...question, sessionId, verdict })).status, 201);
      }
    const estimates = async (): Promise<unknown[]> =>
      Promise.all(
        questions.map(async (question) => {
          const { found, notFound, share, recall, foundShare } = await shop.checks(question);
          return { found, notFound, share, recall, foundShare };
        }),
      );
    const before = await estimates();
    const corrected = (foundShare: number): unknown[] =>
      before.map((one) => ({ ...(one as object), foundShare }));
    deepEqual(before, corrected(0.5));
    const lastOf = async (sessionId: string): Promise<number> =>
      (await client.session(sessionId, { instanceId: shop.instanceId })).messages.at(-1)!.position;
    const position = await lastOf(wrong!.sessionId);
    const made = [
      await shop.curated({ action: 'EXCLUDE', gapId: shop.gap, position }),
      await shop.curated({ action: 'ASSIGN', sessionId: wrong!.sessionId, outcome: 'open' }),
    ];
    deepEqual(await estimates(), corrected(1 / 3));
    // What a person put in was missed.
    made.push(
      await shop.curated({ action: 'ASSIGN', gapId: shop.gap, position: await lastOf(other!.sessionId) }),
      await shop.curated({ action: 'ASSIGN', sessionId: other!.sessionId, outcome: 'not_possible' }),
    );
    deepEqual(await estimates(), corrected(0.5));
    for (const { curationId } of made) await shop.curated({ action: 'UNDO', curationId });
    deepEqual(await estimates(), before);
  });

  it('checks how sessions ended, and types of gaps', async () => {
    const shop = await Shop.open();
    const { instanceId } = shop;
    const all = await client.rows({
      instanceId,
      groupBy: 'SESSION',
      fields: 'messages',
      dimensionFields: 'outcome',
    });
    const outcomes = all.map(({ dimensions }) => dimensions.session?.outcome ?? '');
    for (const outcome of ['not_possible', 'open', 'solved']) {
      const { checked, found, notFound, sample } = await shop.checks({ of: 'OUTCOME', id: outcome });
      equal(checked.id, outcome);
      equal(found.sessions, outcomes.filter((one) => one === outcome).length);
      equal(found.sessions + notFound.sessions, all.length);
      const place = ({ sessionId }: { sessionId: string }): string =>
        createHash('md5').update(`${outcome} ${sessionId}`).digest('hex');
      const others = sample.filter((one) => !one.found).map(place);
      deepEqual(others, others.toSorted());
    }
    const tool = await shop.checks({ of: 'GAP_TYPE', id: 'TOOL' });
    deepEqual([tool.checked.name, tool.found.sessions], ['Missing ability', 3]);
    const { sessionId } = tool.sample.find(({ found }) => found)!;
    const said = { of: 'GAP_TYPE', id: 'TOOL', sessionId, verdict: 'NO' };
    equal((await shop.send('/v1/checks', said)).status, 201);
    deepEqual((await shop.checks({ of: 'GAP_TYPE', id: 'TOOL' })).found.no, 1);
    deepEqual((await shop.checks({ of: 'GAP_TYPE', id: 'KNOWLEDGE' })).found.sessions, 0);
    const fault = faultOf(await shop.send('/v1/checks', { ...said, of: 'OUTCOME' }), 400, 'VALIDATION_ERROR');
    match(fault.details?.[0]?.message ?? fault.message, /must be one of solved, thanked/);
  });

  it("lists what the assistant did wrong once people have checked it, and counts it as nobody's dissatisfaction", async () => {
    const { instanceId, sessions, position } = await fill(client, [0, 1].map(repeating));
    const shop = new Shop(instanceId, position);
    await shop.reached();
    const listed = (parameters: Parameters = {}) => signalsOf(instanceId, parameters);
    const name = 'Kept repeating itself';
    const observed = await listed({ signalSource: 'OBSERVED' });
    deepEqual(Object.keys(observed), [name]);
    const { id, sessions: found } = observed[name]!;
    equal(found, 2);
    const before = await listed();
    equal(name in before, false);
    const [all] = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'dsat', 'sort.field': 'dsat' });
    // Asking again is dissatisfaction that was inferred; the answer that comes again is none.
    equal(all?.fields.dsat, 1);
    const ended = { instanceId, groupBy: 'CSAT_DSAT', fields: 'droppedOff', signalSource: 'OBSERVED' };
    equal((await client.rows(ended))[0]?.fields.droppedOff, 2);
    const check = async (sessionId: string, verdict: string): Promise<void> => {
      const answer = await shop.send('/v1/checks', { of: 'SIGNAL', id, sessionId, verdict });
      equal(answer.status, 201, JSON.stringify(answer.body));
    };
    await check(sessions[0] ?? '', 'YES');
    await check(sessions[1] ?? '', 'NO');
    equal(name in (await listed()), false);
    await check(sessions[1] ?? '', 'YES');
    deepEqual(await listed(), { ...before, [name]: { id, sessions: 2 } });
    await check(sessions[0] ?? '', 'NO');
    deepEqual(await listed(), before);
  });

  it('shows what is right in the conversations that the instance does not leave out', async () => {
    const { instanceId, position } = await fill(client, [0, 1, 2].map(repeating));
    const shop = new Shop(instanceId, position);
    await shop.reached();
    const name = 'Kept repeating itself';
    const { id = '' } = (await signalsOf(instanceId, { signalSource: 'OBSERVED' }))[name] ?? {};
    const sampleOf = async (): Promise<string[]> => {
      const parameters = toSearch({ instanceId, of: 'SIGNAL', id });
      const { body } = await client.send(`/v1/checks?${parameters}`);
      return checksResponseSchema.parse(body).sample.map(({ sessionId }) => sessionId);
    };
    const [test = ''] = await sampleOf();
    const told = await client.ingest({
      instanceId,
      sessionId: test,
      messages: [user(THANKS, '2026-03-03T20:00:00Z')],
      metadata: { session: { environment: 'test' } },
    });
    shop.position = told.position;
    await shop.reached();
    const changed = await client.send(`/v1/instances/${instanceId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leaveOut: { environment: ['test'] } }),
    });
    equal(changed.status, 200, JSON.stringify(changed.body));
    for (const sessionId of await sampleOf()) {
      const answer = await shop.send('/v1/checks', { of: 'SIGNAL', id, sessionId, verdict: 'YES' });
      equal(answer.status, 201, JSON.stringify(answer.body));
    }
    deepEqual((await signalsOf(instanceId))[name], { id, sessions: 2 });
    equal(name in (await signalsOf(instanceId, { 'segment.environment!': '' })), false);
  });

  it('goes on listing what was right in 20 conversations while others come in among them', async () => {
    const name = 'Kept repeating itself';
    const many = (count: number) => Array.from({ length: count }, (_, at) => repeating(at % 10));
    const { instanceId, position } = await fill(client, many(21));
    const shop = new Shop(instanceId, position);
    await shop.reached();
    const { id = '' } = (await signalsOf(instanceId, { signalSource: 'OBSERVED' }))[name] ?? {};
    const { body } = await client.send(`/v1/checks?${toSearch({ instanceId, of: 'SIGNAL', id, limit: 20 })}`);
    for (const { sessionId } of checksResponseSchema.parse(body).sample) {
      const said = { instanceId, of: 'SIGNAL', id, sessionId, verdict: 'YES' };
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(said) };
      const answer = await client.send('/v1/checks', request);
      equal(answer.status, 201, JSON.stringify(answer.body));
      shop.position = Number(answer.headers.get('x-stream-position'));
    }
    await shop.reached();
    deepEqual((await signalsOf(instanceId))[name], { id, sessions: 21 });
    for (const messages of many(21)) shop.position = (await client.ingest({ instanceId, messages })).position;
    await shop.reached();
    deepEqual((await signalsOf(instanceId))[name], { id, sessions: 42 });
  });

  it('refuses what does not exist, and says which', async () => {
    const shop = await Shop.open();
    const [{ sessionId } = { sessionId: '' }] = (await shop.checks({ id: shop.cancel })).sample;
    const unknown = randomUUID();
    const faults = [
      [{ of: 'TOPIC', id: unknown, sessionId, verdict: 'YES' }, 404, 'NOT_FOUND', /no topic/],
      [{ of: 'TOPIC', id: shop.cancel, sessionId: unknown, verdict: 'YES' }, 404, 'NOT_FOUND', /no session/],
      [{ of: 'USER', id: unknown, sessionId, verdict: 'YES' }, 400, 'VALIDATION_ERROR', /TOPIC, SIGNAL/],
      [{ of: 'GAP', id: shop.cancel, sessionId, verdict: 'NO' }, 404, 'NOT_FOUND', /no gap/],
    ] as const;
    for (const [body, status, code, words] of faults)
      match(faultOf(await shop.send('/v1/checks', body), status, code).message, words);
    const search = toSearch({ instanceId: shop.instanceId, of: 'SIGNAL', id: unknown });
    match(faultOf(await client.send(`/v1/checks?${search}`), 404, 'NOT_FOUND').message, /no signal/);
  });
});

describe('what people decide', { concurrency: 10 }, () => {
  it('keeps a found topic as an own one of its name, with all that it had, and is undone', async () => {
    const shop = await Shop.open();
    const before = await shop.topics();
    const { topic, fields, wordings } = await shop.why('topics', shop.cancel);
    const examples = wordings.typical.map(({ text }) => text);
    const body = { name: topic?.name, examples, fromBeginning: true };
    faultOf(await shop.send('/v1/topics', body), 409, 'CONFLICT');
    const answer = await shop.send('/v1/topics', { ...body, fromTopicId: shop.cancel });
    const { topicId, curationId } = newTopicAnswerSchema.parse(answer.body);
    const own = await shop.why('topics', topicId);
    deepEqual([own.topic?.isOwn, own.topic?.name, own.fields.messages], [true, topic?.name, fields.messages]);
    equal((await shop.why('topics', shop.cancel)).heir?.id, topicId);
    deepEqual(await shop.topics(), before);
    const [listed] = (await shop.list()).elements;
    deepEqual([listed?.action, listed?.details.fromTopic?.id], ['CREATE', shop.cancel]);
    // What a person made is kept already.
    const again = await shop.send('/v1/topics', { ...body, name: 'Other', fromTopicId: topicId });
    match(faultOf(again, 409, 'CONFLICT').message, /made by a person already/);
    faultOf(await shop.send('/v1/topics', { ...body, fromTopicId: randomUUID() }), 404, 'NOT_FOUND');
    await shop.curated({ action: 'UNDO', curationId });
    deepEqual(await shop.topics(), before);
    equal((await shop.why('topics', shop.cancel)).topic?.isOwn, false);
  });

  it('corrects how a session ended, in every count, and is undone', async () => {
    const shop = await Shop.open();
    const { instanceId } = shop;
    const endings = async (outcome: string): Promise<(string | undefined)[]> =>
      (
        await client.rows({
          instanceId,
          groupBy: 'SESSION',
          fields: 'messages',
          dimensionFields: 'outcome',
          outcome,
        })
      ).map(({ dimensions }) => dimensions.session?.id);
    const counted = async (outcome: string): Promise<number> => {
      const search = toSearch({ instanceId });
      const { body } = await client.send(`/v1/overview?${search}`);
      const { outcomes } = body as { outcomes: { outcome: string | null; sessions: number }[] };
      return outcomes.find((one) => one.outcome === outcome)?.sessions ?? 0;
    };
    const [sessionId = ''] = (await endings('solved,open,not_possible,thanked')).filter(
      (id) => id !== undefined,
    );
    deepEqual(await endings('handed_over'), []);
    const said = { action: 'ASSIGN', sessionId, outcome: 'handed_over' };
    const { curationId } = await shop.curated(said);
    deepEqual(await endings('handed_over'), [sessionId]);
    equal(await counted('handed_over'), 1);
    equal((await shop.checks({ of: 'OUTCOME', id: 'handed_over' })).foundShare, 1 / 6);
    const { body } = await client.send(`/v1/sessions/${sessionId}?${toSearch({ instanceId })}`);
    const { session } = body as { session: { outcome: string; title: string } };
    equal(session.outcome, 'handed_over');
    const [listed] = (await shop.list()).elements;
    deepEqual(
      [listed?.target, listed?.details],
      [{ type: 'SESSION', id: sessionId, name: session.title }, { outcome: 'handed_over' }],
    );
    const unknown = { ...said, sessionId: randomUUID() };
    match(faultOf(await shop.send('/v1/curations', unknown), 404, 'NOT_FOUND').message, /no session/);
    await shop.curated({ action: 'UNDO', curationId });
    deepEqual([await endings('handed_over'), await counted('handed_over')], [[], 0]);
  });

  it('corrects the topic of a message and of what says the same, and is undone', async () => {
    const shop = await Shop.open();
    const before = await shop.topics();
    const { wordings } = await shop.why('topics', shop.cancel);
    const text = wordings.typical[0]!.text;
    const total = (topics: Record<string, number>): number =>
      Object.values(topics).reduce((sum, messages) => sum + messages, 0);
    const out = await shop.curated({ action: 'EXCLUDE', topicId: shop.cancel, text });
    const without = await shop.topics();
    ok(total(without) < total(before));
    const to = await shop.curated({ action: 'ASSIGN', topicId: shop.password, text });
    const moved = await shop.topics();
    equal(total(moved), total(before));
    const password = (await shop.why('topics', shop.password)).topic?.name ?? '';
    equal((moved[password] ?? 0) - (before[password] ?? 0), total(before) - total(without));
    const [listed] = (await shop.list()).elements;
    // What somebody wrote stands in the stream alone.
    deepEqual([listed?.action, listed?.target.name, listed?.details], ['ASSIGN', password, {}]);
    const thanks = { action: 'EXCLUDE', topicId: shop.cancel, text: THANKS };
    await shop.curated(thanks);
    equal((await shop.list()).elements[0]?.reason?.code, 'NO_REQUEST');
    await shop.curated({ action: 'UNDO', curationId: to.curationId });
    deepEqual(await shop.topics(), without);
    await shop.curated({ action: 'UNDO', curationId: out.curationId });
    deepEqual(await shop.topics(), before);
    const unknown = { action: 'ASSIGN', topicId: randomUUID(), text };
    match(await shop.refused(unknown, 404, 'NOT_FOUND'), /no topic/);
  });

  it('corrects what a single message shows, in every count, and is undone', async () => {
    const shop = await Shop.open();
    const { instanceId } = shop;
    const gap = await shop.why('gaps', shop.gap);
    const { sessionId, position } = gap.wordings.newest[0]!;
    const { messages } = await client.session(sessionId, { instanceId });
    const admits = messages.find((message) => message.gap !== null)!;
    ok(admits.position >= position - 1);
    const count = async (): Promise<number> => (await shop.why('gaps', shop.gap)).fields.messages ?? 0;
    const before = await count();
    const body = { action: 'EXCLUDE', gapId: shop.gap, position: admits.position };
    const { curationId } = await shop.curated(body);
    const shown = async () =>
      (await client.session(sessionId, { instanceId })).messages.find(
        ({ position: at }) => at === admits.position,
      );
    deepEqual([(await shown())?.gap, await count()], [null, before - 1]);
    const [listed] = (await shop.list()).elements;
    deepEqual(
      [listed?.target.type, listed?.target.name, listed?.details],
      ['GAP', gap.gap?.name, { position: admits.position }],
    );
    await shop.curated({ action: 'UNDO', curationId });
    deepEqual([(await shown())?.gap?.id, await count()], [shop.gap, before]);
    match(await shop.refused({ ...body, position: 0 }, 404, 'NOT_FOUND'), /no message at position 0/);
    match(await shop.refused({ ...body, gapId: randomUUID() }, 404, 'NOT_FOUND'), /no gap/);
  });

  it('corrects a signal of a message, which counts in its session, too', async () => {
    const thanked = [
      user(CANCEL[0], '2026-03-03T10:00:00Z'),
      assistant(DONE, '2026-03-03T10:01:00Z'),
      user(THANKS, '2026-03-03T10:02:00Z'),
    ];
    const { instanceId, sessions, position } = await fill(client, [thanked]);
    const shop = new Shop(instanceId, position);
    await shop.reached();
    const [sessionId = ''] = sessions;
    const { messages } = await client.session(sessionId, { instanceId });
    const [signal] = messages[2]!.signals;
    const counts = async () => {
      const query = { instanceId, groupBy: 'SESSION', fields: 'sat,dsat', ids: sessionId };
      return (await client.rows(query))[0]?.fields;
    };
    deepEqual(await counts(), { sat: 1, dsat: 0 });
    const body = { signalId: signal!.id };
    const out = await shop.curated({ ...body, action: 'EXCLUDE', position: messages[2]!.position });
    deepEqual(await counts(), { sat: 0, dsat: 0 });
    await shop.curated({ ...body, action: 'ASSIGN', position: messages[0]!.position });
    deepEqual(await counts(), { sat: 1, dsat: 0 });
    await shop.curated({ action: 'UNDO', curationId: out.curationId });
    deepEqual(await counts(), { sat: 2, dsat: 0 });
  });

  it('renames and pins topics, clusters and gaps, and is undone', async () => {
    const shop = await Shop.open();
    const found = (await shop.why('topics', shop.cancel)).topic;
    deepEqual(
      [found?.isNamed, found?.isOwn, found?.isHidden, found?.description],
      [false, false, false, null],
    );
    const { curationId } = await shop.curated({
      action: 'RENAME',
      topicId: shop.cancel.toUpperCase(),
      name: ' Cancel\ta stay ',
    });
    deepEqual((await shop.why('topics', shop.cancel)).topic, {
      ...found,
      name: 'Cancel a stay',
      isNamed: true,
    });
    ok('Cancel a stay' in (await shop.topics()));
    await shop.curated({ action: 'RENAME', gapId: shop.gap, name: 'Cancelling' });
    const { gap } = await shop.why('gaps', shop.gap);
    deepEqual([gap?.name, gap?.isNamed], ['Cancelling', true]);
    await shop.curated({ action: 'PIN', topicClusterId: shop.cluster });
    equal((await shop.why('topic-clusters', shop.cluster)).cluster?.isNamed, true);
    await shop.curated({ action: 'UNDO', curationId });
    deepEqual((await shop.why('topics', shop.cancel)).topic, found);
    match(await shop.refused({ action: 'UNDO', curationId }, 409, 'CONFLICT'), /was undone/);
  });

  it('merges: the id answers as its heir, for curations too', async () => {
    const shop = await Shop.open();
    const before = await shop.topics();
    const total = Object.values(before).reduce((sum, messages) => sum + messages, 0);
    const { curationId } = await shop.curated({
      action: 'MERGE',
      topicId: shop.cancel,
      intoTopicId: shop.password,
    });
    deepEqual(Object.values(await shop.topics()), [total]);
    equal((await shop.why('topics', shop.cancel)).heir?.id, shop.password);
    await shop.curated({ action: 'RENAME', topicId: shop.cancel, name: 'Both' });
    deepEqual(await shop.topics(), { Both: total });
    const circle = { action: 'MERGE', topicId: shop.password, intoTopicId: shop.cancel };
    match(await shop.refused(circle, 409, 'CONFLICT'), /are one already/);
    await shop.curated({ action: 'UNDO', curationId });
    equal(Object.keys(await shop.topics()).length, 2);
  });

  it('moves into a cluster that is there and into a new one, and hides', async () => {
    const shop = await Shop.open();
    const { topicClusterId = '' } = await shop.curated({
      action: 'MOVE',
      topicId: shop.password,
      newClusterName: 'Access',
    });
    equal((await shop.why('topics', shop.password)).topic?.clusterId, topicClusterId);
    deepEqual((await shop.why('topic-clusters', topicClusterId)).cluster, {
      id: topicClusterId,
      name: 'Access',
      isNamed: true,
    });
    const again = { action: 'MOVE', topicId: shop.cancel, newClusterName: 'ACCESS' };
    match(await shop.refused(again, 409, 'CONFLICT'), new RegExp(topicClusterId));
    await shop.curated({ action: 'MOVE', topicId: shop.cancel, topicClusterId });
    equal((await shop.why('topics', shop.cancel)).topic?.clusterId, topicClusterId);
    await shop.curated({ action: 'HIDE', topicId: shop.cancel });
    equal(Object.keys(await shop.topics()).length, 1);
    equal((await shop.why('topics', shop.cancel)).topic?.isHidden, true);
  });

  it('refuses names that are taken, and what is not there', async () => {
    const shop = await Shop.open();
    const { name = '' } = (await shop.why('topics', shop.password)).topic ?? {};
    const rename = { action: 'RENAME', topicId: shop.cancel, name: name.toUpperCase() };
    match(await shop.refused(rename, 409, 'CONFLICT'), /Merge the two/);
    const none = randomUUID();
    for (const body of [
      { action: 'RENAME', topicId: none, name: 'x' },
      { action: 'PIN', topicClusterId: shop.cancel },
      { action: 'PIN', gapId: none },
      { action: 'MERGE', topicId: shop.cancel, intoTopicId: none },
      { action: 'MOVE', topicId: shop.cancel, topicClusterId: none },
      { action: 'HIDE', topicId: none },
      { action: 'UNDO', curationId: none },
    ])
      match(await shop.refused(body, 404, 'NOT_FOUND'), /^There is no .* in this instance\.$/);
    const body = JSON.stringify({ instanceId: shop.instanceId, action: 'HIDE', topicId: shop.cancel });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    faultOf(await stranger.send('/v1/curations', init), 404, 'NOT_FOUND');
    faultOf(await stranger.send(`/v1/curations?instanceId=${shop.instanceId}`), 404, 'NOT_FOUND');
    deepEqual(pathsOf(faultOf(await shop.curate({ action: 'HIDE' }), 400, 'VALIDATION_ERROR')), ['topicId']);
    deepEqual((await shop.list()).elements, []);
  });

  it('makes topics that claim requests near their examples, in an empty instance too', async () => {
    const instanceId = await service.newInstance(project);
    const shop = new Shop(instanceId, 0);
    const body = { name: 'Stays', description: 'Hotels', examples: [CANCEL[0], CANCEL[1]] };
    const made = await shop.send('/v1/topics', body);
    equal(made.status, 201, JSON.stringify(made.body));
    const { topicId, curationId } = newTopicAnswerSchema.parse(made.body);
    const own = (await shop.why('topics', topicId)).topic;
    deepEqual([own?.name, own?.description, own?.isOwn, own?.isNamed], ['Stays', 'Hotels', true, true]);
    const asked = await client.ingest({ instanceId, messages: [user(CANCEL[1], '2026-03-03T10:00:00Z')] });
    shop.position = asked.position;
    await shop.reached();
    deepEqual(await shop.topics(), { Stays: 1 });
    faultOf(await shop.send('/v1/topics', { ...body, name: 'STAYS' }), 409, 'CONFLICT');
    await shop.curated({ action: 'UNDO', curationId });
    deepEqual(await shop.topics(), {});
    match(await shop.refused({ action: 'HIDE', topicId }, 404, 'NOT_FOUND'), /no topic/);
    equal((await shop.send('/v1/topics', { ...body, fromBeginning: true })).status, 201);
    deepEqual(await shop.topics(), { Stays: 1 });
  });

  it('makes labels of examples, changes them, and takes back one change or all', async () => {
    const shop = await Shop.open();
    const { instanceId } = shop;
    const save = async (body: object) => {
      const answer = await shop.send('/v1/labels', body);
      equal(answer.status, 201, JSON.stringify(answer.body));
      return labelAnswerSchema.parse(answer.body);
    };
    const counted = async () =>
      (await client.rows({ instanceId, groupBy: 'LABEL', fields: 'sessions,messages,dsat' })).map(
        ({ dimensions, fields }) => [dimensions.label?.name, fields.sessions, fields.messages],
      );
    deepEqual(await counted(), []);
    const body = { name: 'Wants out', description: 'Leaves us', examples: CANCEL.slice(0, 3) };
    const made = await save({ ...body, counterexamples: [PASSWORD[0]] });
    const id = made.labelId;
    deepEqual(await counted(), [['Wants out', 3, 6]]);
    const chosen = await client.rows({
      instanceId,
      groupBy: 'SESSION',
      fields: 'messages',
      labelIds: id,
    });
    equal(chosen.length, 3);
    const sessionId = chosen[0]?.dimensions.session?.id ?? '';
    const { messages } = await client.session(sessionId, { instanceId });
    deepEqual(
      messages.map(({ labels }) => labels),
      [[{ id, name: 'Wants out' }], [{ id, name: 'Wants out' }]],
    );
    const { label, fields, wordings } = whyResponseSchema.parse(await shop.get(`/v1/labels/${id}`));
    deepEqual([label?.description, fields.sessions, wordings.newest.length], ['Leaves us', 3, 3]);

    // Both topics have it now, under another name; then what it was.
    const changed = await save({ ...body, labelId: id, name: 'Both', examples: [...CANCEL, ...PASSWORD] });
    equal(changed.labelId, id);
    deepEqual(await counted(), [['Both', 6, 9]]);
    const verdict = await shop.send('/v1/checks', { of: 'LABEL', id, sessionId, verdict: 'YES' });
    equal(verdict.status, 201);
    deepEqual((await shop.checks({ of: 'LABEL', id })).found.sessions, 6);
    await shop.curated({ action: 'UNDO', curationId: changed.curationId });
    deepEqual(await counted(), [['Wants out', 3, 6]]);

    const taken = await shop.send('/v1/labels', { ...body, name: 'WANTS OUT' });
    match(faultOf(taken, 409, 'CONFLICT').message, /already a label/);
    const unknown = await shop.send('/v1/labels', { ...body, labelId: randomUUID(), name: 'Else' });
    match(faultOf(unknown, 404, 'NOT_FOUND').message, /no label/);
    const few = await shop.send('/v1/labels', { ...body, examples: CANCEL.slice(0, 2) });
    deepEqual(pathsOf(faultOf(few, 400, 'VALIDATION_ERROR')), ['examples']);

    await shop.curated({ action: 'UNDO', curationId: made.curationId });
    deepEqual(await counted(), []);
    equal((await shop.send('/v1/labels', { ...body, labelId: id })).status, 404);
    const { elements } = await shop.list();
    deepEqual(
      elements.map(({ action, target, status, details }) => [
        action,
        target.type,
        status,
        details.counterexamples?.length,
      ]),
      [
        ['UNDO', 'CURATION', 'APPLIED', undefined],
        ['UNDO', 'CURATION', 'APPLIED', undefined],
        ['LABEL', 'LABEL', 'UNDONE', 0],
        ['LABEL', 'LABEL', 'UNDONE', 1],
      ],
    );
    await save(body);
    deepEqual(await counted(), [['Wants out', 3, 6]]);
  });

  it('says where a gap or topic stands, follows merges, and is undone', async () => {
    const shop = await Shop.open();
    const life = async (path: 'topics' | 'gaps', id: string): Promise<WhyResponse['life']> =>
      (await shop.why(path, id)).life;
    equal(await life('gaps', shop.gap), null);
    const before = await shop.topics();
    const planned = { action: 'TRACK', gapId: shop.gap, state: 'PLANNED' };
    const first = await shop.curated({
      ...planned,
      owner: ' Ann ',
      note: 'Next',
      link: 'https://a.example/7',
    });
    const said = await life('gaps', shop.gap);
    deepEqual(said, {
      state: 'PLANNED',
      fixedAt: null,
      release: null,
      owner: 'Ann',
      note: 'Next',
      link: 'https://a.example/7',
      at: said?.at,
      curationId: first.curationId,
    });
    const second = await shop.curated({ action: 'TRACK', gapId: shop.gap, state: 'FIXED' });
    const fixed = await life('gaps', shop.gap);
    deepEqual(
      [fixed?.state, fixed?.owner, fixed?.fixedAt, fixed?.curationId],
      ['FIXED', null, fixed?.at, second.curationId],
    );
    await shop.curated({ action: 'UNDO', curationId: second.curationId });
    equal((await life('gaps', shop.gap))?.curationId, first.curationId);
    const { elements } = await shop.list();
    deepEqual(
      elements.map(({ action, target, status, details }) => [action, target.type, status, details]),
      [
        ['UNDO', 'CURATION', 'APPLIED', {}],
        ['TRACK', 'GAP', 'UNDONE', { state: 'FIXED' }],
        [
          'TRACK',
          'GAP',
          'APPLIED',
          { state: 'PLANNED', owner: 'Ann', note: 'Next', link: 'https://a.example/7' },
        ],
      ],
    );
    deepEqual(await shop.topics(), before);
    await shop.curated({ action: 'TRACK', topicId: shop.cancel, state: 'WONT_DO' });
    const merged = await shop.curated({
      action: 'MERGE',
      topicId: shop.cancel,
      intoTopicId: shop.password,
    });
    equal((await life('topics', shop.password))?.state, 'WONT_DO');
    const release = { name: 'service.version', value: '3.2' };
    await shop.curated({ action: 'TRACK', topicId: shop.cancel, state: 'FIXED', release });
    deepEqual((await life('topics', shop.cancel))?.release, release);
    await shop.curated({ action: 'UNDO', curationId: merged.curationId });
    deepEqual(
      [(await life('topics', shop.cancel))?.state, (await life('topics', shop.password))?.state],
      ['WONT_DO', 'FIXED'],
    );
    const { instanceId } = shop;
    const among = async (groupBy: string, lifeStates: string): Promise<unknown[]> =>
      (
        await client.rows({ instanceId, groupBy, fields: 'messages', dimensionFields: 'life', lifeStates })
      ).map(({ dimensions: { topic, gap } }) => [(topic ?? gap)?.id, (topic ?? gap)?.life?.state ?? null]);
    deepEqual(await among('TOPIC', 'FIXED'), [[shop.password, 'FIXED']]);
    deepEqual(await among('TOPIC', 'OPEN,PLANNED'), []);
    deepEqual(await among('GAP', 'PLANNED'), [[shop.gap, 'PLANNED']]);
    deepEqual(await among('GAP', 'OPEN'), []);
    deepEqual(
      (await among('CSAT_DSAT', 'OPEN')).length,
      (await client.rows({ instanceId, groupBy: 'CSAT_DSAT', fields: 'messages' })).length,
    );
    const search = toSearch({ instanceId, groupBy: 'GAP', fields: 'messages', dimensionFields: 'life' });
    const csv = await fetch(`${service.url}/v1/query/?${search}`, {
      headers: { 'x-api-key': client.key, accept: 'text/csv' },
    });
    match(await csv.text(), /,life,messages\r?\n.*,PLANNED,3\r?\n$/);
    match(await shop.refused({ ...planned, gapId: shop.cancel }, 404, 'NOT_FOUND'), /no gap/);
    await shop.refused({ ...planned, link: 'javascript:alert(1)' }, 400, 'VALIDATION_ERROR');
  });

  it('is stored once for an Idempotency-Key, although what it asks for is done by then', async () => {
    const shop = await Shop.open();
    const merge = { action: 'MERGE', topicId: shop.cancel, intoTopicId: shop.password };
    const create = { name: 'Ours', examples: ['When does the museum open?'] };
    const once = { 'idempotency-key': randomUUID() };
    const other = { 'idempotency-key': randomUUID() };
    const [first, second] = [await shop.curate(merge, once), await shop.curate(merge, once)];
    deepEqual([first.status, second.status], [201, 201]);
    deepEqual(second.body, first.body);
    const [made, again] = [
      await shop.send('/v1/topics', create, other),
      await shop.send('/v1/topics', create, other),
    ];
    deepEqual(again.body, made.body);
    faultOf(
      await shop.curate({ ...merge, topicId: shop.password, intoTopicId: shop.cancel }, once),
      409,
      'CONFLICT',
    );
    faultOf(await shop.send('/v1/topics', create, once), 409, 'CONFLICT');
    const { elements } = await shop.list();
    deepEqual(
      elements.map(({ action }) => action),
      ['CREATE', 'MERGE'],
    );
    equal(elements[1]?.curationId, curatedSchema.parse(first.body).curationId);
  });

  it('needs a key with the scope curate, and to be seen one with the scope query', async () => {
    const shop = await Shop.open();
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ instanceId: shop.instanceId, action: 'PIN', topicId: shop.cancel });
    const clientWith = async (scope: KeyScope): Promise<Client> =>
      new Client(service.url, (await service.newKey(project, 'test', [scope])).key);
    const [reader, curator] = [await clientWith('query'), await clientWith('curate')];
    const list = `/v1/curations?instanceId=${shop.instanceId}`;
    const post = { method: 'POST', headers, body };
    match(
      faultOf(await reader.send('/v1/curations', post), 403, 'FORBIDDEN').message,
      /lacks the scope curate; it has query/,
    );
    equal((await curator.send('/v1/curations', post)).status, 201);
    equal((await reader.send(list)).status, 200);
    faultOf(await curator.send(list), 403, 'FORBIDDEN');
    deepEqual(keySchema.parse((await curator.send('/v1/key')).body).scopes, ['curate']);
  });

  it('is listed with time and key, page by page', async () => {
    const shop = await Shop.open();
    const { curationId } = await shop.curated({ action: 'RENAME', topicId: shop.cancel, name: 'Stays' });
    await shop.curated({ action: 'UNDO', curationId });
    const { elements, pagination } = await shop.list({ limit: 1 });
    deepEqual(
      elements.map(({ action, target, status, keyId }) => [action, target, status, keyId]),
      [['UNDO', { type: 'CURATION', id: curationId, name: null }, 'APPLIED', project.keyId]],
    );
    const next = await shop.list({ limit: 1, cursor: pagination.next ?? '' });
    equal(next.pagination.next, null);
    const [renamed] = next.elements;
    ok(Math.abs(Date.now() - Date.parse(renamed?.createdAt ?? '')) < 60_000);
    deepEqual(
      [renamed?.curationId, renamed?.target.type, renamed?.details, renamed?.status, renamed?.undoneBy],
      [curationId, 'TOPIC', { name: 'Stays' }, 'UNDONE', elements[0]?.curationId],
    );
  });

  it('is as docs/api.md shows it', async () => {
    const shop = await Shop.open();
    const page = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
    const section = page.split(/^## /m).find((text) => text.startsWith('Steering\n')) ?? '';
    const [drawn] = (await shop.checks({ id: shop.cancel })).sample;
    const variables = {
      URL: service.url,
      KEY: client.key,
      INSTANCE: shop.instanceId,
      TOPIC: shop.cancel,
      SESSION: drawn?.sessionId ?? '',
    };
    const blocks = fencedBlocks(section);
    equal(blocks.length, 12);
    for (let index = 0; index < blocks.length; index += 2) {
      const [words = []] = shellCommands(blocks[index]?.text ?? '', variables);
      const answer = await fetch(curlRequest(words));
      ok(answer.ok);
      const example = JSON.parse(blocks[index + 1]?.text ?? '') as object;
      deepEqual(Object.keys((await answer.json()) as object), Object.keys(example));
    }
  });
});
