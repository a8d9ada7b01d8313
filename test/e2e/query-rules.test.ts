/** GET /v1/query/: parameters, ranges, buckets, filters, order and pages; one rule per row. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from '../support/groupings.ts';
import { METRICS } from '../../src/domain/metrics.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters, type Row } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  fill,
  GREETING,
  label,
  PASSWORD,
  THANKS,
  UNKNOWN,
  user,
  type Filled,
} from '../support/conversations.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

/** Milliseconds since 1970; all messages say that they were sent before. */
const STARTED_AT = Date.now();

let service: TestService;
let project: TestProject;
let client: Client;
let stranger: Client;

/** Two topics, three users, six sessions; see `before`. */
let shop: Filled;
let cancelId: string;
let passwordId: string;

const ALL = { groupBy: 'SESSION', fields: 'messages' } as const;

before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  stranger = new Client(service.url, (await service.newProject()).key);
  shop = await fill(client, [
    // 0: ada, over midnight from a Monday to a Tuesday
    [
      user(CANCEL[0], '2025-03-03T23:30:00Z', 'ada'),
      assistant(DONE, '2025-03-03T23:45:00Z'),
      user(THANKS, '2025-03-04T00:15:00Z', 'ada'),
    ],
    // 1: bob, who is told no
    [
      user(CANCEL[1], '2025-03-05T10:00:00Z', 'bob'),
      assistant(CANNOT, '2025-03-05T10:30:00Z'),
      user(COMPLAINT, '2025-03-05T11:00:00Z', 'bob'),
    ],
    // 2: ada again, in the next week
    [user(CANCEL[2], '2025-03-10T09:00:00Z', 'ada'), assistant(DONE, '2025-03-10T09:00:00.5Z')],
    // 3: two users in the next month, who ask the same
    [
      user(PASSWORD[0], '2025-04-01T12:00:00Z', 'eve'),
      assistant(DONE, '2025-04-01T12:01:00Z'),
      user(PASSWORD[0], '2025-04-01T12:02:00Z', 'bob'),
      assistant(DONE, '2025-04-01T12:03:00Z'),
    ],
    // 4: eve
    [user(PASSWORD[2], '2025-04-02T12:00:00Z', 'eve'), assistant(UNKNOWN, '2025-04-02T12:01:00Z')],
    // 5: nobody came
    [assistant(GREETING, '2025-04-03T12:00:00Z')],
  ]);
  const position = await label(client, shop.instanceId, CANCEL.slice(0, 3));
  const topics = await client.rows(
    { instanceId: shop.instanceId, groupBy: 'TOPIC', fields: 'messages' },
    position,
  );
  equal(topics.length, 2, JSON.stringify(topics));
  [cancelId = '', passwordId = ''] = topics.map(({ dimensions }) => dimensions.topic?.id);
});
after(() => service?.stop());

/** Rows of the shop. */
function ask(parameters: Parameters): Promise<Row[]> {
  return client.rows({ instanceId: shop.instanceId, ...parameters });
}

/** Positions of sessions in the shop, in the order of the rows. */
async function askSessions(parameters: Parameters): Promise<number[]> {
  return (await ask({ ...ALL, ...parameters })).map(({ dimensions }) =>
    shop.sessions.indexOf(dimensions.session?.id ?? ''),
  );
}

/** The external ids of end-user rows. */
async function askUsers(parameters: Parameters): Promise<(string | undefined)[]> {
  const rows = await ask({
    groupBy: 'END_USER',
    fields: 'messages',
    dimensionFields: 'externalId',
    ...parameters,
  });
  return rows.map(({ dimensions }) => dimensions.endUser?.externalId);
}

const TOPIC = { groupBy: 'TOPIC', fields: 'sessions,users,messages' } as const;

/** `[date, topic, sessions, users, messages]` of each row. */
async function askTopics(parameters: Parameters): Promise<unknown[][]> {
  return (await ask({ ...TOPIC, ...parameters })).map(({ dimensions, fields }) => [
    dimensions.date ?? null,
    dimensions.topic?.id === cancelId ? 'cancel' : dimensions.topic?.id === passwordId ? 'password' : '?',
    fields.sessions,
    fields.users,
    fields.messages,
  ]);
}

async function idOf(groupBy: string, find: (row: Row) => string | undefined): Promise<string> {
  for (const row of await ask({ groupBy, fields: 'messages' })) {
    const id = find(row);
    if (id !== undefined) return id;
  }
  throw new Error(`no ${groupBy} as looked for`);
}

const satId = (): Promise<string> =>
  idOf('CSAT_DSAT', ({ dimensions: { csatDsatSignal: signal } }) =>
    signal?.signalType === 'SAT' ? signal.id : undefined,
  );
/** A signal of the complaint: session 1 has it, the repeated request of session 3 does not. */
const complaintId = async (): Promise<string> => {
  const [row] = await client.rows({
    instanceId: shop.instanceId,
    groupBy: 'CSAT_DSAT',
    fields: 'messages',
    'dateRange.start': '2025-03-05T11:00Z',
    'dateRange.end': '2025-03-05T11:01Z',
  });
  return row?.dimensions.csatDsatSignal?.id ?? '';
};
const repeatedRequestId = (): Promise<string> =>
  idOf('REPEATED_REQUEST', ({ dimensions }) => dimensions.repeatedRequest?.id);
const gapId = (type: 'TOOL' | 'KNOWLEDGE'): Promise<string> =>
  idOf('GAP', ({ dimensions: { gap } }) => (gap?.gapType === type ? gap.id : undefined));

const BIG = '9007199254740992';
const UUID = '0192f0a0-0000-7000-8000-000000000001';

