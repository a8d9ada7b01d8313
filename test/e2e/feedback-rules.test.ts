/** Feedback of end users, from the request to the counts (docs/api.md, POST /v1/feedback). */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { v7 } from 'uuid';
import { kappaOf } from '../../src/domain/checks.ts';
import { overviewResponseSchema, type Agreement } from '../../src/query/overview/overview-schema.ts';
import { subjectLineSchema } from '../../src/query/subject-schema.ts';
import { sessionResponseSchema } from '../../src/query/session-schema.ts';
import { Undertone } from '../../src/doors/client/index.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import { assistant, CANCEL, COMPLAINT, DONE, fill, THANKS, user } from '../support/conversations.ts';
import { runScript } from '../support/processes.ts';
import { isLong } from '../support/long.ts';
import {
  shareTestService,
  startTestService,
  type TestProject,
  type TestService,
} from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;

before(async () => {
  // The long form ends its worker, and rebuilds its views.
  service = isLong ? await startTestService() : await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
});
after(() => service?.stop());

const AT = '2026-03-02T10:00:05Z';
const chat = () => [
  user(CANCEL[0], '2026-03-02T10:00:00Z', 'ada'),
  assistant(DONE, AT),
  user(THANKS, '2026-03-02T10:01:00Z', 'ada'),
];

