/** What is derived from messages: roles, end users, topics, signals, gaps, repeated requests; one rule per row. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Client, type Row } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  fill,
  GREETING,
  PASSWORD,
  THANKS,
  turn,
  UNKNOWN,
  user,
  type Filled,
  type Message,
} from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
});
after(() => service?.stop());

/** The `n`-th minute of a day. */
const at = (n: number): string => new Date(Date.UTC(2025, 2, 4, 9, n)).toISOString();

const FIELDS = {
  TOPIC: 'sessions,users,messages,sat,dsat',
  TOPIC_CLUSTER: 'sessions,users,messages,sat,dsat',
  CSAT_DSAT: 'sessions,users,messages',
  GAP: 'sessions,users,messages',
  REPEATED_REQUEST: 'sessions,users,messages',
  SESSION: 'messages,sat,dsat,repeatedRequests',
  END_USER: 'sessions,messages,sat,dsat,repeatedRequests',
} as const;

function rowsOf(
  filled: Pick<Filled, 'instanceId' | 'position'>,
  groupBy: keyof typeof FIELDS,
): Promise<Row[]> {
  return client.rows(
    {
      instanceId: filled.instanceId,
      groupBy,
      fields: FIELDS[groupBy],
      ...(groupBy === 'END_USER' ? { dimensionFields: 'externalId' } : {}),
    },
    filled.position,
  );
}

/** `{externalId: messages}` */
async function messagesByUser(filled: Filled): Promise<Record<string, number | undefined>> {
  const rows = await rowsOf(filled, 'END_USER');
  return Object.fromEntries(
    rows.map(({ dimensions, fields }) => [dimensions.endUser?.externalId ?? '', fields.messages]),
  );
}

async function onlySession(filled: Filled): Promise<Row['fields']> {
  const rows = await rowsOf(filled, 'SESSION');
  equal(rows.length, 1);
  return rows[0]?.fields ?? {};
}

async function onlyTopic(filled: Filled): Promise<Row['fields']> {
  const rows = await rowsOf(filled, 'TOPIC');
  equal(rows.length, 1, JSON.stringify(rows));
  return rows[0]?.fields ?? {};
}

/** Occurrences of each signal by type. */
async function signals(filled: Filled): Promise<{ SAT: number; DSAT: number }> {
  const counts = { SAT: 0, DSAT: 0 };
  for (const { dimensions, fields } of await rowsOf(filled, 'CSAT_DSAT')) {
    counts[dimensions.csatDsatSignal?.signalType ?? 'SAT'] += fields.messages ?? 0;
  }
  return counts;
}

/** One session of each of the requests, with a reply. */
const asked = (requests: readonly string[], userId?: string): Message[][] =>
  requests.map((content, index) => [
    user(content, at(60 * index), userId ?? `user ${index}`),
    assistant(DONE, at(60 * index + 1)),
  ]);

const THREE = CANCEL.slice(0, 3);