/** [rule, parameters beside a valid query of sessions (null: left out), the paths of `details`] */
const REFUSED: readonly (readonly [string, Readonly<Record<string, string | null>>, readonly string[]])[] = [
  ['groupBy is required', { groupBy: null }, ['groupBy']],
  ['groupBy is one of seven', { groupBy: 'MESSAGE' }, ['groupBy']],
  ['groupBy is upper case', { groupBy: 'session' }, ['groupBy']],
  ['groupBy must not be empty', { groupBy: '' }, ['groupBy']],
  ['instanceId is required', { instanceId: null }, ['instanceId']],
  ['instanceId is a UUID', { instanceId: '5' }, ['instanceId']],
  ['instanceId must not be empty', { instanceId: '' }, ['instanceId']],
  ['fields is required', { fields: null }, ['fields']],
  ['fields must not be empty', { fields: '' }, ['fields']],
  ['fields holds metric names only', { fields: 'messages,title' }, ['fields']],
  ['fields must not hold an empty name', { fields: 'messages,' }, ['fields']],
  ['fields are in their own case', { fields: 'Messages' }, ['fields']],
  [
    'every required parameter that lacks is named',
    { groupBy: null, instanceId: null, fields: null },
    ['groupBy', 'instanceId', 'fields'],
  ],
  ['dateRange.start is a date or date-time', { 'dateRange.start': '2025-03' }, ['dateRange.start']],
  ['dateRange.start has Z or an offset', { 'dateRange.start': '2025-03-01T00:00:00' }, ['dateRange.start']],
  ['dateRange.end is a day of the calendar', { 'dateRange.end': '2025-02-30T00:00:00Z' }, ['dateRange.end']],
  [
    'dateRange.end is no leap day where there is none',
    { 'dateRange.end': '1900-02-29T00:00:00Z' },
    ['dateRange.end'],
  ],
  ['dateRange.end is a month of the year', { 'dateRange.end': '2025-13-01T00:00:00Z' }, ['dateRange.end']],
  ['dateRange.end is an hour of the day', { 'dateRange.end': '2025-03-01T24:00:00Z' }, ['dateRange.end']],
  ['dateRange.end must not be empty', { 'dateRange.end': '' }, ['dateRange.end']],
  [
    'start must be before end',
    { 'dateRange.start': '2025-03-02T00:00Z', 'dateRange.end': '2025-03-01T00:00Z' },
    ['dateRange.start'],
  ],
  [
    'start must not be end',
    { 'dateRange.start': '2025-03-01T00:00Z', 'dateRange.end': '2025-03-01T00:00:00.000Z' },
    ['dateRange.start'],
  ],
  ['timeGranularity is one of five', { timeGranularity: 'YEAR' }, ['timeGranularity']],
  ['timeGranularity is upper case', { timeGranularity: 'day' }, ['timeGranularity']],
  ['ids holds UUIDs', { ids: 'x' }, ['ids']],
  ['ids must not be empty', { ids: '' }, ['ids']],
  ['a list is named by its parameter, not an index', { ids: `${UUID},x,y` }, ['ids']],
  ['topicIds holds UUIDs', { topicIds: `${UUID},` }, ['topicIds']],
  ['signalIds holds UUIDs', { signalIds: 'x' }, ['signalIds']],
  ['repeatedRequestIds holds UUIDs', { repeatedRequestIds: 'x' }, ['repeatedRequestIds']],
  ['gapIds holds UUIDs', { gapIds: 'x' }, ['gapIds']],
  ['gapType is one of two', { groupBy: 'GAP', gapType: 'POLICY' }, ['gapType']],
  ['language has at most 10 characters', { language: 'x'.repeat(11) }, ['language']],
  ['language must not be empty', { language: '' }, ['language']],
  ['language is the tag of a language', { language: 'xx' }, ['language']],
  ['outcome is of six', { outcome: 'open,' }, ['outcome']],
  [
    'externalId has at most 255 characters',
    { groupBy: 'SESSION', externalId: 'x'.repeat(256) },
    ['externalId'],
  ],
  ['externalId works with sessions and end users only', { groupBy: 'GAP', externalId: 'x' }, ['externalId']],
  ['limit is at least 1', { limit: '0' }, ['limit']],
  ['limit is at most 10,000', { limit: '10001' }, ['limit']],
  ['limit is not negative', { limit: '-1' }, ['limit']],
  ['limit is whole', { limit: '1.5' }, ['limit']],
  ['limit has no exponent', { limit: '1e3' }, ['limit']],
  ['limit is decimal', { limit: '0x10' }, ['limit']],
  ['limit must not be empty', { limit: '' }, ['limit']],
  ['limit has no blanks', { limit: ' 5' }, ['limit']],
  ['offset is not negative', { offset: '-1' }, ['offset']],
  ['offset is at most 9007199254740991', { offset: BIG }, ['offset']],
  ['offset with a thousand digits is refused', { offset: '9'.repeat(1000) }, ['offset']],
  ['sort.field is one of the eleven', { 'sort.field': 'title' }, ['sort.field']],
  ['sort.order is ASC or DESC', { 'sort.field': 'messages', 'sort.order': 'asc' }, ['sort.order']],
  ['dimensionFields must not be empty', { dimensionFields: '' }, ['dimensionFields']],
  [
    'dimensionFields holds names of the grouping',
    { dimensionFields: 'title,topTopics' },
    ['dimensionFields'],
  ],
  ...[
    'minMessages',
    'maxMessages',
    'minSat',
    'maxSat',
    'minDsat',
    'maxDsat',
    'minRepeatedRequests',
    'maxRepeatedRequests',
  ].flatMap((name): [string, Record<string, string>, string[]][] => [
    [`${name} is not negative`, { [name]: '-1' }, [name]],
    [`${name} is at most 9007199254740991`, { [name]: BIG }, [name]],
    [`${name} is whole`, { [name]: '1.0' }, [name]],
  ]),
  ['minSessions is refused where there is no such metric', { minSessions: '1' }, ['minSessions']],
  ['maxSessions is refused where there is no such metric', { maxSessions: '1' }, ['maxSessions']],
  ['an unknown parameter is refused', { group: 'x' }, ['group']],
  ['a parameter in another case is unknown', { Limit: '5' }, ['Limit']],
  [
    'a parameter named __proto__ is unknown',
    { __proto__x: '5', ['__proto__']: '1' },
    ['__proto__x', '__proto__'],
  ],
  ['a parameter named constructor is unknown', { constructor: '1' }, ['constructor']],
  ['dateRange without a member is unknown', { dateRange: '2025-03-01T00:00Z' }, ['dateRange']],
  ['dateRange[start] is unknown', { 'dateRange[start]': '2025-03-01T00:00Z' }, ['dateRange[start]']],
  ['a metric that no grouping sorts by is refused', { 'sort.field': 'users' }, ['sort.field']],
  ['gapType works with GAP only', { gapType: 'TOOL' }, ['gapType']],
  ['topicIds does not work with TOPIC', { groupBy: 'TOPIC', topicIds: UUID }, ['topicIds']],
  ['topicIds does not work with GAP', { groupBy: 'GAP', topicIds: UUID }, ['topicIds']],
  ['topicIds does not work with TOPIC_CLUSTER', { groupBy: 'TOPIC_CLUSTER', topicIds: UUID }, ['topicIds']],
  ...['signalIds', 'gapIds', 'repeatedRequestIds'].flatMap((name) =>
    ['END_USER', 'TOPIC', 'GAP', 'CSAT_DSAT', 'REPEATED_REQUEST'].map(
      (groupBy): [string, Record<string, string>, string[]] => [
        `${name} does not work with ${groupBy}`,
        { groupBy, [name]: UUID },
        [name],
      ],
    ),
  ),
  ['language works with SESSION only', { groupBy: 'END_USER', language: 'en' }, ['language']],
  ['outcome works with SESSION only', { groupBy: 'END_USER', outcome: 'open' }, ['outcome']],
  ['createdAt does not sort topics', { groupBy: 'TOPIC', 'sort.field': 'createdAt' }, ['sort.field']],
  ['lastActiveAt does not sort gaps', { groupBy: 'GAP', 'sort.field': 'lastActiveAt' }, ['sort.field']],
];

