import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { linkListSchema, madeLinkSchema, openedLinkSchema } from '../../src/contract/links.ts';
import { SHARED_CHANGES, SHARED_OVERVIEW } from '../../src/contract/shared.ts';
import { ROUTES } from '../../src/contract/routes.ts';
import { SHARED_VIEWS } from '../../src/domain/shared-views.ts';
import { formatInstant, parseTime } from '../../src/domain/time.ts';
import { startOfDate } from '../../src/domain/local-time.ts';
import { rangeOf, type RangeName } from '../../src/web/page/client/state.ts';
import { asked, clockNow, showTimesIn } from '../../src/web/page/client/zone.ts';
import { periodsOf } from '../../src/query/changes/changes-reader.ts';
import { createPeople } from '../../src/web/people.ts';
import { whyResponseSchema } from '../../src/query/why/why-schema.ts';
import {
  createHarness,
  FOREIGN_INSTANCE,
  INSTANCE,
  KEY,
  NOON,
  OTHER_KEY,
  PROJECT,
  SECOND_KEY,
  SESSION,
  type Harness,
} from './support.ts';

const ID = '0192f0a0-0000-8000-8000-0000000000aa';
const OTHER_ID = '0192f0a0-0000-8000-8000-0000000000bb';
const PAGE = { 'x-undertone-page': '1', host: 'localhost:8080' };
/** As the page asks: the last 7 days, and the week before. */
const RANGE = 'dateRange.start=2025-02-23&dateRange.end=2025-03-02';
const BEFORE = 'dateRange.start=2025-02-16T00:00:00.000Z&dateRange.end=2025-02-22T12:00:00.250Z';

type Asked = (options: InjectOptions | string) => Promise<LightMyRequestResponse>;

async function make(
  { app }: Pick<Harness, 'app'>,
  given: object,
  headers: Record<string, string> = { 'x-api-key': KEY },
): Promise<LightMyRequestResponse> {
  return app.inject({
    method: 'POST',
    url: '/v1/links',
    headers,
    payload: { instanceId: INSTANCE, ...given },
    remoteAddress: '10.1.2.3',
  });
}

/** A link to a view, and how whoever has it asks. */
async function linked(
  view: string,
  harness = createHarness(),
  headers?: Record<string, string>,
  more: object = {},
): Promise<{ harness: Harness; token: string; id: string; ask: Asked }> {
  const made = await make(harness, { view, ...more }, headers);
  equal(made.statusCode, 201, made.body);
  const { token, link } = madeLinkSchema.parse(made.json());
  const ask: Asked = (options) => {
    const { headers: more, ...rest } = typeof options === 'string' ? { url: options } : options;
    return harness.app.inject({ ...rest, headers: { 'x-undertone-link': token, ...more } });
  };
  return { harness, token, id: link.id, ask };
}

const statusOf = async (answer: Promise<LightMyRequestResponse>): Promise<number> =>
  (await answer).statusCode;
const query = (rest: string): string => `/v1/query?instanceId=${INSTANCE}&fields=sessions&${rest}`;

