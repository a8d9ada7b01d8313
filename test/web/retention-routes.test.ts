import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { projectRetentionSchema, retentionSchema } from '../../src/contract/retention.ts';
import { cutoffsOf, type ProjectRetention, type Retention } from '../../src/domain/retention.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../src/stream/kv/key-value.ts';
import { Retentions } from '../../src/stream/ledgers/retentions.ts';
import { dueNow } from '../../src/worker/erasure/due-retention.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import {
  createHarness,
  FOREIGN_INSTANCE,
  INSTANCE,
  KEY,
  OTHER_KEY,
  PROJECT,
  type Harness,
} from './support.ts';

const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' };
const put = ({ app }: Harness, body: unknown, instance = INSTANCE) =>
  app.inject({
    method: 'PUT',
    url: `/v1/instances/${instance}/retention`,
    headers: HEADERS,
    payload: JSON.stringify(body),
  });
const get = ({ app }: Harness, instance = INSTANCE) =>
  app.inject({ url: `/v1/instances/${instance}/retention`, headers: HEADERS });

describe('http: retention', () => {
  it('is for ever, until it is set, and says what the newest run took', async () => {
    const harness = createHarness();
    const nothing = { textDays: null, peopleDays: null, countDays: null, keepAtLeastDays: null };
    deepEqual(retentionSchema.parse((await get(harness)).json()), {
      ...nothing,
      from: 'NOTHING',
      lastRun: null,
    });
    const days = { textDays: 90, peopleDays: 365, countDays: null };
    const answer = await put(harness, { ...days, keepAtLeastDays: 30 }, INSTANCE.toUpperCase());
    equal(answer.statusCode, 200, answer.body);
    const expected = { ...days, keepAtLeastDays: 30, from: 'INSTANCE', lastRun: null };
    deepEqual(retentionSchema.parse(answer.json()), expected);
    deepEqual(retentionSchema.parse((await get(harness)).json()), expected);
    await harness.retentions.put({
      instanceId: INSTANCE,
      cutoffs: { texts: Date.UTC(2026, 0, 1) * 1000, people: null, counts: null },
      former: { texts: null, people: null, counts: null },
      position: 7,
      startedAt: '2026-04-01T00:00:00.000Z',
      doneAt: null,
      counts: { messages: 0, sessions: 0, texts: 3, people: 0 },
      entries: 2,
      lostTexts: true,
      fault: null,
    });
    const { lastRun } = retentionSchema.parse((await get(harness)).json());
    deepEqual(
      [lastRun?.textsBefore, lastRun?.texts, lastRun?.entries, lastRun?.doneAt],
      ['2026-01-01T00:00:00.000Z', 3, 2, null],
    );
  });

  it('takes whole days, none below the floor', async () => {
    const harness = createHarness();
    const nothing = { textDays: null, peopleDays: null, countDays: null };
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'textDays'],
      [{ ...nothing, textDays: 0 }, 'textDays'],
      [{ ...nothing, peopleDays: 1.5 }, 'peopleDays'],
      [{ ...nothing, countDays: 36_501 }, 'countDays'],
      [{ ...nothing, countDays: 30, keepAtLeastDays: 31 }, 'countDays'],
      [{ ...nothing, more: 1 }, 'more'],
    ];
    for (const [body, path] of wrong) {
      const answer = await put(harness, body);
      const { code, details } = errorEnvelopeSchema.parse(answer.json()).error;
      deepEqual([code, details?.[0]?.path], ['VALIDATION_ERROR', path], answer.body);
    }
    for (const instance of [FOREIGN_INSTANCE, '0192f0a0-0000-7000-8000-00000000000e'])
      equal((await put(harness, nothing, instance)).statusCode, 404);
  });
});