describe('query refuses with VALIDATION_ERROR and the path', { concurrency: 8 }, () => {
  for (const [rule, change, paths] of REFUSED) {
    it(rule, async () => {
      const valid = { instanceId: shop.instanceId, ...ALL };
      const search = new URLSearchParams(valid);
      for (const [name, value] of Object.entries(change)) {
        if (value === null) search.delete(name);
        else search.set(name, value);
      }
      const fault = faultOf(await client.send(`/v1/query/?${search}`), 400, 'VALIDATION_ERROR');
      deepEqual(pathsOf(fault), paths);
    });
  }

  for (const name of ['groupBy', 'fields', 'limit', 'ids', 'dateRange.start', 'unknown']) {
    it(`${name} given twice`, async () => {
      const twice = `${encodeURIComponent(name)}=1&${encodeURIComponent(name)}=1`;
      const search = toSearch({ instanceId: shop.instanceId, ...ALL });
      const rest = search.split('&').filter((part) => !part.startsWith(`${name}=`));
      const answer = await client.send(`/v1/query/?${rest.join('&')}&${twice}`);
      deepEqual(pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR')), [name]);
    });
  }

  it('details are at most 100', async () => {
    const many = Array.from({ length: 150 }, (_, index) => `x${index}=1`).join('&');
    const fault = faultOf(await client.send(`/v1/query/?${many}`), 400, 'VALIDATION_ERROR');
    equal(fault.details?.length, 100);
  });

  for (const groupBy of PLAIN_GROUP_BYS) {
    for (const metric of METRICS.filter((name) => !GROUPINGS[groupBy].metrics.includes(name))) {
      it(`${metric} is not available for ${groupBy}; what is, is named`, async () => {
        const answer = await client.get({ instanceId: shop.instanceId, groupBy, fields: metric });
        const fault = faultOf(answer, 400, 'VALIDATION_ERROR');
        deepEqual(pathsOf(fault), ['fields']);
        for (const name of GROUPINGS[groupBy].metrics) ok(fault.details?.[0]?.message.includes(name));
      });
    }
    for (const other of PLAIN_GROUP_BYS) {
      const foreign = dimensionFieldsOf(other).find((name) => !dimensionFieldsOf(groupBy).includes(name));
      if (foreign === undefined) continue;
      it(`dimension field ${foreign} is not available for ${groupBy}`, async () => {
        const answer = await client.get({
          instanceId: shop.instanceId,
          groupBy,
          fields: 'messages',
          dimensionFields: foreign,
        });
        deepEqual(pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR')), ['dimensionFields']);
      });
    }
  }
});

describe('every grouping', { concurrency: 8 }, () => {
  const ENTITY = {
    TOPIC: 'topic',
    TOPIC_CLUSTER: 'cluster',
    REPEATED_REQUEST: 'repeatedRequest',
    CSAT_DSAT: 'csatDsatSignal',
    GAP: 'gap',
    LABEL: 'label',
    SESSION: 'session',
    END_USER: 'endUser',
  } as const;
  for (const groupBy of PLAIN_GROUP_BYS) {
    for (const timeGranularity of ['ALL', 'HOUR', 'DAY', 'WEEK', 'MONTH']) {
      it(`answers ${groupBy} by ${timeGranularity} with all its metrics and its entity`, async () => {
        const rows = await ask({
          groupBy,
          timeGranularity,
          fields: GROUPINGS[groupBy].metrics.join(','),
          ...(dimensionFieldsOf(groupBy).length === 0
            ? {}
            : { dimensionFields: dimensionFieldsOf(groupBy).join(',') }),
        });
        ok(rows.length > 0);
        for (const { dimensions, fields } of rows) {
          ok(dimensions[ENTITY[groupBy]] !== undefined);
          const { messages, sat, dsat, netSat, sessions, avgMessagesPerSession: average } = fields;
          ok(messages !== undefined && messages > 0, 'an empty bucket gives no row');
          if (netSat !== undefined && sat !== undefined && dsat !== undefined) {
            equal(netSat, ((sat - dsat) * 100) / messages);
          }
          if (average !== undefined && sessions !== undefined) equal(average, messages / sessions);
        }
      });
      it(`pages through ${groupBy} by ${timeGranularity} without gap or overlap`, async () => {
        const parameters = { instanceId: shop.instanceId, groupBy, timeGranularity, fields: 'messages' };
        const whole = await client.query(parameters);
        equal(whole.pagination.total, whole.elements.length);
        const pages: Row[] = [];
        for (let offset = 0; offset < whole.pagination.total; offset += 2) {
          const page = await client.query({ ...parameters, limit: 2, offset });
          equal(page.pagination.total, whole.pagination.total);
          pages.push(...page.elements);
        }
        deepEqual(pages, whole.elements);
      });
    }
  }
});

const NO_DIMENSIONS = { groupBy: 'END_USER', fields: 'messages' } as const;

const RULES: readonly (readonly [rule: string, check: () => Promise<void>])[] = [
  // Which instance
  [
    'an unknown instance is NOT_FOUND',
    async () => void faultOf(await client.get({ ...ALL, instanceId: randomUUID() }), 404, 'NOT_FOUND'),
  ],
  [
    "another project's instance gets the same answer as an unknown one",
    async () => {
      const foreign = await stranger.get({ ...ALL, instanceId: shop.instanceId });
      const unknownId = randomUUID();
      const unknown = await stranger.get({ ...ALL, instanceId: unknownId });
      faultOf(foreign, 404, 'NOT_FOUND');
      equal(
        JSON.stringify(foreign.body).replaceAll(shop.instanceId, 'ID'),
        JSON.stringify(unknown.body).replaceAll(unknownId, 'ID'),
      );
    },
  ],
  [
    'the nil and the all-f UUID are unknown instances',
    async () => {
      for (const digit of ['0', 'f', 'F']) {
        const instanceId = UUID.replaceAll(/[0-9a-f]/g, digit);
        faultOf(await client.get({ ...ALL, instanceId }), 404, 'NOT_FOUND');
      }
    },
  ],
  [
    'instanceId is accepted in upper case',
    async () => void equal((await ask({ ...ALL, instanceId: shop.instanceId.toUpperCase() })).length, 6),
  ],
  [
    'an instance with nothing processed has no elements and lastProcessedAt null',
    async () => {
      const instanceId = await service.newInstance(project);
      for (const groupBy of PLAIN_GROUP_BYS) {
        deepEqual(await client.query({ instanceId, groupBy, fields: 'messages' }), {
          elements: [],
          pagination: { total: 0, limit: 50, offset: 0 },
          lastProcessedAt: null,
        });
      }
    },
  ],
  [
    'instances are separate: same sessions, users and topics of another one are not seen',
    async () => {
      const other = await fill(client, [[user(CANCEL[0], '2025-03-03T23:30:00Z', 'ada')]]);
      const rows = await client.rows(
        { instanceId: other.instanceId, groupBy: 'END_USER', fields: 'sessions,messages' },
        other.position,
      );
      deepEqual(
        rows.map(({ fields }) => fields),
        [{ sessions: 1, messages: 1 }],
      );
      deepEqual(await askUsers({ ids: rows[0]?.dimensions.endUser?.id ?? '' }), []);
    },
  ],
  // Defaults
  [
    'fields decides what is answered, in whatever order and repetition',
    async () => {
      const [row] = await ask({ groupBy: 'SESSION', fields: 'sat,messages,sat' });
      deepEqual(Object.keys(row?.fields ?? {}).sort(), ['messages', 'sat']);
    },
  ],
  [
    'without dimensionFields a session is its id alone',
    async () => {
      for (const { dimensions } of await ask(ALL)) deepEqual(Object.keys(dimensions.session ?? {}), ['id']);
    },
  ],
  [
    'without dimensionFields an end user is the id alone',
    async () => {
      const rows = await ask(NO_DIMENSIONS);
      for (const { dimensions } of rows) deepEqual(Object.keys(dimensions.endUser ?? {}), ['id']);
    },
  ],
  ...dimensionFieldsOf('SESSION').map(
    (name) =>
      [
        `dimension field ${name} of a session is answered when asked for, and no other`,
        async () => {
          for (const { dimensions } of await ask({ ...ALL, dimensionFields: name })) {
            deepEqual(Object.keys(dimensions.session ?? {}), ['id', name]);
          }
        },
      ] as const,
  ),
  ...dimensionFieldsOf('END_USER').map(
    (name) =>
      [
        `dimension field ${name} of an end user is answered when asked for, and no other`,
        async () => {
          for (const { dimensions } of await ask({ ...NO_DIMENSIONS, dimensionFields: name })) {
            deepEqual(Object.keys(dimensions.endUser ?? {}), ['id', name]);
          }
        },
      ] as const,
  ),
  [
    'a dimension field without a value is null, topics an empty list',
    async () => {
      const [row] = await ask({
        ...ALL,
        ids: shop.sessions[5] ?? '',
        dimensionFields: 'title,summary,topics,language',
      });
      equal(row?.dimensions.session?.language, null);
      deepEqual(row?.dimensions.session?.topics, []);
    },
  ],
  [
    'limit is 50 and offset 0 by default',
    async () => {
      const { pagination } = await client.query({ instanceId: shop.instanceId, ...ALL });
      deepEqual(pagination, { total: 6, limit: 50, offset: 0 });
    },
  ],
  [
    'limit 1 and 10,000 are accepted',
    async () => {
      equal((await ask({ ...ALL, limit: 1 })).length, 1);
      equal((await ask({ ...ALL, limit: 10_000 })).length, 6);
    },
  ],
  [
    'an offset past the end gives no elements and the total',
    async () => {
      for (const offset of [6, 1_000_000, Number.MAX_SAFE_INTEGER]) {
        const { elements, pagination } = await client.query({ instanceId: shop.instanceId, ...ALL, offset });
        deepEqual([elements, pagination.total], [[], 6]);
      }
    },
  ],
  [
    'timeGranularity omitted is ALL',
    async () => deepEqual(await ask(ALL), await ask({ ...ALL, timeGranularity: 'ALL' })),
  ],
  // Ranges and buckets
  [
    'ALL over all time gives one row per topic',
    async () =>
      deepEqual(await askTopics({}), [
        [null, 'cancel', 3, 2, 8],
        [null, 'password', 2, 2, 6],
      ]),
  ],
  [
    'HOUR gives one row per topic and hour with messages',
    async () =>
      deepEqual(await askTopics({ timeGranularity: 'HOUR' }), [
        ['2025-03-03T23:00:00Z', 'cancel', 1, 1, 2],
        ['2025-03-04T00:00:00Z', 'cancel', 1, 1, 1],
        ['2025-03-05T10:00:00Z', 'cancel', 1, 1, 2],
        ['2025-03-05T11:00:00Z', 'cancel', 1, 1, 1],
        ['2025-03-10T09:00:00Z', 'cancel', 1, 1, 2],
        ['2025-04-01T12:00:00Z', 'password', 1, 2, 4],
        ['2025-04-02T12:00:00Z', 'password', 1, 1, 2],
      ]),
  ],
  [
    'DAY buckets are days of UTC',
    async () =>
      deepEqual(await askTopics({ timeGranularity: 'DAY' }), [
        ['2025-03-03T00:00:00Z', 'cancel', 1, 1, 2],
        ['2025-03-04T00:00:00Z', 'cancel', 1, 1, 1],
        ['2025-03-05T00:00:00Z', 'cancel', 1, 1, 3],
        ['2025-03-10T00:00:00Z', 'cancel', 1, 1, 2],
        ['2025-04-01T00:00:00Z', 'password', 1, 2, 4],
        ['2025-04-02T00:00:00Z', 'password', 1, 1, 2],
      ]),
  ],
  [
    'WEEK buckets start on Monday',
    async () =>
      deepEqual(await askTopics({ timeGranularity: 'WEEK' }), [
        ['2025-03-03T00:00:00Z', 'cancel', 2, 2, 6],
        ['2025-03-10T00:00:00Z', 'cancel', 1, 1, 2],
        ['2025-03-31T00:00:00Z', 'password', 2, 2, 6],
      ]),
  ],
  [
    'MONTH buckets are months of the calendar',
    async () =>
      deepEqual(await askTopics({ timeGranularity: 'MONTH' }), [
        ['2025-03-01T00:00:00Z', 'cancel', 3, 2, 8],
        ['2025-04-01T00:00:00Z', 'password', 2, 2, 6],
      ]),
  ],
  [
    'start is inclusive',
    async () =>
      deepEqual(await askTopics({ 'dateRange.start': '2025-04-02T12:01:00Z' }), [
        [null, 'password', 1, 1, 1],
      ]),
  ],
  [
    'start is exact to the microsecond',
    async () => deepEqual(await askTopics({ 'dateRange.start': '2025-04-02T12:01:00.000001Z' }), []),
  ],
  [
    'end is exclusive',
    async () => deepEqual(await askTopics({ 'dateRange.end': '2025-03-03T23:30:00Z' }), []),
  ],
  [
    'end is exact to the microsecond',
    async () =>
      deepEqual(await askTopics({ 'dateRange.end': '2025-03-03T23:30:00.000001Z' }), [
        [null, 'cancel', 1, 1, 1],
      ]),
  ],
  [
    'a range may be of plain dates and of instants with an offset, written with + or %2B',
    async () => {
      const range = { 'dateRange.start': '2025-03-05T00:00Z', 'dateRange.end': '2025-03-06T00:00Z' };
      const expected = await askTopics(range);
      for (const same of [
        { 'dateRange.start': '2025-03-05', 'dateRange.end': '2025-03-06' },
        { ...range, 'dateRange.start': '2025-03-05T01:00:00+01:00' },
        { ...range, 'dateRange.start': '2025-03-05T01:00:00 01:00' },
        { ...range, 'dateRange.end': '2025-03-05T19:00:00-05:00' },
      ])
        deepEqual(await askTopics(same), expected);
    },
  ],
  [
    'seconds of a range are optional',
    async () =>
      deepEqual(
        await askTopics({ 'dateRange.start': '2025-03-05T10:30Z' }),
        await askTopics({ 'dateRange.start': '2025-03-05T10:30:00.000Z' }),
      ),
  ],
  ...(
    [
      ['ALL', [[null, 'cancel', 2, 2, 3]]],
      [
        'HOUR',
        [
          ['2025-03-03T23:00:00Z', 'cancel', 1, 1, 1],
          ['2025-03-04T00:00:00Z', 'cancel', 1, 1, 1],
          ['2025-03-05T10:00:00Z', 'cancel', 1, 1, 1],
        ],
      ],
      [
        'DAY',
        [
          ['2025-03-03T00:00:00Z', 'cancel', 1, 1, 1],
          ['2025-03-04T00:00:00Z', 'cancel', 1, 1, 1],
          ['2025-03-05T00:00:00Z', 'cancel', 1, 1, 1],
        ],
      ],
      ['WEEK', [['2025-03-03T00:00:00Z', 'cancel', 2, 2, 3]]],
      ['MONTH', [['2025-03-01T00:00:00Z', 'cancel', 2, 2, 3]]],
    ] as const
  ).map(
    ([timeGranularity, rows]) =>
      [
        `a range that cuts buckets counts only what is inside, by ${timeGranularity}`,
        async () =>
          deepEqual(
            await askTopics({
              timeGranularity,
              'dateRange.start': '2025-03-03T23:40:00Z',
              'dateRange.end': '2025-03-05T10:30:00Z',
            }),
            rows,
          ),
      ] as const,
  ),
  ...(
    [
      ['2025-03-02', [['2025-03-03T00:00:00Z', 2, 6]]],
      ['2025-03-03', [['2025-03-03T00:00:00Z', 2, 6]]],
      ['2025-03-04', [['2025-03-03T00:00:00Z', 2, 4]]],
      ['2025-03-05', [['2025-03-03T00:00:00Z', 1, 3]]],
      ['2025-03-06', []],
    ] as const
  ).map(
    ([start, rows]) =>
      [
        `weeks are cut exactly by a range from ${start}`,
        async () =>
          deepEqual(
            (
              await askTopics({
                timeGranularity: 'WEEK',
                'dateRange.start': `${start}T00:00Z`,
                'dateRange.end': '2025-03-10T00:00Z',
              })
            ).map(([date, , sessions, , messages]) => [date, sessions, messages]),
            rows,
          ),
      ] as const,
  ),
  [
    'months are cut exactly by a range that begins and ends within one',
    async () =>
      deepEqual(
        await askTopics({
          timeGranularity: 'MONTH',
          'dateRange.start': '2025-03-05T00:00Z',
          'dateRange.end': '2025-04-02T00:00Z',
        }),
        [
          ['2025-03-01T00:00:00Z', 'cancel', 2, 2, 5],
          ['2025-04-01T00:00:00Z', 'password', 1, 2, 4],
        ],
      ),
  ],
  [
    'a range within one hour is exact',
    async () =>
      deepEqual(
        await askTopics({
          timeGranularity: 'WEEK',
          'dateRange.start': '2025-04-01T12:01:00Z',
          'dateRange.end': '2025-04-01T12:02:30Z',
        }),
        [['2025-03-31T00:00:00Z', 'password', 1, 2, 2]],
      ),
  ],
  [
    'a range from year 1 to year 9999 is all time',
    async () =>
      deepEqual(
        await askTopics({ 'dateRange.start': '0001-01-01T00:00Z', 'dateRange.end': '9999-12-31T23:59:59Z' }),
        await askTopics({}),
      ),
  ],
  // Sessions
  [
    'duration is in seconds, with fractions',
    async () => {
      const rows = await ask({
        groupBy: 'SESSION',
        fields: 'duration',
        ids: `${shop.sessions[0]},${shop.sessions[2]}`,
        'sort.field': 'duration',
      });
      deepEqual(
        rows.map(({ fields }) => fields.duration),
        [2700, 0.5],
      );
    },
  ],
  [
    'duration is null with one message',
    async () => {
      const [row] = await ask({ groupBy: 'SESSION', fields: 'duration', ids: shop.sessions[5] ?? '' });
      equal(row?.fields.duration, null);
    },
  ],
  [
    'duration and lastActiveAt are of the bucket when there are buckets',
    async () => {
      const rows = await ask({
        groupBy: 'SESSION',
        fields: 'messages,duration,lastActiveAt',
        timeGranularity: 'DAY',
        ids: shop.sessions[0] ?? '',
      });
      deepEqual(
        rows.map(({ fields }) => fields),
        [
          { messages: 2, duration: 900, lastActiveAt: '2025-03-03T23:45:00.000Z' },
          { messages: 1, duration: null, lastActiveAt: '2025-03-04T00:15:00.000Z' },
        ],
      );
    },
  ],
  ['a session without topic appears among the sessions', async () => ok((await askSessions({})).includes(5))],
  [
    'an end user has the first and last activity of all time',
    async () => {
      const rows = await ask({
        groupBy: 'END_USER',
        fields: 'sessions,messages',
        dimensionFields: 'externalId,createdAt,lastActiveAt',
      });
      deepEqual(
        rows.map(({ dimensions: { endUser }, fields }) => [
          endUser?.externalId,
          endUser?.createdAt,
          endUser?.lastActiveAt,
          fields.sessions,
          fields.messages,
        ]),
        [
          ['eve', '2025-04-01T12:00:00.000Z', '2025-04-02T12:01:00.000Z', 2, 4],
          ['bob', '2025-03-05T10:00:00.000Z', '2025-04-01T12:03:00.000Z', 2, 5],
          ['ada', '2025-03-03T23:30:00.000Z', '2025-03-10T09:00:00.500Z', 2, 5],
        ],
      );
    },
  ],
  [
    "topTopics are the end user's topics",
    async () => {
      const rows = await ask({
        groupBy: 'END_USER',
        fields: 'messages',
        dimensionFields: 'externalId,topTopics',
      });
      deepEqual(
        rows.map(({ dimensions: { endUser } }) => [
          endUser?.externalId,
          endUser?.topTopics?.map(({ id }) => id),
        ]),
        [
          ['eve', [passwordId]],
          ['bob', [cancelId, passwordId]],
          ['ada', [cancelId]],
        ],
      );
    },
  ],
  // Order
  [
    'sessions are ordered by lastActiveAt, the latest first',
    async () => deepEqual(await askSessions({}), [5, 4, 3, 2, 1, 0]),
  ],
  [
    'with buckets the date comes first, ascending',
    async () => deepEqual(await askSessions({ timeGranularity: 'MONTH' }), [2, 1, 0, 5, 4, 3]),
  ],
  ['end users are ordered by lastActiveAt', async () => deepEqual(await askUsers({}), ['eve', 'bob', 'ada'])],
  [
    'sort.field comes before the date',
    async () => {
      const rows = await askTopics({ timeGranularity: 'DAY', 'sort.field': 'messages' });
      deepEqual(
        rows.map(([date, , , , messages]) => [messages, date]),
        [
          [4, '2025-04-01T00:00:00Z'],
          [3, '2025-03-05T00:00:00Z'],
          [2, '2025-03-03T00:00:00Z'],
          [2, '2025-03-10T00:00:00Z'],
          [2, '2025-04-02T00:00:00Z'],
          [1, '2025-03-04T00:00:00Z'],
        ],
      );
    },
  ],
  [
    'sort.order omitted is DESC',
    async () =>
      deepEqual(
        await askSessions({ 'sort.field': 'lastActiveAt' }),
        await askSessions({ 'sort.field': 'lastActiveAt', 'sort.order': 'DESC' }),
      ),
  ],
  [
    'sort.order alone has no effect',
    async () => deepEqual(await askSessions({ 'sort.order': 'ASC' }), await askSessions({})),
  ],
  [
    'createdAt sorts sessions',
    async () =>
      deepEqual(await askSessions({ 'sort.field': 'createdAt', 'sort.order': 'ASC' }), [0, 1, 2, 3, 4, 5]),
  ],
  [
    'createdAt sorts end users',
    async () =>
      deepEqual(await askUsers({ 'sort.field': 'createdAt', 'sort.order': 'ASC' }), ['ada', 'bob', 'eve']),
  ],
  [
    'lastActiveAt sorts end users though it is no metric of theirs',
    async () =>
      deepEqual(await askUsers({ 'sort.field': 'lastActiveAt', 'sort.order': 'ASC' }), ['ada', 'bob', 'eve']),
  ],
  [
    'sorting by a metric that is not in fields works',
    async () => equal((await askSessions({ fields: 'sat', 'sort.field': 'messages' }))[0], 3),
  ],
  ...(['ASC', 'DESC'] as const).map(
    (order) =>
      [
        `nulls come last when sorting ${order}`,
        async () => equal((await askSessions({ 'sort.field': 'duration', 'sort.order': order })).at(-1), 5),
      ] as const,
  ),
  ...(['ASC', 'DESC'] as const).map(
    (order) =>
      [
        `ties are ordered by id when sorting ${order}`,
        async () => {
          const tied = shop.sessions.slice(1);
          const rows = await ask({ ...ALL, ids: tied.join(','), 'sort.field': 'sat', 'sort.order': order });
          deepEqual(
            rows.map(({ dimensions }) => dimensions.session?.id),
            tied.toSorted(),
          );
        },
      ] as const,
  ),
  // Filters
  [
    'ids chooses sessions, in any case',
    async () =>
      deepEqual(
        await askSessions({ ids: `${shop.sessions[1]?.toUpperCase()},${shop.sessions[3]},${UUID}` }),
        [3, 1],
      ),
  ],
  [
    'ids chooses topics',
    async () => deepEqual(await askTopics({ ids: passwordId }), [[null, 'password', 2, 2, 6]]),
  ],
  [
    'ids chooses with buckets and ranges as well',
    async () =>
      deepEqual(
        await askTopics({ ids: passwordId, timeGranularity: 'DAY', 'dateRange.start': '2025-04-02T00:00Z' }),
        [['2025-04-02T00:00:00Z', 'password', 1, 1, 2]],
      ),
  ],
  [
    'ids of nothing gives nothing',
    async () => {
      for (const groupBy of PLAIN_GROUP_BYS) {
        deepEqual(await ask({ groupBy, fields: 'messages', ids: UUID }), []);
      }
    },
  ],
  ['topicIds chooses sessions', async () => deepEqual(await askSessions({ topicIds: cancelId }), [2, 1, 0])],
  [
    'topicIds chooses end users',
    async () => deepEqual(await askUsers({ topicIds: passwordId }), ['eve', 'bob']),
  ],
  [
    'the metrics of a chosen end user stay whole',
    async () => {
      const rows = await ask({
        groupBy: 'END_USER',
        fields: 'sessions,messages',
        topicIds: passwordId,
        'sort.field': 'messages',
      });
      deepEqual(rows[0]?.fields, { sessions: 2, messages: 5 });
    },
  ],
  [
    'several ids in one filter: any of them',
    async () => deepEqual(await askSessions({ topicIds: `${cancelId},${passwordId}` }), [4, 3, 2, 1, 0]),
  ],
  [
    'signalIds chooses sessions',
    async () => {
      deepEqual(await askSessions({ signalIds: await satId() }), [0]);
      deepEqual(await askSessions({ signalIds: await complaintId() }), [1]);
    },
  ],
  [
    'gapIds chooses sessions',
    async () => {
      deepEqual(await askSessions({ gapIds: await gapId('TOOL') }), [1]);
      deepEqual(await askSessions({ gapIds: await gapId('KNOWLEDGE') }), [4]);
    },
  ],
  [
    'clusterIds chooses the sessions and the end users of its topics',
    async () => {
      const topics = await ask({ groupBy: 'TOPIC', fields: 'messages' });
      const clusterIds = topics.find(({ dimensions }) => dimensions.topic?.id === cancelId)?.dimensions.topic
        ?.clusterId;
      const together = topics.flatMap(({ dimensions: { topic } }) =>
        topic?.clusterId === clusterIds ? [topic?.id] : [],
      );
      const topicIds = together.join(',');
      deepEqual(await askSessions({ clusterIds: clusterIds ?? '' }), await askSessions({ topicIds }));
      deepEqual(await askUsers({ clusterIds: clusterIds ?? '' }), await askUsers({ topicIds }));
      deepEqual(await askSessions({ clusterIds: UUID }), []);
    },
  ],
  [
    'endUserIds chooses sessions in which one of them spoke within the range',
    async () => {
      const users = await ask({ groupBy: 'END_USER', fields: 'sessions', dimensionFields: 'externalId' });
      for (const { dimensions, fields } of users) {
        const endUserIds = dimensions.endUser?.id ?? '';
        equal((await askSessions({ endUserIds })).length, fields.sessions);
        deepEqual(await askSessions({ endUserIds, 'dateRange.end': '2025-01-01' }), []);
      }
      deepEqual(await askSessions({ endUserIds: UUID }), []);
    },
  ],
  [
    'externalId chooses an end user',
    async () => {
      deepEqual(await askUsers({ externalId: 'bob' }), ['bob']);
      deepEqual(await askUsers({ externalId: 'Bob' }), []);
    },
  ],
  [
    'titleContains chooses sessions by a part of their title, in any case and with signs as they are',
    async () => {
      const all = await ask({ ...ALL, dimensionFields: 'title' });
      const title = all.find(({ dimensions }) => dimensions.session?.id === shop.sessions[0])?.dimensions
        .session?.title;
      const some = (title ?? '').slice(2, 12);
      const expected = all.filter(({ dimensions }) =>
        dimensions.session?.title?.toLowerCase().includes(some.toLowerCase()),
      ).length;
      ok(expected > 0 && expected < all.length, `${some}: ${expected} of ${all.length}`);
      equal((await askSessions({ titleContains: some.toUpperCase() })).length, expected);
      deepEqual(await askSessions({ titleContains: '%' }), []);
    },
  ],
  [
    'textContains chooses sessions by a part of their title or summary',
    async () => {
      const all = await ask({ ...ALL, dimensionFields: 'title,summary' });
      const { title, summary } =
        all.find(({ dimensions }) => dimensions.session?.id === shop.sessions[0])?.dimensions.session ?? {};
      for (const some of [(title ?? '').slice(2, 12), (summary ?? '').slice(-12)]) {
        const expected = all.filter(({ dimensions: { session } }) =>
          [session?.title, session?.summary].some((text) => text?.toLowerCase().includes(some.toLowerCase())),
        ).length;
        ok(expected > 0 && some.trim() !== '', some);
        equal((await askSessions({ textContains: some.toUpperCase() })).length, expected, some);
      }
      deepEqual(await askSessions({ textContains: '%' }), []);
    },
  ],
  [
    'several filters: all of them',
    async () => {
      deepEqual(await askSessions({ topicIds: cancelId, signalIds: await satId() }), [0]);
      deepEqual(await askSessions({ topicIds: passwordId, signalIds: await satId() }), []);
    },
  ],
  [
    'a session has a signal when it occurs within the range',
    async () => {
      const signalIds = await satId();
      deepEqual(await askSessions({ signalIds, 'dateRange.end': '2025-03-04T00:15:00Z' }), []);
      deepEqual(await askSessions({ signalIds, 'dateRange.end': '2025-03-04T00:15:01Z' }), [0]);
    },
  ],
  [
    'with buckets a session that has the signal in the range shows all its buckets',
    async () => deepEqual(await askSessions({ signalIds: await satId(), timeGranularity: 'DAY' }), [0, 0]),
  ],
  [
    'repeatedRequestIds chooses sessions',
    async () => deepEqual(await askSessions({ repeatedRequestIds: await repeatedRequestId() }), [3]),
  ],
  [
    'repeatedRequestIds of none chooses none',
    async () => deepEqual(await askSessions({ repeatedRequestIds: UUID }), []),
  ],
  ...(['TOOL', 'KNOWLEDGE'] as const).map(
    (gapType) =>
      [
        `gapType ${gapType} chooses gaps`,
        async () => {
          const rows = await ask({ groupBy: 'GAP', fields: 'messages', gapType });
          deepEqual(
            rows.map(({ dimensions, fields }) => [dimensions.gap?.gapType, fields.messages]),
            [[gapType, 1]],
          );
        },
      ] as const,
  ),
  [
    'language chooses sessions',
    async () => {
      ok((await askSessions({ language: 'en' })).includes(0));
      deepEqual(await askSessions({ language: 'fi' }), []);
      deepEqual(await askSessions({ language: 'EN-us' }), await askSessions({ language: 'en' }));
    },
  ],
  ['minMessages is inclusive', async () => deepEqual(await askSessions({ minMessages: 4 }), [3])],
  ['maxMessages is inclusive', async () => deepEqual(await askSessions({ maxMessages: 1 }), [5])],
  [
    'both bounds of one metric hold together',
    async () => deepEqual(await askSessions({ minMessages: 3, maxMessages: 3 }), [1, 0]),
  ],
  [
    'a bound above the other gives nothing',
    async () => deepEqual(await askSessions({ minMessages: 4, maxMessages: 3 }), []),
  ],
  [
    'minSat and maxDsat bound signals',
    async () => deepEqual(await askSessions({ minSat: 1, maxDsat: 0 }), [0]),
  ],
  ['minDsat bounds signals', async () => deepEqual(await askSessions({ minDsat: 1 }), [3, 1])],
  ['maxSat 0 keeps the others', async () => deepEqual(await askSessions({ maxSat: 0 }), [5, 4, 3, 2, 1])],
  [
    'maxRepeatedRequests 0 keeps those without',
    async () => deepEqual(await askSessions({ maxRepeatedRequests: 0 }), [5, 4, 2, 1, 0]),
  ],
  [
    'minRepeatedRequests 1 leaves out those without',
    async () => deepEqual(await askSessions({ minRepeatedRequests: 1 }), [3]),
  ],
  [
    'the largest bound is accepted',
    async () => {
      deepEqual(await askSessions({ minMessages: Number.MAX_SAFE_INTEGER }), []);
      equal((await askSessions({ maxMessages: Number.MAX_SAFE_INTEGER })).length, 6);
    },
  ],
  ['minSessions bounds topics', async () => equal((await askTopics({ minSessions: 3 })).length, 1)],
  [
    'a bound is on the value of the row, within its bucket',
    async () =>
      deepEqual(await askTopics({ timeGranularity: 'DAY', minMessages: 3 }), [
        ['2025-03-05T00:00:00Z', 'cancel', 1, 1, 3],
        ['2025-04-01T00:00:00Z', 'password', 1, 2, 4],
      ]),
  ],
  [
    'a bound counts a metric that is not in fields',
    async () => deepEqual(await askSessions({ fields: 'sat', minMessages: 4 }), [3]),
  ],
  [
    'total counts the rows that bounds leave',
    async () => {
      const { pagination } = await client.query({
        instanceId: shop.instanceId,
        ...ALL,
        minMessages: 3,
        limit: 1,
      });
      equal(pagination.total, 3);
    },
  ],
  // Late messages
  [
    'a backdated message counts in its own bucket and moves the start of the session',
    async () => {
      const late = await fill(client, [
        [user(CANCEL[0], '2025-03-12T10:00:00Z'), assistant(DONE, '2025-03-12T10:05:00Z')],
      ]);
      const { position } = await client.ingest({
        instanceId: late.instanceId,
        sessionId: late.sessions[0],
        messages: [user(CANCEL[1], '2025-03-10T10:00:00Z')],
      });
      const parameters = { instanceId: late.instanceId, groupBy: 'SESSION', fields: 'messages,duration' };
      deepEqual(
        (await client.rows(parameters, position)).map(({ fields }) => fields),
        [{ messages: 3, duration: 2 * 86_400 + 300 }],
      );
      deepEqual(
        (await client.rows({ ...parameters, timeGranularity: 'DAY' })).map(({ dimensions, fields }) => [
          dimensions.date,
          fields.messages,
        ]),
        [
          ['2025-03-10T00:00:00Z', 1],
          ['2025-03-12T00:00:00Z', 2],
        ],
      );
    },
  ],
  [
    'sessions and users are counted once over a range, also when messages come backdated',
    async () => {
      const late = await fill(client, [
        CANCEL.slice(0, 3).map((content) => user(content, '2025-03-12T10:00:00Z')),
      ]);
      const { position } = await client.ingest({
        instanceId: late.instanceId,
        sessionId: late.sessions[0],
        messages: [user(CANCEL[3], '2025-03-10T10:00:00Z'), user(CANCEL[0], '2025-03-11T10:00:00Z')],
      });
      const parameters = { instanceId: late.instanceId, ...TOPIC };
      const counted = async (more: Parameters): Promise<unknown[]> =>
        (await client.rows({ ...parameters, ...more }, position)).map(({ fields }) => fields);
      deepEqual(await counted({}), [{ sessions: 1, users: 1, messages: 5 }]);
      deepEqual(await counted({ 'dateRange.start': '2025-03-10T10:00:00.5Z' }), [
        { sessions: 1, users: 1, messages: 4 },
      ]);
      deepEqual(await counted({ timeGranularity: 'WEEK' }), [{ sessions: 1, users: 1, messages: 5 }]);
      equal((await counted({ timeGranularity: 'DAY' })).length, 3);
    },
  ],
  // Read your own write
  [
    'a query that waits for the position of an ingest contains it',
    async () => {
      let { instanceId, position } = await client.ingest({ messages: [user('Hello', '2025-03-01T10:00Z')] });
      for (let sessions = 1; sessions <= 5; sessions += 1) {
        equal((await client.rows({ instanceId, ...ALL }, position)).length, sessions);
        ({ position } = await client.ingest({ instanceId, messages: [user('Hello', '2025-03-01T10:00Z')] }));
      }
    },
  ],
  ...['x', '-1', '1.5', '', '9007199254740992', '1, 2'].map(
    (position) =>
      [
        `X-Wait-For-Position must be a position: "${position}" is none`,
        async () => {
          const answer = await client.get(
            { instanceId: shop.instanceId, ...ALL },
            { 'x-wait-for-position': position },
          );
          deepEqual(pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR')), ['X-Wait-For-Position']);
        },
      ] as const,
  ),
  [
    'lastProcessedAt never goes backwards',
    async () => {
      let { instanceId, position } = await client.ingest({ messages: [user('Hello', '2025-03-01T10:00Z')] });
      let last = '';
      for (let round = 0; round < 4; round += 1) {
        const { lastProcessedAt } = await client.query({ instanceId, ...ALL }, position);
        ok(lastProcessedAt !== null && lastProcessedAt > last, `${lastProcessedAt} after ${last}`);
        last = lastProcessedAt;
        ({ position } = await client.ingest({ instanceId, messages: [user('Hello', '2020-03-01T10:00Z')] }));
      }
    },
  ],
  [
    'lastProcessedAt is of processing, not of event time',
    async () => {
      const { lastProcessedAt } = await client.query({ instanceId: shop.instanceId, ...ALL });
      const at = Date.parse(lastProcessedAt ?? '');
      ok(at >= STARTED_AT && at <= Date.now());
    },
  ],
  // The address
  [
    'with and without the trailing slash the route is the same',
    async () => {
      const search = toSearch({ instanceId: shop.instanceId, ...ALL });
      deepEqual(
        (await client.send(`/v1/query?${search}`)).body,
        (await client.send(`/v1/query/?${search}`)).body,
      );
    },
  ],
  [
    'names and values may be percent-encoded',
    async () => {
      const answer = await client.send(
        `/v1/query/?instance%49d=${shop.instanceId}&groupBy=SESSION&fields=messages%2Csat&sort%2Efield=sat`,
      );
      equal(answer.status, 200);
    },
  ],
  [
    'five hundred ids fit in the address',
    async () => {
      const ids = [...Array.from({ length: 500 }, () => randomUUID()), shop.sessions[0]].join(',');
      deepEqual(await askSessions({ ids }), [0]);
    },
  ],
  [
    'nobody waits for positions that the stream does not have, so they take no place from others',
    async () => {
      const { instanceId, position } = await stranger.ingest({ messages: [{ content: 'Hi', userId: 'a' }] });
      const headers = { 'x-wait-for-position': String(position + 1_000_000) };
      // More than may wait (QUERY_WAITERS).
      const far = Array.from({ length: 280 }, () =>
        client.get({ instanceId: shop.instanceId, ...ALL }, headers),
      );
      const [read] = await Promise.all([stranger.rows({ instanceId, ...ALL }, position), ...far]);
      equal(read.length, 1);
      for (const answer of await Promise.all(far))
        deepEqual([answer.status, answer.headers.get('x-wait-result')], [200, 'timeout']);
    },
  ],
  [
    'HEAD answers like GET without a body',
    async () => {
      const answer = await client.send(`/v1/query/?${toSearch({ instanceId: shop.instanceId, ...ALL })}`, {
        method: 'HEAD',
      });
      deepEqual([answer.status, answer.body], [200, null]);
    },
  ],
];

describe('query', { concurrency: 16 }, () => {
  for (const [rule, check] of RULES) it(rule, check);
});
