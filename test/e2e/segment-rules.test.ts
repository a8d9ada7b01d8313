/** Queries with a segment: sessions by their attributes. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attributesResponseSchema } from '../../src/query/attributes-schema.ts';
import { changesResponseSchema } from '../../src/query/changes/changes-schema.ts';
import { overviewResponseSchema } from '../../src/query/overview/overview-schema.ts';
import { whyResponseSchema } from '../../src/query/why/why-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  PASSWORD,
  THANKS,
  user,
  type Message,
} from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
/** The instance with all conversations, and one with those of the plan "pro" alone. */
let all: string;
let pro: string;

interface Told {
  readonly messages: readonly Message[];
  readonly session: Readonly<Record<string, unknown>>;
}

const CONVERSATIONS: readonly Told[] = [
  ...Array.from({ length: 6 }, (_, at): Told => {
    const day = `2026-03-0${2 + at}`;
    const isPro = at % 2 === 0;
    return {
      session: { plan: isPro ? 'pro' : 'free', version: isPro ? 3.2 : 3.1, beta: at === 0, tags: ['a'] },
      messages: [
        user(CANCEL[at % 4]!, `${day}T10:00:00Z`, `u${at % 3}`),
        assistant(isPro ? DONE : CANNOT, `${day}T10:00:05Z`),
        user(isPro ? THANKS : COMPLAINT, `${day}T10:01:00Z`, `u${at % 3}`),
        user(PASSWORD[at % 4]!, `${day}T23:59:00Z`, `u${at % 3}`),
        assistant(DONE, `${day}T23:59:30Z`),
      ],
    };
  }),
  { session: {}, messages: [user(PASSWORD[0], '2026-03-03T08:00:00Z', 'u9')] },
];

async function told(list: readonly Told[]): Promise<string> {
  let instanceId: string | undefined;
  let position = 0;
  for (const { messages, session } of list) {
    const metadata = { session };
    const ids = await client.ingest({
      ...(instanceId === undefined ? {} : { instanceId }),
      messages,
      metadata,
    });
    ({ instanceId, position } = ids);
  }
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: instanceId! }, position);
  return instanceId!;
}

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  all = await told(CONVERSATIONS);
  pro = await told(CONVERSATIONS.filter(({ session }) => session['plan'] === 'pro'));
});
after(() => service.stop());

async function read(path: string, parameters: Parameters): Promise<Record<string, unknown>> {
  const { status, body } = await client.send(`/v1/${path}?${toSearch(parameters)}`);
  equal(status, 200, JSON.stringify(body));
  return body as Record<string, unknown>;
}

const PRO = { 'segment.plan': 'pro' };
const FEBRUARY = { 'dateRange.start': '2026-03-03', 'dateRange.end': '2026-03-06' };

