/** Feedback of end users, from the request to the counts (docs/api.md, POST /v1/feedback). */
import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { v7 } from 'uuid';
import { Client, faultOf } from '../support/client.ts';
import { assistant, CANCEL, DONE, THANKS, user } from '../support/conversations.ts';
import { startTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;

before(async () => {
  service = await startTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
});
after(() => service.stop());

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
  const { body } = await client.send(`/v1/sessions/${sessionId}?instanceId=${instanceId}`, {
    headers: { 'x-wait-for-position': String(position) },
  });
  return (body as { messages: { feedback: unknown }[] }).messages.map(({ feedback }) => feedback);
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

  it('waits for its message, through a restart of the worker, and is the same after a rebuild', async () => {
    const { instanceId } = await client.ingest({ messages: chat() });
    const sessionId = v7();
    await give({ sessionId, instanceId, at: AT, value: -1, userId: 'eve' });
    await give({ sessionId, instanceId, at: AT, value: -1, userId: 'eve' }, { 'idempotency-key': 'k1' });
    await give({ sessionId, instanceId, at: AT, value: -1, userId: 'eve' }, { 'idempotency-key': 'k1' });
    await service.killWorker();
    service.startWorker();
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
    await service.rebuild();
    deepEqual(await counted(instanceId, position), expected);
    deepEqual(await feedbackOf(instanceId, sessionId, position), [NONE, { up: 0, down: 1 }, NONE]);
  });

  it('goes out with what is kept of the person who gave it', async () => {
    const { instanceId, sessionId } = await client.ingest({ messages: chat() });
    await give({ sessionId, at: AT, value: -1, rating: 2 });
    const position = await give({ sessionId, value: 1, userId: 'a passer-by' });
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
    const feedbackOf = async (userId: string): Promise<unknown[]> => {
      const path = `/v1/subjects/${encodeURIComponent(userId)}/export?instanceId=${instanceId}`;
      const response = await fetch(`${service.url}${path}`, { headers: { 'x-api-key': client.key } });
      equal(response.status, 200);
      const [first = '{}'] = (await response.text()).split('\n');
      const { feedback } = JSON.parse(first) as {
        feedback: { sessionId: string; value: number; rating: number | null }[];
      };
      return feedback.map((one) => [one.sessionId === sessionId, one.value, one.rating]);
    };
    deepEqual(await feedbackOf('ada'), [[true, -1, 2]]);
    deepEqual(await feedbackOf('a passer-by'), [[true, 1, null]]);
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