const RULES: readonly (readonly [rule: string, check: () => Promise<void>])[] = [
  // Roles
  ...['user', 'human', 'customer', 'end_user', 'User', 'HUMAN', 'End-User', 'visitor'].map(
    (role) =>
      [
        `role ${role} is a user turn`,
        async () => {
          const filled = await fill(client, [[{ ...turn(role, THANKS, at(0)), userId: 'ada' }]]);
          deepEqual(await messagesByUser(filled), { ada: 1 });
          equal((await signals(filled)).SAT > 0, true);
        },
      ] as const,
  ),
  ...['assistant', 'ai', 'bot', 'agent', 'model', 'AI', 'Assistant', 'Operator'].map(
    (role) =>
      [
        `role ${role} is an assistant turn`,
        async () => {
          const filled = await fill(client, [
            [user(CANCEL[0], at(0)), { ...turn(role, CANNOT, at(1)), userId: 'the assistant' }],
          ]);
          deepEqual(await messagesByUser(filled), { ada: 2 });
          equal((await rowsOf(filled, 'GAP')).length, 1);
        },
      ] as const,
  ),
  ...['system', 'tool', 'function', 'developer', '', 'usr', '🤖', 'x'.repeat(1024)].map(
    (role) =>
      [
        `role "${role.slice(0, 20)}" is counted, not analysed`,
        async () => {
          const filled = await fill(client, [
            [CANCEL[0], CANCEL[1], CANCEL[2], THANKS, CANNOT].map((content, index) => ({
              ...turn(role, content, at(index)),
              userId: 'nobody',
            })),
          ]);
          deepEqual(await onlySession(filled), { messages: 5, sat: 0, dsat: 0, repeatedRequests: 0 });
          for (const groupBy of ['TOPIC', 'CSAT_DSAT', 'GAP', 'REPEATED_REQUEST', 'END_USER'] as const) {
            deepEqual(await rowsOf(filled, groupBy), []);
          }
        },
      ] as const,
  ),
  [
    'a message without role is a user turn',
    async () => {
      const filled = await fill(client, [
        [{ content: THANKS, userId: 'ada', metadata: { createdAt: at(0) } }],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 1 });
    },
  ],
  // Whose userId counts
  [
    "an assistant's userId is no end user",
    async () => {
      const filled = await fill(client, [
        [user('Hi', at(0)), { ...assistant(DONE, at(1)), userId: 'assistant' }],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 2 });
    },
  ],
  [
    'a greeting before the first user turn belongs to its author',
    async () => {
      const filled = await fill(client, [[assistant(GREETING, at(0)), user(CANCEL[0], at(1))]]);
      deepEqual(await messagesByUser(filled), { ada: 2 });
    },
  ],
  [
    'also when the greeting came in a request of its own, processed before',
    async () => {
      const filled = await fill(client, [[turn('system', 'Be kind.', at(0)), assistant(GREETING, at(1))]]);
      deepEqual(await messagesByUser(filled), {});
      const { position } = await client.ingest({
        instanceId: filled.instanceId,
        sessionId: filled.sessions[0],
        messages: [user(CANCEL[0], at(2)), assistant(DONE, at(3))],
      });
      deepEqual(await messagesByUser({ ...filled, position }), { ada: 4 });
    },
  ],
  [
    'a session with several users: each turn to its author, each reply to the author before it',
    async () => {
      const filled = await fill(client, [
        [
          assistant(GREETING, at(0)),
          user('Hi', at(1), 'ada'),
          assistant(DONE, at(2)),
          user('Hi', at(3), 'bob'),
          turn('tool', '{}', at(4)),
          assistant(DONE, at(5)),
          user('Hi', at(6), 'ada'),
        ],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 4, bob: 3 });
      const rows = await rowsOf(filled, 'END_USER');
      deepEqual(
        rows.map(({ fields }) => fields.sessions),
        [1, 1],
      );
    },
  ],
  [
    'a session with several users counts once for each of them in users',
    async () => {
      const filled = await fill(client, [
        [user(CANCEL[0], at(0), 'ada'), user(CANCEL[1], at(1), 'bob'), user(CANCEL[2], at(2), 'eve')],
      ]);
      deepEqual(
        { sessions: (await onlyTopic(filled)).sessions, users: (await onlyTopic(filled)).users },
        { sessions: 1, users: 3 },
      );
    },
  ],
  [
    'the author before is in stream order, not in order of event time',
    async () => {
      const filled = await fill(client, [
        [user('Hi', at(5), 'ada'), user('Hi', at(1), 'bob'), assistant(DONE, at(6))],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 1, bob: 2 });
    },
  ],
  [
    'a user turn without userId belongs to no end user, nor does the reply to it',
    async () => {
      const filled = await fill(client, [
        [
          user(CANCEL[0], at(0), null),
          assistant(DONE, at(1)),
          user('Hi', at(2), 'ada'),
          assistant(DONE, at(3)),
        ],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 2 });
      equal((await onlySession(filled)).messages, 4);
    },
  ],
  [
    'a greeting before a first user turn without userId belongs to no end user',
    async () => {
      const filled = await fill(client, [
        [assistant(GREETING, at(0)), user('Hi', at(1), null), user('Hi', at(2), 'ada')],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 1 });
    },
  ],
  [
    'turns without userId count in messages and sessions of a topic, not in users',
    async () => {
      const filled = await fill(client, [THREE.map((content, index) => user(content, at(index), null))]);
      const { sessions, users, messages } = await onlyTopic(filled);
      deepEqual({ sessions, users, messages }, { sessions: 1, users: 0, messages: 3 });
    },
  ],
  [
    'they count no user within a range either',
    async () => {
      const filled = await fill(client, [THREE.map((content, index) => user(content, at(index), null))]);
      const rows = await client.rows(
        {
          instanceId: filled.instanceId,
          groupBy: 'TOPIC',
          fields: 'sessions,users,messages',
          'dateRange.start': at(1),
        },
        filled.position,
      );
      deepEqual(
        rows.map(({ fields }) => fields),
        [{ sessions: 1, users: 0, messages: 2 }],
      );
    },
  ],
  [
    'the same userId in another session is the same end user, in another case another one',
    async () => {
      const filled = await fill(client, [
        [user('Hi', at(0), 'ada')],
        [user('Hi', at(1), 'ada')],
        [user('Hi', at(2), 'Ada')],
      ]);
      deepEqual(await messagesByUser(filled), { ada: 2, Ada: 1 });
    },
  ],
  [
    'the same userId in another instance is another end user',
    async () => {
      const ids = await Promise.all(
        [0, 1].map(async () => {
          const [row] = await rowsOf(await fill(client, [[user('Hi', at(0), 'ada')]]), 'END_USER');
          return row?.dimensions.endUser?.id ?? '';
        }),
      );
      equal(new Set(ids).size, 2);
      for (const id of ids) equal(id[14], '5');
    },
  ],
  [
    'the messages of a session add up to those of its users',
    async () => {
      const filled = await fill(client, [
        [
          assistant(GREETING, at(0)),
          ...(asked(CANCEL, 'ada')[0] ?? []),
          ...(asked(PASSWORD, 'bob')[1] ?? []),
        ],
      ]);
      const users = Object.values(await messagesByUser(filled));
      equal(
        users.reduce<number>((sum, messages) => sum + (messages ?? 0), 0),
        (await onlySession(filled)).messages,
      );
    },
  ],
  // Topics
  [
    'a topic is not there with two request turns, and from the third on with all of them',
    async () => {
      const two = await fill(client, asked(CANCEL.slice(0, 2)));
      deepEqual(await rowsOf(two, 'TOPIC'), []);
      deepEqual(await rowsOf(two, 'TOPIC_CLUSTER'), []);
      const { position } = await client.ingest({
        instanceId: two.instanceId,
        messages: [user(CANCEL[2], at(180), 'user 2')],
      });
      const { sessions, users, messages } = await onlyTopic({ ...two, position });
      deepEqual({ sessions, users, messages }, { sessions: 3, users: 3, messages: 5 });
    },
  ],
  [
    'three request turns of one session are enough for a topic',
    async () => {
      const filled = await fill(client, [THREE.map((content, index) => user(content, at(index)))]);
      equal((await onlyTopic(filled)).messages, 3);
    },
  ],
  [
    'a topic has an id, a name and a cluster that TOPIC_CLUSTER knows',
    async () => {
      const filled = await fill(client, asked(THREE));
      const [topic] = await rowsOf(filled, 'TOPIC');
      const [cluster] = await rowsOf(filled, 'TOPIC_CLUSTER');
      match(topic?.dimensions.topic?.name ?? '', /cancel|booking/i);
      equal(topic?.dimensions.topic?.id[14], '5');
      equal(topic?.dimensions.topic?.clusterId, cluster?.dimensions.cluster?.id);
      deepEqual(cluster?.fields, topic?.fields);
    },
  ],
  [
    'different requests are different topics',
    async () => {
      const filled = await fill(client, [...asked(THREE), ...asked(PASSWORD.slice(0, 3))]);
      deepEqual(
        (await rowsOf(filled, 'TOPIC')).map(({ fields }) => [fields.sessions, fields.messages]),
        [
          [3, 6],
          [3, 6],
        ],
      );
    },
  ],
  [
    'the reply, thanks and a complaint belong to the topic under discussion',
    async () => {
      const filled = await fill(client, [
        ...asked(CANCEL.slice(0, 2)),
        [
          assistant(GREETING, at(200)),
          user(CANCEL[2], at(201), 'ada'),
          assistant(DONE, at(202)),
          user(COMPLAINT, at(203), 'ada'),
          assistant(DONE, at(204)),
          user(THANKS, at(205), 'ada'),
        ],
      ]);
      const { messages, sat, dsat } = await onlyTopic(filled);
      // 4 of the first two sessions; of the third all but the greeting, which came before any topic.
      equal(messages, 9);
      const counted = await signals(filled);
      ok(counted.SAT > 0 && counted.DSAT > 0, JSON.stringify(counted));
      deepEqual([sat, dsat], [counted.SAT, counted.DSAT]);
    },
  ],
  [
    'a session that goes from one topic to another counts in both, each message once',
    async () => {
      const filled = await fill(client, [
        ...asked(CANCEL.slice(0, 2)),
        ...asked(PASSWORD.slice(0, 2)),
        [
          user(CANCEL[2], at(200)),
          assistant(DONE, at(201)),
          user(PASSWORD[2], at(202)),
          assistant(DONE, at(203)),
          user(THANKS, at(204)),
        ],
      ]);
      const rows = await rowsOf(filled, 'TOPIC');
      deepEqual(rows.map(({ fields }) => [fields.sessions, fields.messages]).sort(), [
        [3, 6],
        [3, 7],
      ]);
      const thanked = rows.find(({ fields }) => fields.messages === 7);
      match(thanked?.dimensions.topic?.name ?? '', /password/i);
      ok((thanked?.fields.sat ?? 0) > 0);
      equal(rows.find(({ fields }) => fields.messages === 6)?.fields.sat, 0);
    },
  ],
  [
    'small talk is no topic, but the session is there',
    async () => {
      const filled = await fill(
        client,
        ['Hello!', 'Hi there', 'Good morning', 'Hey', 'How are you?'].map((content, index) => [
          user(content, at(index)),
        ]),
      );
      deepEqual(await rowsOf(filled, 'TOPIC'), []);
      equal((await rowsOf(filled, 'SESSION')).length, 5);
    },
  ],
  [
    'thanks without a topic count in the session and the signal, in no topic',
    async () => {
      const filled = await fill(client, [
        [user(THANKS, at(0))],
        [user(THANKS, at(1))],
        [user(THANKS, at(2))],
      ]);
      deepEqual(await rowsOf(filled, 'TOPIC'), []);
      equal((await signals(filled)).SAT, 3);
    },
  ],
  [
    'ids of topics, clusters and signals do not change as messages come',
    async () => {
      const filled = await fill(client, [...asked(THREE), [user(THANKS, at(200))]]);
      const ids = async (position: number): Promise<(string | undefined)[]> => [
        (await rowsOf({ ...filled, position }, 'TOPIC'))[0]?.dimensions.topic?.id,
        (await rowsOf({ ...filled, position }, 'CSAT_DSAT'))[0]?.dimensions.csatDsatSignal?.id,
      ];
      const first = await ids(filled.position);
      const { position } = await client.ingest({
        instanceId: filled.instanceId,
        messages: [user(CANCEL[3], at(300)), user(THANKS, at(301))],
      });
      deepEqual(await ids(position), first);
    },
  ],
  // Signals
  [
    'a signal appears from its first occurrence, complete',
    async () => {
      const filled = await fill(client, [[user(THANKS, at(0))]]);
      const [row] = await rowsOf(filled, 'CSAT_DSAT');
      equal(row?.dimensions.csatDsatSignal?.signalType, 'SAT');
      deepEqual(row?.fields, { sessions: 1, users: 1, messages: 1 });
    },
  ],
  [
    'messages of a signal are occurrences: more than one per session',
    async () => {
      const filled = await fill(client, [
        [user(THANKS, at(0)), assistant(DONE, at(1)), user(THANKS, at(2))],
        [user(THANKS, at(3), 'bob')],
      ]);
      const [row] = await rowsOf(filled, 'CSAT_DSAT');
      deepEqual(row?.fields, { sessions: 2, users: 2, messages: 3 });
    },
  ],
  [
    'a session counts its signals',
    async () => {
      const filled = await fill(client, [
        [user(CANCEL[0], at(0)), assistant(DONE, at(1)), user(COMPLAINT, at(2)), user(THANKS, at(3))],
      ]);
      const { sat, dsat } = await onlySession(filled);
      deepEqual({ SAT: sat, DSAT: dsat }, await signals(filled));
    },
  ],
  [
    'what the assistant says is no signal',
    async () => {
      const filled = await fill(client, [
        [user(CANCEL[0], at(0)), assistant(THANKS, at(1)), assistant(COMPLAINT, at(2))],
      ]);
      deepEqual(await rowsOf(filled, 'CSAT_DSAT'), []);
    },
  ],
  [
    'absence of a complaint is no satisfaction',
    async () => {
      const filled = await fill(client, asked(THREE));
      deepEqual(await rowsOf(filled, 'CSAT_DSAT'), []);
    },
  ],
  // Gaps
  ...(
    [
      ['TOOL', CANNOT],
      ['KNOWLEDGE', UNKNOWN],
    ] as const
  ).map(
    ([gapType, content]) =>
      [
        `a ${gapType} gap appears from its first occurrence, complete`,
        async () => {
          const filled = await fill(client, [[user(CANCEL[0], at(0)), assistant(content, at(1))]]);
          const rows = await rowsOf(filled, 'GAP');
          equal(rows.length, 1);
          equal(rows[0]?.dimensions.gap?.gapType, gapType);
          ok(rows[0]?.dimensions.gap?.description);
          deepEqual(rows[0]?.fields, { sessions: 1, users: 1, messages: 1 });
        },
      ] as const,
  ),
  [
    'messages of a gap are occurrences; the same inability over sessions is one gap',
    async () => {
      const filled = await fill(client, [
        [user(CANCEL[0], at(0)), assistant(CANNOT, at(1)), user(CANCEL[1], at(2)), assistant(CANNOT, at(3))],
        [user(CANCEL[1], at(4), 'bob'), assistant(CANNOT, at(5))],
      ]);
      deepEqual(
        (await rowsOf(filled, 'GAP')).map(({ fields }) => fields),
        [{ sessions: 2, users: 2, messages: 3 }],
      );
    },
  ],
  [
    'a gap names the topics concerned',
    async () => {
      const filled = await fill(client, [
        ...asked(THREE),
        [user(CANCEL[3], at(300)), assistant(CANNOT, at(301))],
      ]);
      const [gap] = await rowsOf(filled, 'GAP');
      const [topic] = await rowsOf(filled, 'TOPIC');
      deepEqual(gap?.dimensions.gap?.topics, [
        { id: topic?.dimensions.topic?.id, name: topic?.dimensions.topic?.name },
      ]);
    },
  ],
  [
    'what a user cannot do is no gap',
    async () => {
      const filled = await fill(client, [[user(CANNOT, at(0)), user(UNKNOWN, at(1))]]);
      deepEqual(await rowsOf(filled, 'GAP'), []);
    },
  ],
  // Repeated requests
  [
    'a request asked again in a session after an answer is a repeated request',
    async () => {
      const filled = await fill(client, [
        [user(CANCEL[0], at(0)), assistant(DONE, at(1)), user(CANCEL[0], at(2)), assistant(DONE, at(3))],
      ]);
      deepEqual(
        (await rowsOf(filled, 'REPEATED_REQUEST')).map(({ fields }) => fields),
        [{ sessions: 1, users: 1, messages: 1 }],
      );
      equal((await onlySession(filled)).repeatedRequests, 1);
      const [ada] = await rowsOf(filled, 'END_USER');
      equal(ada?.fields.repeatedRequests, 1);
    },
  ],
  [
    'the same request in two sessions is no repeated request',
    async () => {
      const filled = await fill(client, asked([CANCEL[0], CANCEL[0]], 'ada'));
      deepEqual(await rowsOf(filled, 'REPEATED_REQUEST'), []);
    },
  ],
  [
    'thanks said twice are no repeated request',
    async () => {
      const filled = await fill(client, [
        [user(THANKS, at(0)), assistant(DONE, at(1)), user(THANKS, at(2)), assistant(DONE, at(3))],
      ]);
      deepEqual(await rowsOf(filled, 'REPEATED_REQUEST'), []);
    },
  ],
  // Sessions
  [
    'language is that of the user turns, null with too little text',
    async () => {
      const filled = await fill(client, [
        [user('Necesito cambiar la fecha de mi vuelo a la semana que viene, por favor.', at(0))],
        [user('ok', at(1))],
        [
          user('Ich möchte meine Bestellung von letzter Woche gerne zurückgeben.', at(2)),
          assistant('We are sorry to hear that you want to return your order.', at(3)),
        ],
      ]);
      const rows = await client.rows(
        {
          instanceId: filled.instanceId,
          groupBy: 'SESSION',
          fields: 'messages',
          dimensionFields: 'language',
        },
        filled.position,
      );
      deepEqual(
        rows.map(({ dimensions }) => dimensions.session?.language),
        ['de', null, 'es'],
      );
    },
  ],
  [
    'the topics of a session are those of its messages',
    async () => {
      const filled = await fill(client, asked(THREE));
      const [topic] = await rowsOf(filled, 'TOPIC');
      const rows = await client.rows(
        { instanceId: filled.instanceId, groupBy: 'SESSION', fields: 'messages', dimensionFields: 'topics' },
        filled.position,
      );
      for (const { dimensions } of rows) {
        deepEqual(
          dimensions.session?.topics?.map(({ id }) => id),
          [topic?.dimensions.topic?.id],
        );
      }
    },
  ],
  [
    'a session has a title and a summary of what was asked',
    async () => {
      const filled = await fill(client, asked([CANCEL[0]]));
      const [row] = await client.rows(
        {
          instanceId: filled.instanceId,
          groupBy: 'SESSION',
          fields: 'messages',
          dimensionFields: 'title,summary',
        },
        filled.position,
      );
      match(row?.dimensions.session?.title ?? '', /cancel.*booking/i);
      match(row?.dimensions.session?.summary ?? '', /cancel.*booking/i);
    },
  ],
  [
    'messages sent in one request or one by one give the same answers',
    async () => {
      const conversation = [
        assistant(GREETING, at(0)),
        user(CANCEL[0], at(1)),
        assistant(CANNOT, at(2)),
        user(CANCEL[1], at(3)),
        assistant(DONE, at(4)),
        user(CANCEL[2], at(5)),
        user(THANKS, at(6)),
      ];
      const whole = await fill(client, [conversation]);
      const sessionId = randomUUID();
      let last = await client.ingest({ sessionId, messages: conversation.slice(0, 1) });
      for (const message of conversation.slice(1))
        last = await client.ingest({ sessionId, messages: [message] });
      for (const groupBy of Object.keys(FIELDS) as (keyof typeof FIELDS)[]) {
        const [one, other] = await Promise.all([rowsOf(whole, groupBy), rowsOf(last, groupBy)]);
        ok(one.length > 0);
        deepEqual(
          one.map(({ fields }) => fields),
          other.map(({ fields }) => fields),
        );
      }
    },
  ],
];

// What is sent at the same time is folded together: one by one, each message costs a fold.
describe('analysis', { concurrency: 24 }, () => {
  for (const [rule, check] of RULES) it(rule, check);
});
