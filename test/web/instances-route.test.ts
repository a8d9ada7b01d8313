import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { NAME_RULE } from '../../src/domain/printable.ts';
import { instanceListSchema, instanceSchema, sessionIdsSchema } from '../../src/contract/instances.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { openIdempotencyStore } from '../../src/web/ingest/idempotency.ts';
import { createInstanceCreator } from '../../src/web/ingest/instance-creator.ts';
import { createClaimTurns } from '../../src/web/ingest/claim-turns.ts';
import { openRegistry, type Registry } from '../../src/web/registry/registry.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { createHarness, KEY, OTHER_KEY, OTHER_PROJECT, PROJECT, type Harness } from './support.ts';

describe('/v1/instances', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let here: Registry;
  let there: Registry;
  let harness: Harness;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    [here, there] = await Promise.all([openRegistry(connection), openRegistry(connection)]);
    await Promise.all([here.whenReady(), there.whenReady()]);
    const idempotency = await openIdempotencyStore(connection);
    const createInstance = createInstanceCreator({
      registry: here,
      idempotency,
      turns: createClaimTurns(),
      clock: () => 1.8e15,
    });
    harness = createHarness({
      instances: {
        createInstance,
        findInstance: (id) => here.findInstance(id),
        instancesOf: (...page) => here.instancesOf(...page),
        defaultInstance: (wanted) => here.defaultInstance(wanted),
        findDefaultInstance: (projectId) => here.findDefaultInstance(projectId),
        changeInstance: (change) => here.changeInstance(change),
        issueSessionIds: (wanted) => here.issueSessionIds(wanted),
      },
    });
  });
  after(async () => {
    await here.close();
    await there.close();
    await connection.close();
    await server.stop();
  });

  interface Answer {
    readonly status: number;
    readonly json: unknown;
    readonly headers: Readonly<Record<string, unknown>>;
  }

  async function send(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const request: InjectOptions = {
      method,
      url: `/v1/instances${path}`,
      headers: { 'x-api-key': KEY, ...json, ...headers },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    };
    const answer = await harness.app.inject(request);
    ok(/^\d+$/.test(String(answer.headers['x-ratelimit-remaining'])));
    return { status: answer.statusCode, json: answer.json(), headers: answer.headers };
  }

  async function refused(answer: Promise<Answer>, status: number, code: string): Promise<readonly string[]> {
    const { status: given, json } = await answer;
    const { error } = errorEnvelopeSchema.parse(json);
    deepEqual([given, error.code], [status, code], error.message);
    return (error.details ?? []).map(({ path, message }) => `${path} ${message}`);
  }

  it('are made with a name or without, and listed oldest first, page by page', async () => {
    const made = [];
    for (const body of [undefined, { name: 'Web “chat” 漢字' }, {}]) {
      const { status, json } = await send('POST', '', body);
      equal(status, 201);
      made.push(instanceSchema.parse(json));
    }
    deepEqual(
      made.map(({ name }) => name),
      [null, 'Web “chat” 漢字', null],
    );
    equal((await there.findInstance(made[1]?.id ?? ''))?.projectId, PROJECT);
    const { json } = await send('GET', '/?limit=2&offset=1');
    deepEqual(instanceListSchema.parse(json), {
      elements: made.slice(1),
      pagination: { total: 3, limit: 2, offset: 1 },
    });
    deepEqual(instanceListSchema.parse((await send('GET', '')).json).pagination, {
      total: 3,
      limit: 50,
      offset: 0,
    });
  });

  it("are those of the key's project alone", async () => {
    const foreign = await here.createInstance({ projectId: OTHER_PROJECT, name: 'theirs' });
    const listed = JSON.stringify((await send('GET', '')).json);
    ok(!listed.includes(foreign.id) && !listed.includes('theirs'));
    const theirs = await send('GET', '', undefined, { 'x-api-key': OTHER_KEY });
    deepEqual(
      instanceListSchema.parse(theirs.json).elements.map(({ id }) => id),
      [foreign.id],
    );
    const texts: string[] = [];
    for (const id of [foreign.id, randomUUID()]) {
      const answer = await send('PATCH', `/${id}`, { name: 'mine' });
      await refused(Promise.resolve(answer), 404, 'NOT_FOUND');
      texts.push(JSON.stringify(answer.json).replaceAll(id, 'ID'));
    }
    equal(texts[0], texts[1]);
    equal((await here.findInstance(foreign.id))?.name, 'theirs');
  });

  it('are renamed, which every process sees, and nothing else of them changes', async () => {
    const instance = await here.createInstance({ projectId: PROJECT, name: 'before' });
    for (const name of ['after', null, 'a'.repeat(200), '漢'.repeat(100) + '🙂'.repeat(100)]) {
      const { status, json } = await send('PATCH', `/${instance.id.toUpperCase()}/`, { name });
      equal(status, 200);
      deepEqual(json, {
        id: instance.id,
        name,
        timeZone: 'UTC',
        leaveOut: {},
        createdAt: instance.createdAt,
      });
      deepEqual(await here.findInstance(instance.id), { ...instance, name });
      while ((await there.findInstance(instance.id))?.name !== name)
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it('get a time zone, and keep it when they are renamed', async () => {
    const { id } = await here.createInstance({ projectId: PROJECT, name: 'before' });
    const change = async (body: object): Promise<unknown[]> => {
      const { status, json } = await send('PATCH', `/${id}`, body);
      const { name, timeZone } = instanceSchema.parse(json);
      return [status, name, timeZone];
    };
    deepEqual(await change({ timeZone: 'Europe/Berlin' }), [200, 'before', 'Europe/Berlin']);
    deepEqual(await change({ name: 'after' }), [200, 'after', 'Europe/Berlin']);
    deepEqual(await change({ timeZone: null }), [200, 'after', 'UTC']);
  });

  it('have one by default in each project, whoever asks first and however often', async () => {
    const listed = async (): Promise<string[]> => {
      const { elements, pagination } = instanceListSchema.parse((await send('GET', '?default=true')).json);
      equal(pagination.total, elements.length);
      return elements.map(({ id }) => id);
    };
    deepEqual([await listed(), await listed()], [[], []]);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => send('POST', '', { default: true, name: `default ${i}` })),
    );
    equal(new Set(answers.map(({ json }) => instanceSchema.parse(json).id)).size, 1);
    const again = await send('POST', '', { default: true, name: 'other' });
    equal(again.status, 200);
    match(instanceSchema.parse(again.json).name ?? '', /^default \d$/);
    const { instance } = await there.defaultInstance({ projectId: PROJECT });
    equal(instance.id, instanceSchema.parse(again.json).id);
    deepEqual(await listed(), [instance.id]);
    const theirs = await send('POST', '', { default: true }, { 'x-api-key': OTHER_KEY });
    equal(theirs.status, 201);
    const fault = await refused(send('GET', '?default=1'), 400, 'VALIDATION_ERROR');
    deepEqual(fault, ['default must be true or false']);
  });

  it('are made once for an Idempotency-Key, however often the request is sent', async () => {
    const once = { 'idempotency-key': 'once' };
    const answers = [
      await send('POST', '', { name: 'one' }, once),
      await send('POST', '', { name: 'one' }, once),
    ];
    const [first, second] = answers.map(({ status, json }) => ({ status, ...instanceSchema.parse(json) }));
    deepEqual(second, first);
    equal(first?.status, 201);
    await refused(send('POST', '', { name: 'two' }, once), 409, 'CONFLICT');
    const other = await send('POST', '', { name: 'one' }, { 'idempotency-key': 'twice' });
    ok(instanceSchema.parse(other.json).id !== first?.id);
    const theirs = await send('POST', '', { name: 'one' }, { ...once, 'x-api-key': OTHER_KEY });
    ok(instanceSchema.parse(theirs.json).id !== first?.id);
    await refused(send('POST', '', {}, { 'idempotency-key': 'é' }), 400, 'VALIDATION_ERROR');
  });

  it('issue session ids: the same for the same, of this instance alone, in every process', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => here.createInstance({ projectId: PROJECT })));
    ok(one !== undefined && other !== undefined);
    const externalIds = ['ticket-123', 'ticket-124', 'ticket-123', '\u{1f99c} ü'];
    const issue = async (id: string): Promise<readonly string[]> => {
      const { status, json } = await send('POST', `/${id}/session-ids`, { externalIds });
      equal(status, 200);
      return sessionIdsSchema.parse(json).sessionIds;
    };
    const ids = await issue(one.id);
    deepEqual(await issue(one.id.toUpperCase()), ids);
    equal(ids[2], ids[0]);
    equal(new Set([...ids, ...(await issue(other.id))]).size, 6);
    for (const id of ids) equal((await there.instanceOfSessionId(id))?.id, one.id);
  });

  it('issue no session ids for what is no instance of the project, and no ids', async () => {
    const { id } = await here.createInstance({ projectId: PROJECT });
    const path = `/${id}/session-ids`;
    const externalIds = ['a'];
    await refused(send('POST', path, { externalIds }, { 'x-api-key': OTHER_KEY }), 404, 'NOT_FOUND');
    await refused(send('POST', `/${randomUUID()}/session-ids`, { externalIds }), 404, 'NOT_FOUND');
    const cases: [unknown, string][] = [
      [{}, 'externalIds is required'],
      [{ externalIds: [] }, 'externalIds must not be empty'],
      [{ externalIds: 'a' }, 'externalIds must be an array'],
      [{ externalIds: [''] }, 'externalIds.0 must not be empty'],
      [{ externalIds: ['a', 7] }, 'externalIds.1 must be a string'],
      [{ externalIds: ['x'.repeat(256)] }, 'externalIds.0 must be at most 255 characters long'],
      [{ externalIds: ['\ud800'] }, 'externalIds.0 must not contain an unpaired surrogate'],
      [
        { externalIds: Array.from({ length: 1001 }, (_, i) => `${i}`) },
        'externalIds must hold at most 1000 ids',
      ],
      [{ externalIds, more: 1 }, 'more is not a member that this request knows'],
    ];
    for (const [body, detail] of cases)
      deepEqual(await refused(send('POST', path, body), 400, 'VALIDATION_ERROR'), [detail]);
    const many = JSON.stringify({ externalIds: Array.from({ length: 400_000 }, () => 1) });
    deepEqual(
      await refused(
        send('POST', path, many, { 'content-type': 'application/json' }),
        400,
        'VALIDATION_ERROR',
      ),
      ['externalIds must hold at most 1000 ids'],
    );
    const most = Array.from({ length: 1000 }, (_, i) => `${'\u{1f99c}'.repeat(250)}${i}`);
    equal((await send('POST', path, { externalIds: most })).status, 200);
    await refused(send('POST', '/7/session-ids', { externalIds }), 400, 'VALIDATION_ERROR');
  });

  it('get what they leave out, and nothing at all', async () => {
    const { id } = await here.createInstance({ projectId: PROJECT });
    const change = async (leaveOut: unknown): Promise<unknown> => {
      const { status, json } = await send('PATCH', `/${id}`, { leaveOut });
      return status === 200 ? instanceSchema.parse(json).leaveOut : status;
    };
    deepEqual(await change({ environment: ['test', 'staging', 'test'] }), {
      environment: ['staging', 'test'],
    });
    deepEqual(await change({ environment: 'test', plan: ['internal'] }), {
      environment: ['test'],
      plan: ['internal'],
    });
    deepEqual(await change({ beta: true, stage: [1, 'x'] }), { beta: ['true'], stage: ['1', 'x'] });
    for (const wrong of [
      { 'environment!': 'test' },
      { environment: [] },
      { environment: '' },
      { externalId: 'x' },
      'test',
      ['test'],
    ])
      equal(await change(wrong), 400, JSON.stringify(wrong));
    equal(await change(Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`a${at}`, 'x']))), 400);
    deepEqual(await change(null), {});
  });

  it('refuse what is no name, no page and no instance, and say where', async () => {
    const { id } = await here.createInstance({ projectId: PROJECT });
    const cases: [Promise<Answer>, string[]][] = [
      [send('POST', '', { name: '' }), ['name must not be empty']],
      [send('POST', '', { name: 'Shop\u202egnp' }), [`name ${NAME_RULE}`]],
      [send('PATCH', `/${id}`, { name: 'a\nb' }), [`name ${NAME_RULE}`]],
      [send('POST', '', { name: 'a'.repeat(201) }), ['name must be at most 200 characters long']],
      [send('POST', '', { name: 7 }), ['name must be a string']],
      [send('POST', '', { nmae: 'x' }), ['nmae is not a member that this request knows']],
      [send('POST', '', { default: 'yes' }), ['default must be true or false']],
      [send('POST', '', []), [' must be a JSON object']],
      [send('PATCH', `/${id}`, {}), ['name is required where neither timeZone nor leaveOut is given']],
      [send('PATCH', `/${id}`), ['name is required where neither timeZone nor leaveOut is given']],
      [
        send('PATCH', `/${id}`, { timeZone: 'Mars' }),
        ['timeZone must be the name of a time zone, such as Europe/Berlin'],
      ],
      [send('PATCH', '/7', { name: 'x' }), ['instanceId must be a UUID']],
      [send('GET', '/?limit=0'), ['limit must be a whole number from 1 to 10000']],
      [send('GET', '/?limit=1&limit=2'), ['limit must be given once']],
      [send('GET', '/?page=2'), ['page is not a parameter of this operation']],
    ];
    for (const [answer, details] of cases) deepEqual(await refused(answer, 400, 'VALIDATION_ERROR'), details);
    await refused(send('POST', '', '{'), 400, 'BAD_REQUEST');
    await refused(send('POST', '', '{"__proto__": {}}'), 400, 'BAD_REQUEST');
    await refused(send('POST', '', 'name=x', { 'content-type': 'text/plain' }), 400, 'BAD_REQUEST');
    await refused(send('POST', '', { name: 'x'.repeat(20_000) }), 413, 'PAYLOAD_TOO_LARGE');
    await refused(send('GET', '', undefined, { 'x-api-key': 'no' }), 401, 'INVALID_API_KEY');
    await refused(send('POST', '/x', {}), 404, 'NOT_FOUND');
  });
});
