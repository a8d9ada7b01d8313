import { deepEqual, equal, match, notEqual, ok, rejects, throws } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { AppError } from '../../../src/errors.ts';
import { openRegistry, type Registry } from '../../../src/web/registry/registry.ts';
import { KEY_SCOPES } from '../../../src/domain/key-scopes.ts';
import { openKeyValue } from '../../../src/stream/kv/key-value.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { killUnder, restartUnder, startTestServer, type TestServer } from '../../support/nats.ts';

interface Process {
  readonly registry: Registry;
  readonly connection: StreamConnection;
  close(): Promise<void>;
}

describe('registry', () => {
  let server: TestServer;
  let here: Process;
  let there: Process;

  async function startProcess(): Promise<Process> {
    const connection = await openConnection({ ...server.address, name: 'test' });
    const registry = await openRegistry(connection);
    await registry.whenReady();
    return {
      registry,
      connection,
      close: async () => {
        await registry.close();
        await connection.close();
      },
    };
  }

  before(async () => {
    server = await startTestServer();
    [here, there] = await Promise.all([startProcess(), startProcess()]);
  });
  after(async () => {
    await here.close();
    await there.close();
    await server.stop();
  });

  async function newProject(): Promise<{ projectId: string; rawKey: string; keyId: string }> {
    const { rawKey, key } = await here.registry.createKey({ projectName: randomUUID(), env: 'test' });
    return { rawKey, projectId: key.projectId, keyId: key.keyId };
  }

  describe('keys', () => {
    it('have the form of the decisions and are known everywhere at once', async () => {
      for (const env of ['test', 'live'] as const) {
        const { rawKey, key } = await here.registry.createKey({ projectName: 'shop', env });
        match(rawKey, new RegExp(`^ut_${env}_[0-9A-Za-z]{32}$`));
        const grant = { keyId: key.keyId, projectId: key.projectId, env, scopes: KEY_SCOPES };
        deepEqual(await there.registry.keys.find(rawKey), grant);
        deepEqual(await here.registry.keys.find(rawKey), grant);
      }
    });

    it('have the scopes that they were made with, in one order; without any said, all', async () => {
      const made = await here.registry.createKey({
        projectName: 'shop',
        env: 'test',
        scopes: ['query', 'ingest', 'query'],
      });
      deepEqual(made.key.scopes, ['ingest', 'query']);
      deepEqual((await there.registry.keys.find(made.rawKey))?.scopes, ['ingest', 'query']);
      const { keyId } = await newProject();
      const listed = new Map(here.registry.keys.list().map((key) => [key.keyId, key.scopes]));
      deepEqual([listed.get(made.key.keyId), listed.get(keyId)], [['ingest', 'query'], KEY_SCOPES]);
    });

    it('that nobody made cost a few questions however many are tried, and a new key works meanwhile', async () => {
      const before = here.connection.nats.stats().outMsgs;
      const tried = Array.from({ length: 1000 }, (_, i) =>
        here.registry.keys.find(`ut_test_${String(i).padStart(32, '0')}`),
      );
      const { rawKey, key } = await there.registry.createKey({ projectName: 'shop', env: 'test' });
      equal((await here.registry.keys.find(rawKey))?.keyId, key.keyId);
      deepEqual(new Set(await Promise.all(tried)), new Set([null]));
      const asked = here.connection.nats.stats().outMsgs - before;
      ok(asked < 50, `${asked} messages to the server`);
      equal(here.registry.keys.known(`ut_test_${'0'.repeat(32)}`), null);
      equal(here.registry.keys.known(`ut_test_${'z'.repeat(32)}`), undefined);
    });

    it('are stored only as digests', async () => {
      const { rawKey } = await newProject();
      const manager = await jetstreamManager(here.connection.nats);
      const { state } = await manager.streams.info('KV_registry', { subjects_filter: '>' });
      const subjects = Object.keys(state.subjects ?? {});
      const stored = [...subjects];
      for (const subject of subjects) {
        const message = await manager.streams.getMessage('KV_registry', { last_by_subj: subject });
        stored.push(Buffer.from(message?.data ?? []).toString());
      }
      ok(stored.length > 4);
      ok(!stored.some((text) => text.includes(rawKey) || text.includes(rawKey.slice(8))));
    });

    it('are unknown when nobody made them', async () => {
      for (const key of [
        '',
        'ut_test_',
        `ut_test_${'a'.repeat(32)}`,
        `xx_test_${'a'.repeat(32)}`,
        'ut_test_*'.padEnd(40, '>'),
      ]) {
        equal(await here.registry.keys.find(key), null);
      }
    });

    it('bear a label, and say in every process when they were last used, also after a restart', async () => {
      const { rawKey, key } = await here.registry.createKey({
        projectName: 'shop',
        env: 'live',
        label: 'web “chat”',
      });
      const listed = async (of: Registry) => of.keys.list().find(({ keyId }) => keyId === key.keyId) ?? null;
      deepEqual(await listed(here.registry), { ...key, lastUsedAt: null });
      equal(key.label, 'web “chat”');
      const user = await startProcess();
      ok(await user.registry.keys.find(rawKey));
      const lastUsedAt = (await listed(user.registry))?.lastUsedAt;
      match(lastUsedAt ?? '', /^\d{4}-.*Z$/);
      await user.close();
      const restarted = await startProcess();
      deepEqual(await listed(restarted.registry), { ...key, lastUsedAt });
      await restarted.close();
    });

    it('stop working in every process within a second of being revoked', async () => {
      const { rawKey, keyId } = await newProject();
      ok(await there.registry.keys.find(rawKey));
      const revokedAt = performance.now();
      equal(await here.registry.keys.revoke(keyId), true);
      equal(await here.registry.keys.find(rawKey), null);
      while ((await there.registry.keys.find(rawKey)) !== null)
        await new Promise((resolve) => setTimeout(resolve, 5));
      ok(performance.now() - revokedAt < 1000);
      const key = there.registry.keys.list().find((candidate) => candidate.keyId === keyId);
      match(key?.revokedAt ?? '', /^\d{4}-.*Z$/);
    });

    it('stay revoked when revoked twice; unknown ones are reported', async () => {
      const { rawKey, keyId } = await newProject();
      await here.registry.keys.revoke(keyId);
      equal(await here.registry.keys.revoke(keyId), true);
      equal(await here.registry.keys.find(rawKey), null);
      equal(await here.registry.keys.revoke('key_0000000000000000'), false);
    });

    it('follow revocations again after the server was restarted', async () => {
      const { rawKey, keyId } = await newProject();
      ok(await there.registry.keys.find(rawKey));
      await restartUnder(server, here.connection, there.connection);
      await here.registry.keys.revoke(keyId);
      const deadline = performance.now() + 5000;
      while ((await there.registry.keys.find(rawKey)) !== null) {
        ok(performance.now() < deadline);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
  });

  describe('projects', () => {
    it('are one for one name, also when several processes make it at once', async () => {
      const name = `Zoë's shop ${randomUUID()}`;
      const made = await Promise.all(
        [here, there, here, there].map(({ registry }) => registry.projects.create(name)),
      );
      equal(new Set(made.map(({ id }) => id)).size, 1);
      deepEqual(await there.registry.projects.findByName(name), made[0]);
      equal(await there.registry.projects.findByName(`${name}.`), null);
    });

    it('are listed at once by whoever made them', async () => {
      for (let i = 0; i < 20; i++) {
        const { id } = await here.registry.projects.create(`listed ${i}`);
        ok(here.registry.projects.list().some((project) => project.id === id));
      }
    });

    it('begin with "default" and a key that is shown once', async () => {
      const firsts = await Promise.all(
        [here, there, here].map(({ registry }) => registry.ensureFirstProject()),
      );
      const known = firsts.filter((first) => first !== null);
      equal(known.length, 1);
      match(known[0]?.rawKey ?? '', /^ut_test_/);
      equal(known[0]?.project.name, 'default');
      equal((await there.registry.keys.find(known[0]?.rawKey ?? ''))?.projectId, known[0]?.project.id);
      equal(await there.registry.ensureFirstProject(), null);
    });
  });

  describe('instances', () => {
    it('are found everywhere at once, in any case', async () => {
      const { projectId } = await newProject();
      const instance = await here.registry.createInstance({ projectId, name: 'Web chat' });
      deepEqual(await there.registry.findInstance(instance.id.toUpperCase()), instance);
      equal(await there.registry.findInstance(randomUUID()), null);
      ok((await here.registry.listInstances()).some(({ id }) => id === instance.id));
    });

    it('lets others go first while it issues session ids', async () => {
      const { projectId } = await newProject();
      const { id } = await here.registry.createInstance({ projectId });
      const externalIds = Array.from({ length: 1000 }, (_, i) => `ticket-${i}`);
      let rounds = 0;
      const work = here.registry.issueSessionIds({ projectId, instanceId: id, externalIds });
      let isDone = false;
      const round = (): void => {
        rounds += 1;
        if (!isDone) setImmediate(round);
      };
      round();
      const issued = await work;
      isDone = true;
      equal(new Set(issued).size, 1000);
      ok(rounds > 50, `others had ${rounds} turns`);
    });

    it('have numbers of their own under concurrency', async () => {
      const { projectId } = await newProject();
      const makers = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? here : there));
      const made = await Promise.all(makers.map(({ registry }) => registry.createInstance({ projectId })));
      equal(new Set(made.map(({ number }) => number)).size, 60);
      equal(new Set(made.map(({ id }) => id)).size, 60);
    });

    it('have numbers that do not tell how many there are, also beside those that count up', async () => {
      const { projectId } = await newProject();
      const registry = await openKeyValue(here.connection, 'registry');
      const early = {
        id: randomUUID(),
        number: 4711,
        projectId,
        name: 'early',
        createdAt: '2026-01-01T00:00:00Z',
      };
      await registry.create(`number.${early.number}`, early.id);
      await registry.create(`instance.${early.id}`, JSON.stringify(early));
      const made = [];
      for (let i = 0; i < 6; i += 1) made.push(await there.registry.createInstance({ projectId }));
      const numbers = made.map(({ number }) => number);
      // Smaller ones come up once in a million runs.
      ok(
        numbers.every((number) => number > 100_000),
        numbers.join(),
      );
      deepEqual(await there.registry.findInstance(early.id), early);
      const sessionId = here.registry.issueSessionId(early);
      deepEqual(await there.registry.instanceOfSessionId(sessionId), early);
      deepEqual((await there.registry.instancesOf(projectId, { limit: 9, offset: 0 })).instances, [
        early,
        ...made,
      ]);
    });

    it('have one by default in each project, also when several processes ask at once', async () => {
      const { projectId } = await newProject();
      const found = await Promise.all(
        [here, there, here, there].map(({ registry }) => registry.defaultInstance({ projectId })),
      );
      equal(new Set(found.map(({ instance }) => instance.id)).size, 1);
      const again = await there.registry.defaultInstance({ projectId, name: 'later' });
      deepEqual(again, { instance: found[0]?.instance, made: false });
      const other = await newProject();
      const theirs = await here.registry.defaultInstance({ projectId: other.projectId, name: 'x' });
      deepEqual([theirs.made, theirs.instance.name], [true, 'x']);
    });

    it('take the last of several new names everywhere', async () => {
      const { projectId } = await newProject();
      const { id } = await here.registry.createInstance({ projectId });
      const names = Array.from({ length: 8 }, (_, i) => `name ${i}`);
      await Promise.all(
        names.map((name, i) =>
          (i % 2 === 0 ? here : there).registry.changeInstance({ projectId, id, changes: { name } }),
        ),
      );
      const last = await here.registry.changeInstance({ projectId, id, changes: { name: 'last' } });
      while ((await there.registry.findInstance(id))?.name !== 'last')
        await new Promise((resolve) => setTimeout(resolve, 5));
      deepEqual(await here.registry.findInstance(id), last);
      deepEqual((await there.registry.instancesOf(projectId, { limit: 9, offset: 0 })).instances, [last]);
      equal(await here.registry.changeInstance({ projectId: 'other', id, changes: { name: 'x' } }), null);
      equal(
        await here.registry.changeInstance({ projectId, id: randomUUID(), changes: { name: 'x' } }),
        null,
      );
    });

    it('are made once for one id, and belong to one project', async () => {
      const { projectId } = await newProject();
      const id = randomUUID();
      const made = await Promise.all(
        [here, there, here, there].map(({ registry }) => registry.createInstance({ projectId, id })),
      );
      equal(new Set(made.map(({ number }) => number)).size, 1);
      const other = await newProject();
      await rejects(
        there.registry.createInstance({ projectId: other.projectId, id }),
        (error) => error instanceof AppError && error.code === 'CONFLICT',
      );
    });
  });

  describe('sessions', () => {
    it('of ours lead to their instance in every process, at once', async () => {
      const { projectId } = await newProject();
      const instance = await here.registry.createInstance({ projectId });
      const sessionId = here.registry.issueSessionId(instance);
      deepEqual(await there.registry.instanceOfSessionId(sessionId), instance);
      equal(there.registry.issueSessionId(instance, 'seed'), here.registry.issueSessionId(instance, 'seed'));
      notEqual(there.registry.issueSessionId(instance), here.registry.issueSessionId(instance));
      equal(await there.registry.instanceOfSessionId(randomUUID()), null);
    });

    it('of clients belong to the first instance of a project that claims them', async () => {
      const sessionId = randomUUID();
      equal(await here.registry.findSessionClaim('p', sessionId), null);
      const holders = await Promise.all(
        [here, there, here, there].map(({ registry }, i) =>
          registry.claimSession('p', sessionId, `instance-${i}`),
        ),
      );
      equal(new Set(holders).size, 1);
      equal(await there.registry.findSessionClaim('p', sessionId), holders[0]);
    });

    it('of clients are told apart by project', async () => {
      const sessionId = randomUUID();
      equal(await here.registry.claimSession('p', sessionId, 'ours'), 'ours');
      equal(await there.registry.findSessionClaim('q', sessionId), null);
      equal(await there.registry.claimSession('q', sessionId, 'theirs'), 'theirs');
      equal(await there.registry.findSessionClaim('p', sessionId), 'ours');
    });

    it('of clients stay where they were claimed before projects were told apart', async () => {
      const sessionId = randomUUID();
      const sessions = await openKeyValue(here.connection, 'sessions');
      await sessions.create(sessionId, JSON.stringify({ instanceId: 'old', projectId: 'p' }));
      const { registry, close } = await startProcess();
      equal(await registry.findSessionClaim('p', sessionId), 'old');
      equal(await registry.findSessionClaim('q', sessionId), null);
      equal(await registry.claimSession('q', sessionId, 'new'), 'new');
      equal(await registry.findSessionClaim('q', sessionId), 'new');
      await close();
    });
  });

  it('answers 503, never "unknown", while it is loading and when NATS is away', async () => {
    const connection = await openConnection({ ...server.address, name: 'test' });
    const loading = await openRegistry(connection);
    const unavailable = (error: unknown): boolean =>
      error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE';
    equal(loading.ready, false);
    throws(() => loading.keys.find(`ut_test_${'a'.repeat(32)}`), unavailable);
    await loading.whenReady();
    equal(await loading.keys.find(`ut_test_${'a'.repeat(32)}`), null);
    const { rawKey } = await newProject();
    ok(await loading.keys.find(rawKey));
    await killUnder(server, connection);
    await rejects(loading.keys.find(`ut_test_${'b'.repeat(32)}`), unavailable);
    await server.restart();
    ok(await connection.whenConnected(5000));
    equal(await loading.keys.find(`ut_test_${'b'.repeat(32)}`), null);
    ok(await loading.keys.find(rawKey));
    await loading.close();
    await connection.close();
  });

  it('reads and writes a bucket many at a time: a key once, also where it was deleted before', async () => {
    ok(await here.connection.whenConnected(5000));
    const bucket = await openKeyValue(here.connection, 'trial');
    const keys = Array.from({ length: 300 }, (_, index) => `${randomUUID()}.${index}`);
    const created = await Promise.all(
      keys.flatMap((key) => [bucket.create(key, 'one é'), bucket.create(key, 'two')]),
    );
    equal(created.filter((revision) => revision !== null).length, keys.length);
    equal(new Set(created).size, keys.length + 1);
    const read = await Promise.all(keys.map((key) => bucket.get(key)));
    deepEqual(new Set(read.map((entry) => entry?.value)), new Set(['one é']));
    const [key = '', other = ''] = keys;
    ok(await bucket.remove(key, read[0]?.revision ?? 0));
    equal(await bucket.get(key), null);
    notEqual(await bucket.create(key, ''), null);
    equal((await bucket.get(key))?.value, '');
    equal(await bucket.get('absent'), null);
    for (const bad of ['a b', '*', '>', '', `${other}\r\nPUB x 0`]) {
      await rejects(bucket.get(bad), RangeError);
      await rejects(bucket.create(bad, 'x'), RangeError);
    }
  });

  it('fails at once when the link breaks meanwhile, and goes on with the next server', async () => {
    const bucket = await openKeyValue(here.connection, 'broken-link');
    notEqual(await bucket.create('before', '1'), null);
    const asked = Array.from({ length: 200 }, (_, index) => bucket.create(`k${index}`, '1'));
    const outcomes = Promise.allSettled(asked);
    await restartUnder(server, here.connection, there.connection);
    const lost = (await outcomes).filter(({ status }) => status === 'rejected').length;
    const again = await Promise.all(asked.map((_, index) => bucket.create(`k${index}`, '2')));
    ok(again.filter((revision) => revision !== null).length <= lost);
    equal((await bucket.get('before'))?.value, '1');
  });
});