async function give(body: object, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const {
    status,
    body: answer,
    headers: sent,
  } = await client.send('/v1/feedback', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  equal(status, 200, JSON.stringify(answer));
  return Number(sent.get('x-stream-position'));
}

async function refused(body: object, status: number, code: string): Promise<string> {
  const answer = await client.send('/v1/feedback', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return faultOf(answer, status, code).message;
}

/** Messages with each signal, and what the sessions have of satisfaction. */
async function counted(instanceId: string, position: number): Promise<unknown> {
  const asked = { groupBy: 'CSAT_DSAT', fields: 'messages,sessions', dimensionFields: 'source' };
  const signals = await client.query({ instanceId, ...asked }, position);
  const given = await client.query({ instanceId, ...asked, signalSource: 'GIVEN' }, position);
  const sessions = await client.query({ instanceId, groupBy: 'SESSION', fields: 'sat,dsat' }, position);
  const rows = (page: typeof signals) =>
    page.elements.map(({ dimensions: { csatDsatSignal: signal }, fields }) => [
      signal?.name,
      signal?.source,
      fields['messages'],
    ]);
  deepEqual(
    rows(given),
    rows(signals).filter(([, source]) => source === 'GIVEN'),
  );
  return [rows(signals).toSorted(), sessions.elements.map(({ fields }) => [fields['sat'], fields['dsat']])];
}

async function feedbackOf(instanceId: string, sessionId: string, position: number): Promise<unknown[]> {
  const { messages } = await client.session(sessionId, { instanceId }, position);
  return messages.map(({ feedback }) => feedback);
}

const CODES = new Map([
  [400, 'VALIDATION_ERROR'],
  [404, 'NOT_FOUND'],
  [409, 'CONFLICT'],
]);

const NONE = { up: 0, down: 0 };
const THANKED = ['Gratitude', 'INFERRED', 1];

describe('feedback', () => {
  it('counts as a signal of its own, is replaced, and is taken back without a trace', async () => {
    const { instanceId, sessionId } = await client.ingest({ messages: chat() });
    let position = await give({ sessionId, value: 1 });
    deepEqual(await counted(instanceId, position), [[THANKED, ['Thumbs up', 'GIVEN', 1]], [[1, 0]]]);
    deepEqual(await feedbackOf(instanceId, sessionId, position), [NONE, { up: 1, down: 0 }, NONE]);
    // The same author by name, on the same message by its time.
    position = await give({ sessionId, at: AT, value: -1, userId: 'ada', rating: 1, comment: 'wrong order' });
    deepEqual(await counted(instanceId, position), [[THANKED, ['Thumbs down', 'GIVEN', 1]], [[1, 0]]]);
    position = await give({ sessionId, at: AT, value: 1, userId: 'ben' });
    deepEqual(await feedbackOf(instanceId, sessionId, position), [NONE, { up: 1, down: 1 }, NONE]);
    await give({ sessionId, value: 0, userId: 'ben' });
    position = await give({ sessionId, value: 0 });
    deepEqual(await counted(instanceId, position), [[THANKED], [[1, 0]]]);
    deepEqual(await feedbackOf(instanceId, sessionId, position), [NONE, NONE, NONE]);
  });

  const waits = async (
    meanwhile: (instanceId: string, position: number) => Promise<unknown>,
    after: () => Promise<void>,
  ) => {
    const { instanceId } = await client.ingest({ messages: chat() });
    const sessionId = v7();
    const thumb = { sessionId, instanceId, at: AT, value: -1, userId: 'eve' };
    const once = { 'idempotency-key': sessionId };
    await give(thumb);
    await give(thumb, once);
    await meanwhile(instanceId, await give(thumb, once));
    const { position } = await client.ingest({ instanceId, sessionId, messages: chat() });
    const expected = [
      [
        ['Gratitude', 'INFERRED', 2],
        ['Thumbs down', 'GIVEN', 1],
      ],
      [
        [1, 0],
        [1, 0],
      ],
    ];
    deepEqual(await counted(instanceId, position), expected);
    await after();
    deepEqual(await counted(instanceId, position), expected);
    deepEqual(await feedbackOf(instanceId, sessionId, position), [NONE, { up: 0, down: 1 }, NONE]);
  };

  // What was given is processed, and the thumb kept, before its message comes.
  it('waits for its message', () => waits(counted, async () => undefined));

  if (isLong)
    it('waits for its message through a restart of the worker, and is the same after a rebuild', () =>
      waits(async () => {
        await service.killWorker();
        service.startWorker();
      }, service.rebuild));

  it('comes as a list: in its order, all of it or nothing, and once however often it is sent', async () => {
    const undertone = new Undertone({ url: service.url, key: client.key });
    const { instanceId, sessionId } = await client.ingest({ messages: chat() });
    // A session that nobody has named, and several pieces on one message.
    const later = { sessionId: v7(), instanceId };
    const pieces = [
      { sessionId, at: AT, value: -1 as const },
      { sessionId, at: AT, value: 1 as const },
      { sessionId, at: AT, value: -1 as const, userId: 'ben' },
      { ...later, value: 1 as const },
      { ...later, value: 1 as const, userId: 'ben' },
    ];
    const given = await undertone.feedback(pieces, { idempotencyKey: 'a list' });
    deepEqual(
      given.feedback,
      pieces.map((piece) => ({ instanceId, sessionId: piece.sessionId })),
    );
    const expected = [NONE, { up: 1, down: 1 }, NONE];
    deepEqual(await feedbackOf(instanceId, sessionId, given.position!), expected);
    const again = await undertone.feedback(pieces, { idempotencyKey: 'a list' });
    deepEqual(await feedbackOf(instanceId, sessionId, again.position!), expected);
    equal((await undertone.feedback({ sessionId, at: AT, value: 0, userId: 'ben' })).sessionId, sessionId);
    await rejects(undertone.feedback(pieces.toReversed(), { idempotencyKey: 'a list' }), {
      code: 'CONFLICT',
    });
    // Each refused piece is named, and the others are not stored.
    const [other, unknown] = [v7(), v7()];
    const answer = await client.send('/v1/feedback', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        feedback: [
          { sessionId, at: AT, value: 0 },
          { sessionId: unknown, value: 1 },
          { sessionId, instanceId: await service.newInstance(project), value: 1 },
        ],
      }),
    });
    const fault = faultOf(answer, 404, 'NOT_FOUND');
    deepEqual(pathsOf(fault), ['feedback.1', 'feedback.2']);
    match(fault.message, /^Nothing was stored\. feedback\.1: There is no session/);
    const instances = [instanceId, await service.newInstance(project)];
    const two = { feedback: instances.map((id) => ({ sessionId: other, instanceId: id, value: 1 })) };
    match(
      await refused(two, 409, 'CONFLICT'),
      /^Nothing was stored\. feedback\.1: The session belongs to another/,
    );
    // Neither is its session claimed.
    match(await refused({ sessionId: other, value: 1 }, 404, 'NOT_FOUND'), /There is no session/);
    const position = await give({ sessionId: later.sessionId, value: 1 });
    deepEqual(await feedbackOf(instanceId, sessionId, position), [NONE, { up: 1, down: 0 }, NONE]);
    await undertone.close();
  });

  it('goes out with what is kept of the person who gave it', async () => {
    const { instanceId, sessionId } = await client.ingest({ messages: chat() });
    await give({ sessionId, at: AT, value: -1, rating: 2, comment: 'too slow' });
    await give({ sessionId, at: AT, value: 0, comment: 'no, it was fine' });
    await give({ sessionId, value: 1, userId: 'a passer-by' });
    // More than one page of them.
    const comments = Array.from({ length: 180 }, (_, index) => `comment ${index}`);
    let position = 0;
    for (const some of [comments.slice(0, 100), comments.slice(100)])
      position = await give({
        feedback: some.map((comment) => ({ sessionId, at: AT, value: 1, userId: 'eve', comment })),
      });
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
    const feedbackOf = async (userId: string): Promise<unknown[]> => {
      const path = `/v1/subjects/${encodeURIComponent(userId)}/export?instanceId=${instanceId}`;
      const response = await fetch(`${service.url}${path}`, { headers: { 'x-api-key': client.key } });
      equal(response.status, 200);
      const lines = (await response.text()).trimEnd().split('\n');
      return lines
        .map((line) => subjectLineSchema.parse(JSON.parse(line)))
        .flatMap((line) =>
          line.kind === 'FEEDBACK'
            ? [[line.sessionId === sessionId, line.value, line.rating, line.comment]]
            : [],
        );
    };
    deepEqual(await feedbackOf('ada'), [
      [true, -1, 2, 'too slow'],
      [true, 0, null, 'no, it was fine'],
    ]);
    deepEqual(await feedbackOf('a passer-by'), [[true, 1, null, null]]);
    deepEqual(
      await feedbackOf('eve'),
      comments.map((comment) => [true, 1, null, comment]),
    );
  });

  it('agrees with what was inferred in as many sessions as a plain count finds', async () => {
    // Each session on a day of its own: what the user says at the end, and the thumbs on its answers.
    const told: readonly (readonly [said: readonly string[], thumbs: readonly (1 | -1)[], plan: string])[] = [
      [[THANKS], [1], 'pro'],
      [[THANKS], [1, -1, -1], 'pro'],
      [[COMPLAINT], [-1], 'pro'],
      [[COMPLAINT, COMPLAINT, THANKS], [1], 'free'],
      [[COMPLAINT], [-1, 1], 'free'],
      [[COMPLAINT, THANKS], [-1], 'free'],
      [[], [1], 'free'],
      [[THANKS], [], 'free'],
    ];
    const at = (day: number, minute: number): string =>
      `2026-03-0${day + 1}T10:${String(minute).padStart(2, '0')}:00Z`;
    const { instanceId, sessions } = await fill(
      client,
      told.map(([said, thumbs], day) => [
        user(CANCEL[0], at(day, 0), `user ${day}`),
        ...[...Array(Math.max(said.length, thumbs.length, 1)).keys()].flatMap((turn) => [
          assistant(DONE, at(day, 2 * turn + 1)),
          ...(said[turn] === undefined ? [] : [user(said[turn], at(day, 2 * turn + 2), `user ${day}`)]),
        ]),
      ]),
    );
    let position = 0;
    for (const [day, [, thumbs, plan]] of told.entries()) {
      const sessionId = sessions[day];
      for (const [turn, value] of thumbs.entries())
        await give({ sessionId, at: at(day, 2 * turn + 1), value });
      const metadata = { session: { plan } };
      const messages = [assistant(DONE, at(day, 50))];
      ({ position } = await client.ingest({ instanceId, sessionId: sessionId!, messages, metadata }));
    }
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
    const agreementOf = async (parameters: Parameters): Promise<Agreement | null> => {
      const search = toSearch({ instanceId, ...parameters });
      const { body } = await client.send(`/v1/overview?${search}`, {
        headers: { 'x-wait-for-position': String(position) },
      });
      return overviewResponseSchema.parse(body).agreement;
    };
    // Every message of every transcript, by its time.
    const plainly = async (days: readonly number[], [from, to] = ['2026', '2027']): Promise<Agreement> => {
      const table = { yesYes: 0, yesNo: 0, noYes: 0, noNo: 0 };
      for (const day of days) {
        const { body } = await client.send(`/v1/sessions/${sessions[day]}?instanceId=${instanceId}`);
        let [given, inferred] = [0, 0];
        for (const { createdAt, signals, feedback } of sessionResponseSchema.parse(body).messages) {
          const time = Date.parse(createdAt);
          if (time < Date.parse(from!) || time >= Date.parse(to!)) continue;
          for (const { signalType } of signals) inferred += signalType === 'SAT' ? 1 : -1;
          given += Math.sign(feedback.up) - Math.sign(feedback.down);
        }
        if (given !== 0 && inferred !== 0)
          table[`${given > 0 ? 'yes' : 'no'}${inferred > 0 ? 'Yes' : 'No'}`] += 1;
      }
      const { yesYes, yesNo, noYes, noNo } = table;
      return { both: yesYes + yesNo + noYes + noNo, agreed: yesYes + noNo, kappa: kappaOf(table) };
    };
    const ranges: readonly (readonly [Parameters, readonly number[]])[] = [
      [{}, [0, 1, 2, 3, 4, 5, 6, 7]],
      [{ 'segment.plan': 'pro' }, [0, 1, 2]],
      [{ 'dateRange.start': '2026-03-02', 'dateRange.end': '2026-03-05' }, [1, 2, 3]],
      [{ 'dateRange.start': '2026-03-06' }, [5, 6, 7]],
    ];
    for (const [range, days] of ranges)
      deepEqual(await agreementOf(range), await plainly(days), JSON.stringify(range));
    const { both, agreed } = (await agreementOf({}))!;
    ok(agreed > 0 && agreed < both && both < told.length, `${agreed} of ${both}`);
    equal(await agreementOf({ 'dateRange.start': '2026-03-08' }), null, 'a range without feedback');
    // Of the second session, the range cuts off the thumb that turns it down.
    const cut = [at(1, 0), at(1, 3)] as const;
    deepEqual(
      await agreementOf({ 'dateRange.start': cut[0], 'dateRange.end': cut[1] }),
      await plainly([1], [...cut]),
    );
  });

  it('is satisfaction where one asks for it, alike in every answer that counts it', async () => {
    const { instanceId, sessions } = await fill(client, [
      chat(),
      ...[1, 2].map((other) => [
        user(CANCEL[other]!, '2026-03-02T11:00:00Z', 'bob'),
        assistant('It is done.', '2026-03-02T11:00:05Z'),
      ]),
    ]);
    const position = await give({ sessionId: sessions[0], at: AT, value: -1 });
    const { elements } = await client.query({ instanceId, groupBy: 'TOPIC', fields: 'sat' }, position);
    const topicId = elements[0]?.dimensions.topic?.id;
    const users = await client.query({ instanceId, groupBy: 'END_USER', fields: 'sat', externalId: 'ada' });
    const userId = users.elements[0]?.dimensions.endUser?.id;
    type Numbers = { readonly fields: { readonly sat: number; readonly dsat: number } };
    const read = async (path: string, parameters: Parameters) => {
      const { status, body } = await client.send(`/v1/${path}?${toSearch({ instanceId, ...parameters })}`);
      equal(status, 200, JSON.stringify(body));
      return body as Numbers & { readonly trend: readonly Numbers[]; readonly elements: readonly Numbers[] };
    };
    // The answer of the assistant counts with its question.
    for (const [asked, expected] of [
      [{}, [1, 0]],
      [{ signals: 'inferred' }, [1, 0]],
      [{ signals: 'given' }, [0, 1]],
      [{ signals: 'all' }, [1, 1]],
    ] as const) {
      for (const path of ['overview', `topics/${topicId}`, `end-users/${userId}`]) {
        const { fields, trend } = await read(path, asked);
        for (const { sat, dsat } of [fields, ...trend.map((bucket) => bucket.fields)])
          deepEqual([sat, dsat], expected, `${path} ${toSearch(asked)}`);
        equal(trend.length, 1);
      }
      const said = { ...asked, said: DONE, fields: 'sat,dsat' };
      deepEqual((await read('sessions', said)).elements[0]?.fields, { sat: expected[0], dsat: expected[1] });
      equal((await read('sessions', { ...said, minDsat: 1 })).elements.length, expected[1], toSearch(asked));
    }
    const answer = await client.send(`/v1/overview?${toSearch({ instanceId, signals: 'GIVEN' })}`);
    deepEqual(pathsOf(faultOf(answer, 400, 'VALIDATION_ERROR')), ['signals']);
  });

  it('comes with a table, and counts once however often the table is imported', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'undertone-feedback-'));
    const instanceId = await service.newInstance(project);
    const path = join(folder, 'chats.csv');
    await writeFile(
      path,
      [
        'conversation,role,text,time,user,thumbs',
        `a,user,${CANCEL[0]},2026-03-02T10:00:00Z,ada,`,
        `a,assistant,${DONE},2026-03-02T10:00:05Z,,up`,
        `a,user,${THANKS},2026-03-02T10:01:00Z,ada,`,
        `b,user,${CANCEL[1]},2026-03-02T11:00:00Z,bob,`,
        `b,assistant,${DONE},2026-03-02T11:00:05Z,,down`,
      ].join('\n'),
    );
    const env = { ...process.env, UNDERTONE_URL: service.url, UT_KEY: project.key };
    const preview = runScript('cli/import.ts', [path, '--dry-run'], env);
    equal(await preview.ended, 0, preview.output());
    match(preview.output(), / feedback=thumbs\n/);
    match(preview.output(), /I have done that for you\. \[thumbs down\]\n/);
    match(preview.output(), /2 conversations, 5 messages, 2 thumbs\n/);
    for (const times of ['first', 'second']) {
      const run = runScript('cli/import.ts', [path, '--instance', instanceId], env);
      equal(await run.ended, 0, run.output());
      match(run.output(), /feedback {6}2 given/, times);
      const position = await give({ sessionId: v7(), instanceId, value: 1 });
      const given = await counted(instanceId, position);
      deepEqual(
        (given as unknown[])[0],
        [THANKED, ['Thumbs down', 'GIVEN', 1], ['Thumbs up', 'GIVEN', 1]],
        times,
      );
    }
    await rm(folder, { recursive: true });
  });

  it('is no text that a person could correct', async () => {
    const { instanceId, sessionId } = await client.ingest({ messages: chat() });
    const position = await give({ sessionId, value: 1 });
    const { elements } = await client.query(
      { instanceId, groupBy: 'CSAT_DSAT', fields: 'messages', signalSource: 'GIVEN' },
      position,
    );
    const answer = await client.send('/v1/curations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        instanceId,
        action: 'EXCLUDE',
        signalId: elements[0]?.dimensions.csatDsatSignal?.id,
        position: 0,
      }),
    });
    match(faultOf(answer, 409, 'CONFLICT').message, /feedback of end users/);
  });

  it('says what is wrong with it', async () => {
    const { sessionId } = await client.ingest({ messages: chat() });
    const faults: readonly [body: object, status: number, says: RegExp][] = [
      [{ sessionId }, 400, /value is required/],
      [{ sessionId, value: 2 }, 400, /value must be 1, -1 or 0/],
      [{ sessionId, value: 1, rating: 6 }, 400, /rating must be a whole number from 1 to 5/],
      [{ sessionId, value: 1, at: 'noon' }, 400, /at must be a UTC ISO 8601 instant/],
      [{ sessionId, value: 1, at: AT, position: 3 }, 400, /position must be left out where at is given/],
      [{ sessionId, value: 1, thumbs: 'up' }, 400, /thumbs is not a member/],
      [{ sessionId: v7(), value: 1 }, 404, /name its instanceId/],
      [{ sessionId: v7(), instanceId: v7(), value: 1 }, 404, /There is no instance/],
      [{ sessionId, instanceId: await service.newInstance(project), value: 1 }, 409, /another instance/],
    ];
    for (const [body, status, says] of faults) {
      match(await refused(body, status, CODES.get(status)!), says);
    }
  });
});