/** Rows by what they are called: ids of instances differ, and names of topics follow from all of their requests. */
async function rowsOf(instanceId: string, parameters: Parameters): Promise<unknown[]> {
  const { elements } = await client.query({ instanceId, fields: 'messages', ...parameters } as Parameters);
  return elements
    .map(({ dimensions, fields }) => {
      const { date, topic: _, ...entity } = dimensions;
      const [named] = Object.values(entity) as { name?: string; externalId?: string; title?: string }[];
      return [named?.name ?? named?.externalId ?? named?.title, date, fields];
    })
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

describe('a query with a segment', () => {
  it('answers as if there were its sessions alone, in every grouping, range and bucket', async () => {
    const groupings: readonly Parameters[] = [
      {
        groupBy: 'TOPIC',
        fields: 'sessions,users,messages,avgMessagesPerSession,sat,dsat,netSat,waitSeconds',
      },
      { groupBy: 'CSAT_DSAT', fields: 'sessions,users,messages' },
      { groupBy: 'GAP', fields: 'sessions,users,messages' },
      { groupBy: 'REPEATED_REQUEST', fields: 'sessions,users,messages' },
      { groupBy: 'SESSION', fields: 'messages,sat,dsat,duration', dimensionFields: 'title,topics' },
      { groupBy: 'END_USER', fields: 'sessions,messages,sat,dsat', dimensionFields: 'externalId' },
    ];
    for (const grouping of groupings)
      for (const range of [{}, FEBRUARY, { ...FEBRUARY, timeZone: 'Asia/Kolkata' }])
        for (const timeGranularity of ['ALL', 'DAY', 'WEEK'])
          deepEqual(
            await rowsOf(all, { ...grouping, ...range, timeGranularity, ...PRO }),
            await rowsOf(pro, { ...grouping, ...range, timeGranularity }),
            JSON.stringify({ ...grouping, ...range, timeGranularity }),
          );
    equal((await rowsOf(all, { groupBy: 'SESSION', ...PRO })).length, 3);
  });

  it('takes any of the values of one attribute, and all attributes', async () => {
    const sessions = async (parameters: Parameters): Promise<number> =>
      (await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: all, ...parameters }))
        .pagination.total;
    equal(await sessions({}), 7);
    equal(await sessions({ 'segment.version': '3.1' }), 3);
    equal(await sessions({ 'segment.plan': 'pro', 'segment.beta': 'true' }), 1);
    equal(await sessions({ 'segment.plan': 'free', 'segment.beta': 'true' }), 0);
    const why = async (parameters: Parameters): Promise<unknown> =>
      (await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: all, ...parameters }))
        .emptiedBy;
    deepEqual(
      [
        await why({ 'segment.plan': 'free', 'segment.beta': 'true' }),
        await why({ 'segment.plan': 'team' }),
        await why({ 'segment.plan': 'pro', 'dateRange.end': '2026-01-01' }),
        await why({ 'segment.plan': 'pro' }),
        await why({ 'dateRange.end': '2026-01-01' }),
      ],
      [
        'No session has beta=true and plan=free at once.',
        'No session has plan=team.',
        '3 sessions have plan=pro, and none of them matches the rest of the query.',
        undefined,
        undefined,
      ],
    );
    const { body } = await client.send(
      `/v1/query?groupBy=SESSION&fields=messages&instanceId=${all}&segment.plan=pro&segment.plan=free`,
    );
    equal((body as { pagination: { total: number } }).pagination.total, 6);
  });

  it('counts by the last value that was sent, also for what came before', async () => {
    const instanceId = await told(CONVERSATIONS.slice(0, 2));
    const sessions = async (plan: string, position?: number): Promise<string[]> =>
      (
        await client.query(
          { groupBy: 'SESSION', fields: 'messages', instanceId, 'segment.plan': plan },
          position,
        )
      ).elements.map(({ dimensions }) => dimensions.session!.id);
    const [session] = await sessions('free');
    const say = (plan: unknown) =>
      client.ingest({
        instanceId,
        sessionId: session,
        messages: [user('Thanks!', '2026-03-09T10:00:00Z')],
        metadata: { session: { plan } },
      });
    const { position } = await say('pro');
    equal((await sessions('pro', position)).length, 2);
    deepEqual(await sessions('free'), []);
    const gone = await say(null);
    equal((await sessions('pro', gone.position)).length, 1);
  });

  it('groups by the values of an attribute, each counted as a segment', async () => {
    const fields = 'sessions,users,messages,avgMessagesPerSession,sat,dsat,netSat,waitSeconds';
    for (const range of [{}, FEBRUARY, { ...FEBRUARY, timeZone: 'Asia/Kolkata' }])
      for (const timeGranularity of ['ALL', 'DAY']) {
        const asked = {
          groupBy: 'SEGMENT',
          segmentKey: 'plan',
          fields,
          instanceId: all,
          timeGranularity,
          ...range,
        };
        const { elements } = await client.query(asked);
        deepEqual([...new Set(elements.map(({ dimensions }) => dimensions.segment!.value))].toSorted(), [
          'free',
          'pro',
        ]);
        const own = elements.filter(({ dimensions }) => dimensions.segment!.value === 'pro');
        const alone = await client.query({ ...asked, instanceId: pro });
        deepEqual(
          own.map((row) => [row.dimensions.date, row.fields]),
          alone.elements.map((row) => [row.dimensions.date, row.fields]),
        );
        const [first] = own;
        const chosen = await client.query({ ...asked, ids: first!.dimensions.segment!.id });
        deepEqual(chosen.elements, own);
      }
    const both = { groupBy: 'SEGMENT', segmentKey: 'version', fields: 'sessions', instanceId: all };
    const { elements } = await client.query({ ...both, ...PRO });
    deepEqual(
      elements.map(({ dimensions, fields: { sessions } }) => [dimensions.segment!.value, sessions]),
      [['3.2', 3]],
    );
    const unknown = faultOf(await client.get({ ...both, segmentKey: 'plans' }), 400, 'VALIDATION_ERROR');
    deepEqual(pathsOf(unknown), ['segmentKey']);
  });

  it('takes what a list of the attributes says', async () => {
    const { attributes } = attributesResponseSchema.parse(await read('attributes', { instanceId: all }));
    deepEqual(attributes, [
      {
        name: 'beta',
        values: [
          { value: 'false', sessions: 5, firstAt: '2026-03-03T10:00:00.000Z' },
          { value: 'true', sessions: 1, firstAt: '2026-03-02T10:00:00.000Z' },
        ],
      },
      {
        name: 'plan',
        values: [
          { value: 'free', sessions: 3, firstAt: '2026-03-03T10:00:00.000Z' },
          { value: 'pro', sessions: 3, firstAt: '2026-03-02T10:00:00.000Z' },
        ],
      },
      {
        name: 'version',
        values: [
          { value: '3.1', sessions: 3, firstAt: '2026-03-03T10:00:00.000Z' },
          { value: '3.2', sessions: 3, firstAt: '2026-03-02T10:00:00.000Z' },
        ],
      },
    ]);
  });

  it('counts the sessions of a range, each once, and lists the values that none of them has, too', async () => {
    const within = { 'dateRange.start': '2026-03-03', 'dateRange.end': '2026-03-04' };
    const counts = async (parameters: Parameters): Promise<unknown> => {
      const { attributes } = attributesResponseSchema.parse(
        await read('attributes', { instanceId: all, ...parameters }),
      );
      return attributes.map(({ name, values }) => [
        name,
        values.map(({ value, sessions }) => [value, sessions]),
      ]);
    };
    const expected = await Promise.all(
      ['beta', 'plan', 'version'].map(async (segmentKey) => {
        const { elements } = await client.query({
          groupBy: 'SEGMENT',
          segmentKey,
          fields: 'sessions',
          instanceId: all,
          ...within,
        });
        const found = new Map(
          elements.map(({ dimensions, fields }) => [dimensions.segment!.value, fields.sessions]),
        );
        const listed = { beta: ['false', 'true'], plan: ['free', 'pro'], version: ['3.1', '3.2'] }[
          segmentKey
        ]!;
        return [segmentKey, listed.map((value) => [value, found.get(value) ?? 0])];
      }),
    );
    deepEqual(await counts(within), expected);
    deepEqual(await counts({ 'dateRange.end': '2026-03-02' }), [
      [
        'beta',
        [
          ['false', 0],
          ['true', 0],
        ],
      ],
      [
        'plan',
        [
          ['free', 0],
          ['pro', 0],
        ],
      ],
      [
        'version',
        [
          ['3.1', 0],
          ['3.2', 0],
        ],
      ],
    ]);
  });

  it('counts a session of several end users once', async () => {
    const messages = [
      user(PASSWORD[0], '2026-03-03T08:00:00Z', 'u1'),
      user(CANCEL[0], '2026-03-03T09:00:00Z', 'u2'),
      user(THANKS, '2026-03-04T09:00:00Z', 'u1'),
    ];
    const instanceId = await told([{ session: { plan: 'pro' }, messages }]);
    for (const start of [undefined, '2026-03-02', '2026-03-04']) {
      const range = start === undefined ? {} : { 'dateRange.start': start };
      const asked = { instanceId, ...range, 'dateRange.end': '2026-03-05' };
      const { attributes } = attributesResponseSchema.parse(await read('attributes', asked));
      deepEqual(
        attributes[0]?.values.map(({ sessions }) => sessions),
        [1],
      );
    }
  });

  it('lists since when a value is there, also when an earlier message comes late', async () => {
    const instanceId = await told(CONVERSATIONS.slice(0, 2));
    const firstAt = async (): Promise<unknown> => {
      const { attributes } = attributesResponseSchema.parse(await read('attributes', { instanceId }));
      const { values = [] } = attributes.find(({ name }) => name === 'plan') ?? {};
      return Object.fromEntries(values.map((of) => [of.value, of.firstAt]));
    };
    deepEqual(await firstAt(), { pro: '2026-03-02T10:00:00.000Z', free: '2026-03-03T10:00:00.000Z' });
    const { elements } = await client.query({
      groupBy: 'SESSION',
      fields: 'messages',
      instanceId,
      'segment.plan': 'free',
    });
    const { position } = await client.ingest({
      instanceId,
      sessionId: elements[0]!.dimensions.session!.id,
      messages: [user('Hello?', '2026-02-27T22:30:00Z', 'u1')],
    });
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    deepEqual(await firstAt(), { pro: '2026-03-02T10:00:00.000Z', free: '2026-02-27T22:30:00.000Z' });
  });

  it('is said to be unknown, with what there is, where no session has the attribute', async () => {
    const answer = await client.get({
      groupBy: 'TOPIC',
      fields: 'messages',
      instanceId: all,
      'segment.plans': 'pro',
      'segment.tags': 'a',
    });
    const fault = faultOf(answer, 400, 'VALIDATION_ERROR');
    deepEqual(pathsOf(fault), ['segment.plans', 'segment.tags']);
    match(fault.message, /segment\.plans is not known: sessions of this instance have beta, plan, version/);
  });

  it('holds in the overview, in what is behind a number, and in what changed', async () => {
    const overviewOf = async (parameters: Parameters) => {
      const { lastProcessedAt: _, ...rest } = overviewResponseSchema.parse(
        await read('overview', parameters),
      );
      return rest;
    };
    deepEqual(await overviewOf({ instanceId: all, ...PRO }), await overviewOf({ instanceId: pro }));
    deepEqual(
      await overviewOf({ instanceId: all, ...FEBRUARY, ...PRO }),
      await overviewOf({ instanceId: pro, ...FEBRUARY }),
    );

    const whyOf = async (instanceId: string, parameters: Parameters) => {
      const { elements } = await client.query({ groupBy: 'TOPIC', fields: 'messages', instanceId });
      const cancel = elements.find(({ dimensions }) => /cancel/i.test(dimensions.topic!.name));
      const why = whyResponseSchema.parse(
        await read(`topics/${cancel!.dimensions.topic!.id}`, { instanceId, ...parameters }),
      );
      return {
        fields: why.fields,
        trend: why.trend,
        languages: why.languages,
        signals: why.signals.map(({ name, sessions, share, instanceShare, lift }) => [
          name,
          sessions,
          share,
          instanceShare,
          lift,
        ]),
        users: why.endUsers.map(({ externalId, messages }) => `${externalId}: ${messages}`).toSorted(),
        said: why.wordings.newest.map(({ text, createdAt }) => [text, createdAt]),
      };
    };
    deepEqual(await whyOf(all, PRO), await whyOf(pro, {}));

    const changesOf = async (parameters: Parameters) => {
      const asked = { 'dateRange.start': '2026-03-02', 'dateRange.end': '2026-03-09', ...parameters };
      return changesResponseSchema.parse(await read('changes', asked)).period.sessions;
    };
    deepEqual(await changesOf({ instanceId: all, ...PRO }), 3);
    deepEqual(await changesOf({ instanceId: all }), 7);
  });

  it('holds in the search of texts and in exports', async () => {
    const found = await read('sessions', { instanceId: all, said: 'hotel', ...PRO });
    equal((found['elements'] as unknown[]).length, 3);
    const response = await fetch(
      `${service.url}/v1/query?${toSearch({ groupBy: 'SESSION', fields: 'messages', instanceId: all, ...PRO })}`,
      { headers: { 'x-api-key': client.key, accept: 'text/csv' } },
    );
    const lines = (await response.text()).trim().split('\n');
    equal(lines.length, 4);
    ok(lines[0]!.includes('messages'));
  });
});