describe('a link to a view', () => {
  it('is made by a key, says what it shows, and opens that', async () => {
    const { ask, id } = await linked('?view=topic&range=7d&instance=&id=' + ID);
    const openedLink = openedLinkSchema.parse((await ask('/v1/link')).json());
    deepEqual(openedLink, {
      view: `?range=7d&view=topic&id=${ID}`,
      endsAt: new Date(NOON + 30 * 86_400_000).toISOString(),
      instance: { id: INSTANCE, name: null, timeZone: 'UTC' },
    });
    ok(!JSON.stringify(openedLink).includes(id));
    for (const path of [
      query(`groupBy=TOPIC&ids=${ID}&${RANGE}`),
      query(`groupBy=TOPIC&ids=${ID}&${BEFORE}&timeGranularity=DAY&limit=10000`),
      `/v1/topics/${ID}?instanceId=${INSTANCE}&${RANGE}&timeGranularity=DAY`,
      `/v1/overview?instanceId=${INSTANCE}&${RANGE}&timeGranularity=MONTH`,
      `/v1/changes?instanceId=${INSTANCE}&${RANGE}&compare=previous&limit=1`,
    ])
      equal(await statusOf(ask(path)), 200, path);
  });

  it('asks the registry for its instance alone', async () => {
    const none = (): Promise<never> => Promise.reject(new Error('asked for more'));
    const harness = createHarness({
      instances: {
        findInstance: async (id) => ({
          id,
          number: 1,
          projectId: PROJECT,
          createdAt: new Date(NOON).toISOString(),
          name: 'Shop',
          timeZone: 'Europe/Berlin',
        }),
        instancesOf: none,
        findDefaultInstance: none,
        createInstance: none,
        defaultInstance: none,
        changeInstance: none,
        issueSessionIds: none,
      },
    });
    const { ask } = await linked('view=overview', harness);
    const { instance } = openedLinkSchema.parse((await ask('/v1/link')).json());
    deepEqual(instance, { id: INSTANCE, name: 'Shop', timeZone: 'Europe/Berlin' });
  });

  it('opens no other route', async () => {
    const all = [...ROUTES.ingest, ...ROUTES.query, ...ROUTES.always];
    for (const view of SHARED_VIEWS) {
      const entity = view === 'overview' || view === 'changes' ? '' : `&id=${ID}`;
      const { ask, harness } = await linked(`view=${view}&range=all${entity}`);
      for (const { method, path, shared } of all) {
        if (shared?.views.includes(view) === true) continue;
        const url = `/v1${path.replace('{instanceId}', INSTANCE).replace(/\{\w+\}/, ID)}`;
        const sent = method === 'POST' ? { payload: { instanceId: INSTANCE } } : {};
        for (const query of ['', `?instanceId=${INSTANCE}`]) {
          const answer = await ask({ method, url: url + query, ...sent });
          equal(answer.statusCode, 403, `${view}: ${method} ${url} ${answer.body}`);
        }
      }
      for (const [method, url] of [
        ['POST', '/mcp'],
        ['GET', '/mcp'],
        ['POST', '/dashboard/session'],
        ['DELETE', '/dashboard/session'],
      ] as const)
        equal(await statusOf(ask({ method, url })), 403, `${method} ${url}`);
      equal(await statusOf(ask('/v1/nothing')), 404);
      const { accepted, asked, read, curated } = harness;
      deepEqual([accepted, asked, read, curated], [[], [], [], []]);
    }
  });

  it('is no key, no sign-in and no bearer token, and opens neither', async () => {
    const { harness, token } = await linked('view=overview&range=all');
    const url = `/v1/overview?instanceId=${INSTANCE}`;
    const tries: Record<string, string>[] = [
      { 'x-api-key': token },
      { authorization: `Bearer ${token}` },
      { ...PAGE, cookie: `undertone8080=${token}` },
      { ...PAGE, cookie: `x-undertone-link=${token}` },
      {},
    ];
    for (const headers of tries) {
      equal(await statusOf(harness.app.inject({ url, headers })), 401, JSON.stringify(headers));
      const signIn = { method: 'POST', url: '/dashboard/session', headers: { ...PAGE, ...headers } } as const;
      equal(await statusOf(harness.app.inject(signIn)), 401);
    }
    equal(await statusOf(harness.app.inject({ url: `${url}&link=${token}` })), 401);
    equal(harness.signedIn.size, 0);
  });

  it('counts before all that comes along with it: whoever is signed in sees no more by it', async () => {
    const { harness, ask } = await linked('view=overview&range=all');
    const opened = await harness.app.inject({
      method: 'POST',
      url: '/dashboard/session',
      headers: { ...PAGE, 'x-api-key': KEY },
    });
    const cookie = String(opened.headers['set-cookie']).split(';', 1)[0] ?? '';
    for (const headers of [{ ...PAGE, cookie }, { 'x-api-key': KEY }, { authorization: `Bearer ${KEY}` }]) {
      equal(await statusOf(ask({ url: '/v1/instances', headers })), 403);
      // One that is wrong opens nothing either, whatever stands beside it.
      const wrong = { ...headers, 'x-undertone-link': 'x'.repeat(43) };
      equal(await statusOf(harness.app.inject({ url: '/v1/instances', headers: wrong })), 401);
      equal(
        await statusOf(
          harness.app.inject({ url: '/v1/instances', headers: { ...wrong, 'x-undertone-link': '' } }),
        ),
        401,
      );
    }
  });

  it('shows no other instance, not even in another form', async () => {
    const { ask, harness } = await linked('view=overview&range=all');
    for (const id of [FOREIGN_INSTANCE, ID])
      equal(await statusOf(ask(`/v1/overview?instanceId=${id}`)), 404, id);
    const twice = `/v1/overview?instanceId=${INSTANCE}&instanceId=${FOREIGN_INSTANCE}`;
    equal(await statusOf(ask(twice)), 403);
    equal(await statusOf(ask(`/v1/overview`)), 400);
    equal(await statusOf(ask({ url: '/v1/overview', method: 'GET', query: { instanceid: INSTANCE } })), 403);
    deepEqual(harness.asked, []);
  });

  it('shows no other entity, grouping, filter, range, comparison or form of an answer', async () => {
    const { ask, harness } = await linked(`view=topic&range=7d&id=${ID}`);
    const own = `groupBy=TOPIC&ids=${ID}&${RANGE}`;
    for (const path of [
      query(`groupBy=TOPIC&${RANGE}`),
      query(`groupBy=TOPIC&ids=${OTHER_ID}&${RANGE}`),
      query(`groupBy=TOPIC&ids=${ID},${OTHER_ID}&${RANGE}`),
      query(`groupBy=TOPIC&ids=${ID}&ids=${OTHER_ID}&${RANGE}`),
      query(`groupBy=GAP&ids=${ID}&${RANGE}`),
      query(`groupBy=SESSION&ids=${ID}&${RANGE}`),
      query(`groupBy=END_USER&ids=${ID}&${RANGE}`),
      query(`groupBy=TOPIC&groupBy=SESSION&ids=${ID}&${RANGE}`),
      ...[
        'topicIds',
        'clusterIds',
        'endUserIds',
        'signalIds',
        'gapIds',
        'externalId',
        'textContains',
        'titleContains',
        'language',
        'outcome',
        'dimensionFields',
        'minSat',
        'maxMessages',
        'timeZone',
        'sort.order',
        'offset',
        '__proto__',
        'constructor',
      ].map((name) => query(`${own}&${name}=${ID}`)),
      query(`groupBy=TOPIC&ids=${ID}`),
      query(`groupBy=TOPIC&ids=${ID}&dateRange.start=2025-02-23`),
      query(`groupBy=TOPIC&ids=${ID}&dateRange.end=2025-03-02`),
      query(`groupBy=TOPIC&ids=${ID}&dateRange.start=2025-01-01&dateRange.end=2025-03-02`),
      query(`groupBy=TOPIC&ids=${ID}&dateRange.start=2025-02-16&dateRange.end=2025-03-02`),
      query(`groupBy=TOPIC&ids=${ID}&dateRange.start=2024-02-23&dateRange.end=2024-03-02`),
      query(`groupBy=TOPIC&ids=${ID}&dateRange.start=never&dateRange.end=2025-03-02`),
      `/v1/topics/${OTHER_ID}?instanceId=${INSTANCE}&${RANGE}`,
      `/v1/gaps/${ID}?instanceId=${INSTANCE}&${RANGE}`,
      `/v1/end-users/${ID}?instanceId=${INSTANCE}&${RANGE}`,
      `/v1/sessions/${SESSION}?instanceId=${INSTANCE}`,
      `/v1/overview?instanceId=${INSTANCE}`,
      `/v1/changes?instanceId=${INSTANCE}&${RANGE}&compare=year`,
    ])
      equal(await statusOf(ask(path)), 403, path);
    for (const accept of ['text/csv', 'application/x-ndjson', 'text/html', 'text/csv, application/json'])
      equal(await statusOf(ask({ url: query(own), headers: { accept } })), 403, accept);
    equal(await statusOf(ask({ url: query(own), headers: { 'x-wait-for-position': '1' } })), 403);
    deepEqual(harness.asked, []);
    equal(await statusOf(ask({ url: query(own), headers: { accept: 'application/json' } })), 200);
  });

  it('of the overview lists what the overview lists', async () => {
    const { ask } = await linked('view=overview&range=7d&compare=none');
    for (const groupBy of ['TOPIC', 'TOPIC_CLUSTER', 'GAP', 'REPEATED_REQUEST', 'CSAT_DSAT'])
      equal(await statusOf(ask(query(`groupBy=${groupBy}&${RANGE}&sort.field=sessions&limit=10`))), 200);
    for (const groupBy of ['SESSION', 'END_USER', 'nothing'])
      equal(await statusOf(ask(query(`groupBy=${groupBy}&${RANGE}`))), 403, groupBy);
    // Nothing is compared, so there is no period before.
    equal(await statusOf(ask(`/v1/overview?instanceId=${INSTANCE}&${RANGE}`)), 200);
    equal(await statusOf(ask(`/v1/overview?instanceId=${INSTANCE}&${BEFORE}`)), 403);
    equal(await statusOf(ask(`/v1/changes?instanceId=${INSTANCE}&${RANGE}&compare=previous`)), 403);
  });

  it('compares as its view does, and nothing that lies before that', async () => {
    const part = 'dateRange.start=2025-02-24&dateRange.end=2025-02-25';
    const none = await linked('view=overview&range=7d&compare=none');
    const year = await linked('view=overview&range=7d&compare=year');
    const previous = await linked(`view=topic&id=${ID}&range=7d`);
    const changes = await linked('view=changes&range=7d&compare=none');
    const tenDays = await linked('view=overview&range=2025-02-01/2025-02-10');
    const all = await linked('view=overview&range=all&compare=none');
    for (const [{ ask }, range, compare, status] of [
      [none, RANGE, '', 403],
      [none, RANGE, '&compare=none', 403],
      [none, RANGE, '&compare=previous', 403],
      [all, RANGE, '', 403],
      [all, RANGE, '&compare=previous', 403],
      [year, RANGE, '', 403],
      [year, RANGE, '&compare=previous', 403],
      [year, RANGE, '&compare=year', 200],
      [previous, RANGE, '', 403],
      [previous, RANGE, '&compare=year', 403],
      [previous, RANGE, '&compare=previous', 200],
      [previous, part, '&compare=previous', 200],
      // The period before is shown; the one before that is not.
      [previous, BEFORE, '&compare=previous', 403],
      [previous, 'dateRange.start=2025-02-17&dateRange.end=2025-02-18', '&compare=previous', 403],
      // The page of changes always compares.
      [changes, RANGE, '', 403],
      [changes, RANGE, '&compare=previous', 200],
      [changes, RANGE, '&compare=year', 403],
      [changes, BEFORE, '&compare=previous', 403],
      // 10 days are compared with those 14 days earlier, a day with that of the week before: not every one is shown.
      [tenDays, 'dateRange.start=2025-02-01&dateRange.end=2025-02-11', '&compare=previous', 200],
      [tenDays, 'dateRange.start=2025-02-02&dateRange.end=2025-02-03', '&compare=previous', 200],
      [tenDays, 'dateRange.start=2025-02-05&dateRange.end=2025-02-06', '&compare=previous', 403],
      [tenDays, 'dateRange.start=2025-02-09&dateRange.end=2025-02-10', '&compare=previous', 200],
    ] as const) {
      const url = `/v1/changes?instanceId=${INSTANCE}&${range}${compare}`;
      equal(await statusOf(ask(url)), status, url);
    }
    // The page shows the numbers of the period before.
    equal(await statusOf(previous.ask(`/v1/overview?instanceId=${INSTANCE}&${BEFORE}`)), 200);
  });

  it('counts as satisfaction what its view does, and nothing else', async () => {
    for (const [view, status] of [
      [`view=topic&range=7d&id=${ID}`, { inferred: 200, given: 403, all: 403 }],
      [`view=topic&range=7d&id=${ID}&signals=given`, { inferred: 403, given: 200, all: 403 }],
    ] as const) {
      const { ask } = await linked(view);
      for (const [signals, expected] of Object.entries(status))
        for (const path of [
          `/v1/overview?instanceId=${INSTANCE}&${RANGE}`,
          `/v1/topics/${ID}?instanceId=${INSTANCE}&${RANGE}`,
          query(`groupBy=TOPIC&ids=${ID}&${RANGE}`),
        ]) {
          equal(await statusOf(ask(`${path}&signals=${signals}`)), expected, `${view} ${path} ${signals}`);
          equal(await statusOf(ask(path)), 200, 'what counts no satisfaction');
        }
    }
  });

  it('has the days of the time zone of its instance, and moves with them', async () => {
    const harness = createHarness();
    harness.timeZone = 'Pacific/Auckland';
    const { ask } = await linked('view=overview&range=7d&compare=none', harness);
    const overview = (range: string) => statusOf(ask(`/v1/overview?instanceId=${INSTANCE}&${range}`));
    // It is 2 March in Auckland already.
    equal(await overview('dateRange.start=2025-02-24&dateRange.end=2025-03-03'), 200);
    equal(await overview(RANGE), 403);
    harness.time += 86_400_000;
    equal(await overview('dateRange.start=2025-02-24&dateRange.end=2025-03-03'), 403);
    equal(await overview('dateRange.start=2025-02-25&dateRange.end=2025-03-04'), 200);
  });

  it('lets the page ask for its ranges, at every hour, also where clocks are changed', async (test) => {
    const harness = createHarness();
    const links: { range: RangeName; compare: 'previous' | 'year'; ask: Asked }[] = [];
    for (const range of ['24h', '7d', 'this-week', 'last-month'])
      for (const compare of ['previous', 'year'] as const)
        links.push({
          range: range as RangeName,
          compare,
          ...(await linked(`view=overview&range=${range}&compare=${compare}`, harness, undefined, {
            days: 365,
          })),
        });
    for (const zone of [
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Pacific/Auckland',
      'Australia/Lord_Howe',
    ]) {
      harness.timeZone = zone;
      showTimesIn(zone);
      for (const day of ['2025-03-29', '2025-03-30', '2025-04-05', '2025-10-26', '2025-11-01'])
        for (const hour of [1, 10]) {
          const now = Date.parse(`${day}T00:20:00Z`) + hour * 3_600_000;
          harness.time = now;
          test.mock.timers.reset();
          test.mock.timers.enable({ apis: ['Date'], now });
          for (const { ask, range, compare } of links) {
            const period = asked(rangeOf(range, clockNow())!);
            const given = { instanceId: INSTANCE, ...period };
            const where = `${range} ${compare} ${zone} ${day} ${hour} ${JSON.stringify(period)}`;
            const answer: LightMyRequestResponse = await ask({ url: '/v1/overview', query: given });
            equal(answer.statusCode, 200, where);
            const changes = await ask({ url: '/v1/changes', query: { ...given, compare } });
            equal(changes.statusCode, 200, `changes ${where}`);
            const [start = 0, end = 0] = Object.values(period).map(
              (text) => startOfDate(text, zone) ?? parseTime(text) ?? 0,
            );
            const { before } = periodsOf({ start, end }, compare, end, zone);
            const earlier = {
              'dateRange.start': formatInstant(before.start),
              'dateRange.end': formatInstant(before.end),
            };
            const then = await ask({ url: '/v1/overview', query: { instanceId: INSTANCE, ...earlier } });
            equal(then.statusCode, 200, `before ${where}`);
          }
        }
    }
    showTimesIn('UTC');
  });

  it('shows no words of users, no descriptions and no end users', async () => {
    const quote = 'please refund my order';
    const wording = { sessionId: SESSION, position: 1, createdAt: new Date(NOON).toISOString(), text: quote };
    const rows = [
      { topic: { id: ID, name: 'Refunds', clusterId: null, description: quote } },
      { gap: { id: ID, name: 'Refunds', gapType: 'TOOL', description: quote } },
      { repeatedRequest: { id: ID, name: 'Refunds', description: quote } },
      { endUser: { id: ID, externalId: quote } },
      { session: { id: SESSION, title: quote, summary: quote } },
    ] as const;
    const harness = createHarness({
      run: async ({ limit, offset }) => ({
        elements: rows.map((dimensions) => ({ dimensions, fields: { sessions: 1 } })) as never,
        pagination: { total: rows.length, limit, offset },
        lastProcessedAt: null,
      }),
      why: {
        read: async () => ({
          ...rows[1],
          gap: { ...rows[1].gap, topics: [] },
          heir: null,
          fields: {},
          trend: [],
          signals: [],
          topics: [],
          gaps: [],
          repeatedRequests: [],
          languages: [],
          endUsers: [{ id: OTHER_ID, externalId: quote, sessions: 1, messages: 1 }],
          checked: null,
          life: {
            state: 'PLANNED',
            fixedAt: null,
            release: null,
            owner: quote,
            note: quote,
            link: null,
            at: new Date(NOON).toISOString(),
            curationId: ID,
          },
          wordings: { typical: [wording], newest: [wording] },
          lastProcessedAt: new Date(NOON).toISOString(),
        }),
      },
    });
    const list = await linked('view=overview&range=7d', harness);
    const listed = await list.ask(query(`groupBy=GAP&${RANGE}`));
    equal(listed.statusCode, 200);
    ok(!listed.body.includes(quote) && listed.body.includes('Refunds'), listed.body);
    ok(!listed.body.includes(SESSION) && !listed.body.includes('endUser'), listed.body);
    const gap = await linked(`view=gap&id=${ID}&range=7d`, harness);
    const why = await gap.ask(`/v1/gaps/${ID}?instanceId=${INSTANCE}&${RANGE}`);
    equal(why.statusCode, 200);
    ok(!why.body.includes(quote) && !why.body.includes(OTHER_ID) && !why.body.includes(SESSION), why.body);
    const shown = whyResponseSchema.parse(why.json());
    deepEqual([shown.gap?.name, shown.life?.state], ['Refunds', 'PLANNED']);
    // Whoever has the key sees them.
    const headers = { 'x-api-key': KEY };
    const own = await harness.app.inject({ url: `/v1/gaps/${ID}?instanceId=${INSTANCE}&${RANGE}`, headers });
    ok(own.body.includes(quote) && own.body.includes(OTHER_ID));
  });

  it('of an entity shows of the instance as a whole only what its page compares with', () => {
    const named = { topic: { id: OTHER_ID, name: 'Another topic', clusterId: null } };
    const counts = { sessions: 1, sessionsBefore: 1, share: 0.1, shareBefore: 0.1, chance: 0.01 };
    const at = new Date(NOON).toISOString();
    const period = { start: at, end: at, sessions: 1 };
    const changes = {
      period,
      before: period,
      changes: [{ ...named, change: 'rising', ...counts }],
      lastProcessedAt: at,
    } as const;
    const overview = {
      fields: { sessions: 1 },
      trend: [],
      languages: [{ language: 'de', sessions: 1, withTopic: 1 }],
      outcomes: [{ outcome: null, sessions: 1, costUsd: 2 }],
      agreement: { both: 1, agreed: 1, kappa: null },
      lastProcessedAt: at,
    };
    for (const view of SHARED_VIEWS) {
      const isWhole = view === 'overview' || view === 'changes';
      deepEqual(SHARED_CHANGES.redact({ ...changes, changes: [...changes.changes] }, view), {
        ...changes,
        changes: isWhole ? changes.changes : [],
      });
      const openedLink = SHARED_OVERVIEW.redact(overview, view);
      deepEqual(
        openedLink,
        view === 'overview'
          ? { ...overview, outcomes: [{ outcome: null, sessions: 1, costUsd: null }] }
          : { ...overview, languages: [], outcomes: [], agreement: null },
        'a language may tell who somebody is',
      );
    }
  });

  it('ends with the key that made it, when it is revoked, and by itself', async () => {
    const url = '/v1/link';
    const ended = await linked('view=overview');
    ended.harness.revoked.add(KEY);
    equal(await statusOf(ended.ask(url)), 401);

    const { harness, ask, id } = await linked('view=overview');
    equal(await statusOf(ask(url)), 200);
    const headers = { 'x-api-key': SECOND_KEY };
    const revoke = { method: 'DELETE', url: `/v1/links/${id}`, headers } as const;
    equal(await statusOf(harness.app.inject({ ...revoke, headers: { 'x-api-key': OTHER_KEY } })), 404);
    equal(await statusOf(ask(url)), 200);
    equal(await statusOf(harness.app.inject(revoke)), 204);
    const after = await ask(url);
    equal(after.statusCode, 401);
    match(after.body, /has ended, was revoked/);
    equal(await statusOf(harness.app.inject(revoke)), 404);

    const short = await make(harness, { view: 'view=overview', days: 1 });
    const { token } = madeLinkSchema.parse(short.json());
    const show = () => harness.app.inject({ url, headers: { 'x-undertone-link': token } });
    harness.time += 86_400_000 - 1;
    equal(await statusOf(show()), 200);
    harness.time += 1;
    equal(await statusOf(show()), 401);
  });

  it('is listed to its project, without its token, and recorded in the audit', async () => {
    const { harness, token, id } = await linked('view=changes&range=90d');
    const headers = { 'x-api-key': SECOND_KEY };
    const list = await harness.app.inject({ url: '/v1/links', headers });
    ok(!list.body.includes(token));
    const { elements } = linkListSchema.parse(list.json());
    deepEqual(
      elements.map((link) => [link.id, link.view, link.keyId]),
      [[id, '?range=90d&view=changes', `id of ${KEY}`]],
    );
    const foreign = await harness.app.inject({ url: '/v1/links', headers: { 'x-api-key': OTHER_KEY } });
    deepEqual(foreign.json(), { elements: [] });
    harness.time += 1;
    await harness.app.inject({ method: 'DELETE', url: `/v1/links/${id}`, headers });
    const audit = (await harness.app.inject({ url: '/v1/audit', headers })).json<{
      elements: { action: string; keyId: string; instanceId: string; target: string }[];
    }>();
    deepEqual(
      audit.elements.map(({ action, keyId, instanceId, target }) => [action, keyId, instanceId, target]),
      [
        ['REVOKE_LINK', `id of ${SECOND_KEY}`, INSTANCE, id],
        ['CREATE_LINK', `id of ${KEY}`, INSTANCE, id],
      ],
    );
    ok(![...harness.linkBucket.values.values()].some(({ value }) => value.includes(token)));
  });

  it('is not recorded where it is not made', async () => {
    const harness = createHarness();
    for (let count = 0; count < 100; count += 1)
      equal((await make(harness, { view: 'view=overview' })).statusCode, 201);
    equal((await make(harness, { view: 'view=overview' })).statusCode, 409);
    const audit = await harness.app.inject({ url: '/v1/audit?limit=1000', headers: { 'x-api-key': KEY } });
    equal(audit.json<{ elements: readonly unknown[] }>().elements.length, 100);
  });

  it('is of views without texts and end users alone, of an instance of the project', async () => {
    const harness = createHarness();
    for (const view of [
      'view=conversations',
      'view=users',
      'view=decisions',
      'view=alerts',
      'view=connect',
      `view=user&id=${ID}`,
      `view=overview&session=${SESSION}`,
      'x'.repeat(1001),
    ])
      equal((await make(harness, { view })).statusCode, 400, view);
    for (const instanceId of [FOREIGN_INSTANCE, ID])
      equal((await make(harness, { view: 'view=overview', instanceId })).statusCode, 404);
    for (const wrong of [{ view: 1 }, { days: 0 }, { days: 366 }, { more: 1 }, { instanceId: '' }])
      equal(
        (await make(harness, { view: 'view=overview', ...wrong })).statusCode,
        400,
        JSON.stringify(wrong),
      );
    equal(harness.linkBucket.values.size, 0);
    // Filters choose conversations, of which a link shows none.
    const filtered = await make(harness, { view: `?view=topic&id=${ID}&language=de&text=refund` });
    equal(madeLinkSchema.parse(filtered.json()).link.view, `?view=topic&id=${ID}`);
  });

  it('is not made of a mistyped view, which would show another one', async () => {
    const harness = createHarness();
    const named = async (view: string): Promise<readonly string[]> => {
      const refused = await make(harness, { view });
      equal(refused.statusCode, 400, `${view}: ${refused.body}`);
      const { error } = refused.json<{
        error: { code: string; details: { path: string; message: string }[] };
      }>();
      equal(error.code, 'VALIDATION_ERROR');
      return error.details.map(({ path, message }) => {
        equal(path, 'view');
        return /`(\w+)`/.exec(message)?.[1] ?? message;
      });
    };
    for (const [view, ...parameters] of [
      ['', 'view'],
      ['?', 'view'],
      ['range=7d', 'view'],
      ['?view=nonsense', 'view'],
      ['?view=', 'view'],
      ['?view=Overview', 'view'],
      ['?view=overview&view=changes', 'view'],
      ['?view=topic&range=7d', 'id'],
      ['?view=topic&id=zz', 'id'],
      [`?view=topic&id=${ID}&id=${OTHER_ID}`, 'id'],
      [`?view=overview&id=${ID}`, 'id'],
      ['?view=overview&range=7', 'range'],
      ['?view=overview&range=', 'range'],
      ['?view=overview&range=2026-11-07/2026-11-01', 'range'],
      ['?view=overview&range=2026-02-30/2026-03-01', 'range'],
      ['?view=overview&range=7d&range=all', 'range'],
      ['?view=overview&compare=before', 'compare'],
      ['?view=overview&buckets=minute', 'buckets'],
      ['?view=overview&signals=GIVEN', 'signals'],
      ['?view=overview&signals=given&signals=all', 'signals'],
      // The link would show the numbers of all conversations.
      ['?view=overview&segment.plan=pro', 'segment'],
      ['?view=overview&segment[plan]=pro', 'segment'],
      ['?view=overview&segment.plan=', 'segment'],
      [`?view=changes&id=zz&range=x&compare=x&buckets=x`, 'id', 'range', 'compare', 'buckets'],
    ] as const)
      deepEqual(await named(view), parameters, view);
    equal(harness.linkBucket.values.size, 0);
  });

  it('is listed with its view by name, so that what is listed can be made again', async () => {
    const harness = createHarness();
    for (const view of [
      'view=overview',
      `?view=topic&id=${ID.toUpperCase()}`,
      'view=changes&range=2026-11-01/2026-11-07',
      'view=overview&signals=given',
    ]) {
      const first = madeLinkSchema.parse((await make(harness, { view })).json());
      const again = madeLinkSchema.parse((await make(harness, { view: first.link.view })).json());
      equal(again.link.view, first.link.view);
      ok(first.link.view.includes('view='), first.link.view);
    }
  });

  it('is not made where the audit cannot keep it', async () => {
    const audit = {
      record: () => Promise.reject(new Error('away')),
      page: () => Promise.reject(new Error()),
    };
    const harness = createHarness({ audit });
    equal((await make(harness, { view: 'view=overview' })).statusCode, 500);
    equal(harness.linkBucket.values.size, 0);
  });

  it('of a person lives as long as their groups see what it shows', async () => {
    const scopes = new Map([['sales', ['query' as const]]]);
    const instances = new Map<string, ReadonlySet<string> | null>([['sales', new Set([INSTANCE])]]);
    let project: string | null = PROJECT;
    const people = createPeople({
      header: 'x-forwarded-email',
      groupsHeader: 'x-forwarded-groups',
      from: ['10.1.2.3'],
      scopes,
      instances,
      projectId: async () => project,
    });
    const headers = {
      'x-undertone-page': '1',
      'x-forwarded-email': 'ada@example.com',
      'x-forwarded-groups': 'sales',
    };
    const harness = createHarness({ people });
    const { ask } = await linked('view=overview&range=all', harness, headers);
    const show = () => statusOf(ask(`/v1/overview?instanceId=${INSTANCE}`));
    equal(await show(), 200);
    instances.set('sales', new Set([OTHER_ID]));
    equal(await show(), 401);
    instances.set('sales', null);
    equal(await show(), 200);
    project = null;
    equal(await show(), 401);
    project = PROJECT;
    scopes.delete('sales');
    equal(await show(), 401);
    // Nobody signs people in any more.
    const { links } = harness;
    const without = createHarness({ links });
    const { token } = await linked('view=overview', createHarness({ people, links }), {
      'x-api-key': KEY,
    });
    const url = '/v1/link';
    equal(await statusOf(without.app.inject({ url, headers: { 'x-undertone-link': token } })), 200);
    scopes.set('sales', ['query']);
    const ofPerson = await linked('view=overview', createHarness({ people, links }), headers);
    equal(await statusOf(ofPerson.ask(url)), 200);
    equal(await statusOf(without.app.inject({ url, headers: { 'x-undertone-link': ofPerson.token } })), 401);
  });

  it('of whoever sees some instances only is one of these, and so is the list', async () => {
    const people = createPeople({
      header: 'x-forwarded-email',
      groupsHeader: 'x-forwarded-groups',
      from: ['10.1.2.3'],
      scopes: new Map([['*', ['query']]]),
      instances: new Map([['sales', new Set([OTHER_ID])]]),
      projectId: async () => PROJECT,
    });
    const harness = createHarness({ people });
    const headers = {
      'x-undertone-page': '1',
      'x-forwarded-email': 'ada@example.com',
      'x-forwarded-groups': 'sales',
    };
    equal((await make(harness, { view: 'view=overview' }, headers)).statusCode, 404);
    const { id } = await linked('view=overview', harness);
    const ask = (options: InjectOptions) =>
      harness.app.inject({ ...options, headers, remoteAddress: '10.1.2.3' });
    deepEqual((await ask({ url: '/v1/links' })).json(), { elements: [] });
    equal((await ask({ method: 'DELETE', url: `/v1/links/${id}` })).statusCode, 404);
  });

  it('is never written to the log', async () => {
    const { harness, ask, token } = await linked('view=overview&range=7d');
    for (const url of ['/v1/link', '/v1/key', '/v1/overview', `/v1/overview?instanceId=${INSTANCE}`])
      await ask(url);
    ok(harness.logged.length > 0);
    ok(!JSON.stringify(harness.logged).includes(token));
  });
});