describe('http: retention of a project', () => {
  const NOTHING = { textDays: null, peopleDays: null, countDays: null };
  const NONE = { ...NOTHING, keepAtLeastDays: null };
  const ask = ({ app }: Harness, method: 'GET' | 'PUT' | 'DELETE', path: string, body?: unknown, key = KEY) =>
    app.inject({
      method,
      url: `/v1/${path}`,
      headers: { ...HEADERS, 'x-api-key': key },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
  const own = (harness: Harness) => get(harness).then((answer) => retentionSchema.parse(answer.json()));
  const path = `instances/${INSTANCE}/retention`;

  it('holds for instances without their own, and is of no other project', async () => {
    const harness = createHarness();
    deepEqual(projectRetentionSchema.parse((await ask(harness, 'GET', 'retention')).json()), NONE);
    const days = { ...NOTHING, textDays: 90 };
    const answer = await ask(harness, 'PUT', 'retention', { ...days, keepAtLeastDays: 30 });
    equal(answer.statusCode, 200, answer.body);
    const expected = { ...days, keepAtLeastDays: 30 };
    deepEqual(projectRetentionSchema.parse(answer.json()), expected);
    deepEqual((await ask(harness, 'GET', 'retention')).json(), expected);
    deepEqual((await ask(harness, 'GET', 'retention', undefined, OTHER_KEY)).json(), NONE);
    deepEqual(await own(harness), { ...expected, from: 'PROJECT', lastRun: null });
    const kept = await ask(harness, 'PUT', 'retention', { ...days, textDays: 60 });
    deepEqual(kept.json(), { ...expected, textDays: 60 }, 'a floor that is left out stays');
    equal((await ask(harness, 'PUT', 'retention', { ...days, textDays: 29 })).statusCode, 400);
    equal((await ask(harness, 'PUT', 'retention', NONE)).statusCode, 200);
    equal((await own(harness)).from, 'NOTHING');
    const { elements } = (await ask(harness, 'GET', 'audit')).json<{
      elements: { action: string; instanceId: string | null; target: string }[];
    }>();
    deepEqual(
      elements.map(({ action, instanceId, target }) => [action, instanceId, target]),
      Array.from({ length: 3 }, () => ['SET_RETENTION', null, PROJECT]),
      'what is refused is not recorded',
    );
  });

  it('gives way to the days of an instance, until these are given up', async () => {
    const harness = createHarness();
    await ask(harness, 'PUT', 'retention', { ...NOTHING, textDays: 90 });
    const set = retentionSchema.parse((await put(harness, NOTHING)).json());
    deepEqual([set.textDays, set.from], [null, 'INSTANCE']);
    for (const _ of [1, 2]) {
      const { textDays, from } = retentionSchema.parse((await ask(harness, 'DELETE', path)).json());
      deepEqual([textDays, from], [90, 'PROJECT']);
    }
    const foreign = await ask(harness, 'DELETE', `instances/${FOREIGN_INSTANCE}/retention`);
    equal(foreign.statusCode, 404);
  });

  it('has a floor for the days of instances', async () => {
    const harness = createHarness();
    await ask(harness, 'PUT', 'retention', { ...NOTHING, keepAtLeastDays: 30 });
    const refused = await put(harness, { ...NOTHING, textDays: 29, peopleDays: 30 });
    const { code, details } = errorEnvelopeSchema.parse(refused.json()).error;
    deepEqual([refused.statusCode, code], [400, 'VALIDATION_ERROR']);
    deepEqual(details, [
      { path: 'textDays', message: 'must be at least keepAtLeastDays of the project, 30' },
    ]);
    equal((await put(harness, { ...NOTHING, textDays: 30 })).statusCode, 200);
    await harness.retentions.setRetention(FOREIGN_INSTANCE, { ...NONE, textDays: 1 });
    const higher = await ask(harness, 'PUT', 'retention', { ...NOTHING, keepAtLeastDays: 31 });
    equal(higher.statusCode, 409);
    match(higher.body, new RegExp(`keepAtLeastDays 31 is more than .*: ${INSTANCE}\\. Set their days`));
    equal((await ask(harness, 'GET', 'retention')).json<{ keepAtLeastDays: number }>().keepAtLeastDays, 30);
  });
});

type Setter = 'instance' | 'project';

/** Retentions that two set in the same moment: both have looked at the other's days before either is written. */
class Simultaneous extends Retentions {
  readonly #last: Setter;
  readonly #looked = { instance: Promise.withResolvers<void>(), project: Promise.withResolvers<void>() };
  readonly #written = Promise.withResolvers<void>();

  /** `last`: who writes last. */
  constructor(bucket: KeyValueBucket, last: Setter) {
    super(bucket, async () => undefined);
    this.#last = last;
  }

  override setRetention(instanceId: string, retention: Retention | null): Promise<void> {
    return this.#inTurn('instance', () => super.setRetention(instanceId, retention));
  }

  override setOfProject(setting: ProjectRetention): Promise<void> {
    return this.#inTurn('project', () => super.setOfProject(setting));
  }

  async #inTurn(setter: Setter, set: () => Promise<void>): Promise<void> {
    const { instance, project } = this.#looked;
    this.#looked[setter].resolve();
    await Promise.all([instance.promise, project.promise]);
    if (setter === this.#last) await this.#written.promise;
    await set();
    this.#written.resolve();
  }
}

describe('http: a floor and days that are set in the same moment', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let bucket: KeyValueBucket;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    bucket = await openKeyValue(connection, 'retention');
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
  });

  for (const last of ['instance', 'project'] as const)
    it(`hold both, where the ${last} is written last`, async () => {
      for (const key of [`${INSTANCE}.kept`, `${PROJECT}.project`])
        await bucket.remove(key, (await bucket.get(key))?.revision ?? 0);
      const retentions = new Simultaneous(bucket, last);
      const harness = createHarness();
      Object.assign(harness.retentions, {
        retentionOf: (id: string) => retentions.retentionOf(id),
        setRetention: (id: string, days: Retention | null) => retentions.setRetention(id, days),
        ofProject: (id: string) => retentions.ofProject(id),
        setOfProject: (setting: ProjectRetention) => retentions.setOfProject(setting),
        retained: () => retentions.retained(),
      });
      const days = { textDays: 7, peopleDays: 40, countDays: null };
      const floor = { textDays: null, peopleDays: null, countDays: null, keepAtLeastDays: 30 };
      const both = await Promise.all([
        put(harness, days),
        harness.app.inject({
          method: 'PUT',
          url: '/v1/retention',
          headers: HEADERS,
          payload: JSON.stringify(floor),
        }),
      ]);
      for (const answer of both) equal(answer.statusCode, 200, answer.body);
      const held = retentionSchema.parse((await get(harness)).json());
      deepEqual([held.textDays, held.peopleDays, held.countDays], [30, 40, null]);
      const createdAt = '2026-01-01T00:00:00Z';
      const instances = async () => [{ id: INSTANCE, projectId: PROJECT, createdAt }];
      const now = Date.UTC(2026, 3, 1, 12) * 1000;
      const [run] = await dueNow(retentions, instances, now);
      equal(run?.cutoffs.texts, cutoffsOf({ ...held, textDays: 30 }, now).texts);
    });
});
