import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasedKind } from '../../../src/domain/erasures.ts';
import { AppError } from '../../../src/errors.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { createClaimTurns } from '../../../src/web/ingest/claim-turns.ts';
import { openIdempotencyStore, type IdempotencyStore } from '../../../src/web/ingest/idempotency.ts';
import { bodyDigest } from '../../../src/web/ingest/body-digest.ts';
import { createAcceptor, type Accepted, type AcceptorParts } from '../../../src/web/ingest/acceptor.ts';
import { authorsIn } from '../../../src/web/ingest/prepared-request.ts';
import { nameIn, type IngestBody } from '../../../src/web/ingest/request-body.ts';
import { NO_WARNINGS } from '../../../src/web/ingest/warnings.ts';
import { HELD_DAYS, type ErasureHolds } from '../../../src/stream/ledgers/erasure-holds.ts';
import { ErasureLedger } from '../../../src/stream/ledgers/erasure-ledger.ts';
import { openRegistry, type Registry } from '../../../src/web/registry/registry.ts';
import { decodeRecord, draftRequest } from '../../../src/stream/log/codec.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { openConsumer } from '../../../src/stream/log/consumer.ts';
import { createPublisher, type Publisher } from '../../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { openTestMasker, type TestMasker } from '../../support/masker.ts';
import { killUnder, startTestServer, type TestServer } from '../../support/nats.ts';

const NOW = 1_772_366_400_000_000;
const hello: IngestBody = { messages: [{ content: 'Hello', role: 'user', userId: 'ann' }] };

/** The acceptor, given bodies that nobody has written out yet. */
interface Acceptor {
  accept(request: {
    readonly projectId: string;
    readonly body: IngestBody;
    readonly idempotencyKey?: string;
    readonly deduplicationId?: string;
  }): Promise<Accepted>;
}

function openAcceptor(parts: Omit<AcceptorParts, 'turns'>): Acceptor {
  const acceptor = createAcceptor({ ...parts, turns: createClaimTurns() });
  return {
    accept: ({ body, ...request }) => {
      const { projectId, instanceId, sessionId } = body;
      const [draft, digest, instanceName] = [draftRequest(body), bodyDigest(body), nameIn(body)];
      const messages = body.messages.length;
      const authors = authorsIn(body.messages);
      const prepared = { projectId, instanceId, sessionId, instanceName, draft, authors, messages, digest };
      return acceptor.accept({
        idempotencyKey: undefined,
        ...request,
        body: { ...prepared, warnings: NO_WARNINGS },
      });
    },
  };
}

interface Process {
  readonly connection: StreamConnection;
  readonly registry: Registry;
  readonly publisher: Publisher;
  readonly idempotency: IdempotencyStore;
  readonly ledger: ErasureLedger;
  readonly holds: ErasureHolds;
  readonly masker: TestMasker;
  readonly acceptor: Acceptor;
}

describe('acceptor', () => {
  let server: TestServer;
  let here: Process;
  let there: Process;
  let now = NOW;

  async function startProcess(): Promise<Process> {
    const connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    const registry = await openRegistry(connection);
    await registry.whenReady();
    const publisher = createPublisher(connection, { timeoutMs: 2000 });
    const idempotency = await openIdempotencyStore(connection);
    const ledger = await ErasureLedger.open(connection);
    const holds = ledger.holds(registry.erasureDigest, () => new Date(now / 1000));
    await holds.loaded;
    const masker = openTestMasker(registry);
    const acceptor = openAcceptor({ registry, publisher, idempotency, holds, masker, clock: () => now++ });
    return { connection, registry, publisher, idempotency, ledger, holds, masker, acceptor };
  }

  before(async () => {
    server = await startTestServer();
    [here, there] = await Promise.all([startProcess(), startProcess()]);
  });
  after(async () => {
    for (const process of [here, there]) {
      await process.holds.close();
      await process.masker.close();
      await process.registry.close();
      await process.connection.close();
    }
    await server.stop();
  });

  async function newProject(): Promise<string> {
    return (await here.registry.projects.create(randomUUID())).id;
  }

  /** The requests stored for an instance, in stream order. */
  async function stored(instanceId: string): Promise<(RecordedRequest & { readonly sequence: number })[]> {
    const consumer = await openConsumer(here.connection, { startSequence: 1 });
    const last = await consumer.lastSequence();
    const found: (RecordedRequest & { readonly sequence: number })[] = [];
    for (let sequence = 0; sequence < last;) {
      for (const entry of await consumer.next({ maxMessages: 100, maxBytes: 1e8, waitMs: 2000 })) {
        sequence = entry.sequence;
        for (const request of decodeRecord(entry.bytes).requests) {
          if (request.instanceId === instanceId) found.push({ ...request, sequence });
        }
      }
    }
    await consumer.close();
    return found;
  }

  function refused(code: AppError['code']) {
    return (error: unknown): boolean => error instanceof AppError && error.code === code;
  }

  it('opens an instance and a session when none is named, and stores what it answers', async () => {
    const projectId = await newProject();
    const metadata = { instance: { name: 'Web chat' }, session: { channel: 'web' } };
    const accepted = await here.acceptor.accept({ projectId, body: { ...hello, metadata } });
    match(accepted.instanceId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    match(accepted.sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-8/);
    const [request] = await stored(accepted.instanceId);
    deepEqual(request, {
      requestId: request?.requestId,
      projectId,
      instanceId: accepted.instanceId,
      sessionId: accepted.sessionId,
      acceptedAt: request?.acceptedAt,
      messages: [{ content: 'Hello', role: 'user', userId: 'ann', at: request?.acceptedAt }],
      metadata,
      sequence: accepted.position,
    });
    equal((await there.registry.findInstance(accepted.instanceId))?.name, 'Web chat');
  });

  it('keeps the event time of messages that have one', async () => {
    const projectId = await newProject();
    const messages = [
      { content: 'then', role: 'user', at: 5 },
      { content: 'now', role: 'user' },
    ];
    const { instanceId } = await here.acceptor.accept({ projectId, body: { messages } });
    const [request] = await stored(instanceId);
    deepEqual(
      request?.messages.map(({ at }) => at),
      [5, request?.acceptedAt],
    );
  });

  it('appends to a session of ours, with or without its instance, from another process at once', async () => {
    const projectId = await newProject();
    const { instanceId, sessionId } = await here.acceptor.accept({ projectId, body: hello });
    for (const body of [
      { ...hello, sessionId },
      { ...hello, sessionId, instanceId },
    ]) {
      const again = await there.acceptor.accept({ projectId, body });
      deepEqual([again.instanceId, again.sessionId], [instanceId, sessionId]);
    }
    const other = await there.acceptor.accept({ projectId, body: { ...hello, instanceId } });
    equal(other.instanceId, instanceId);
    notEqual(other.sessionId, sessionId);
  });

  it('creates a session under the id that the client chose', async () => {
    const projectId = await newProject();
    const sessionId = randomUUID();
    const first = await here.acceptor.accept({ projectId, body: { ...hello, sessionId } });
    equal(first.sessionId, sessionId);
    const again = await there.acceptor.accept({ projectId, body: { ...hello, sessionId } });
    deepEqual([again.instanceId, again.sessionId], [first.instanceId, sessionId]);

    const { instanceId } = await here.acceptor.accept({ projectId, body: hello });
    const chosen = randomUUID();
    equal(
      (await here.acceptor.accept({ projectId, body: { ...hello, instanceId, sessionId: chosen } }))
        .instanceId,
      instanceId,
    );
    equal(
      (await there.acceptor.accept({ projectId, body: { ...hello, sessionId: chosen } })).instanceId,
      instanceId,
    );
  });

  it('lets several projects choose the same session id', async () => {
    const sessionId = randomUUID();
    const accept = async () =>
      here.acceptor.accept({ projectId: await newProject(), body: { ...hello, sessionId } });
    const [one, two] = [await accept(), await accept()];
    deepEqual([one.sessionId, two.sessionId], [sessionId, sessionId]);
    notEqual(one.instanceId, two.instanceId);
  });

  it('opens one instance when many requests open the same session at once', async () => {
    const projectId = await newProject();
    const sessionId = randomUUID();
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? here : there).acceptor.accept({ projectId, body: { ...hello, sessionId } }),
      ),
    );
    equal(new Set(accepted.map(({ instanceId }) => instanceId)).size, 1);
    const instances = await here.registry.listInstances();
    equal(instances.filter((instance) => instance.projectId === projectId).length, 1);
  });

  describe('refuses', () => {
    it("403: another project's projectId", async () => {
      const projectId = await newProject();
      const body = { ...hello, projectId: await newProject() };
      await rejects(here.acceptor.accept({ projectId, body }), refused('FORBIDDEN'));
      ok(await here.acceptor.accept({ projectId, body: { ...hello, projectId } }));
    });

    it('404: an unknown instance and one of another project, alike', async () => {
      const projectId = await newProject();
      const { instanceId } = await here.acceptor.accept({ projectId: await newProject(), body: hello });
      const texts: string[] = [];
      for (const id of [instanceId, randomUUID()]) {
        await rejects(here.acceptor.accept({ projectId, body: { ...hello, instanceId: id } }), (error) => {
          texts.push((error as Error).message.replace(id, 'ID'));
          return refused('NOT_FOUND')(error);
        });
      }
      equal(texts[0], texts[1]);
    });

    it('409: a session of another instance, ours or chosen by the client', async () => {
      const projectId = await newProject();
      const one = await here.acceptor.accept({ projectId, body: hello });
      const two = await here.acceptor.accept({ projectId, body: { ...hello, sessionId: randomUUID() } });
      for (const [a, b] of [
        [one, two],
        [two, one],
      ] as const) {
        const body = { ...hello, instanceId: a.instanceId, sessionId: b.sessionId };
        await rejects(there.acceptor.accept({ projectId, body }), refused('CONFLICT'));
      }
    });

    it('409: a session that was issued to another project', async () => {
      const { sessionId } = await here.acceptor.accept({ projectId: await newProject(), body: hello });
      const projectId = await newProject();
      await rejects(here.acceptor.accept({ projectId, body: { ...hello, sessionId } }), refused('CONFLICT'));
    });

    it('nothing stays registered of a request that is refused', async () => {
      const projectId = await newProject();
      const sessionId = randomUUID();
      const body = { ...hello, sessionId, instanceId: randomUUID() };
      await rejects(here.acceptor.accept({ projectId, body, idempotencyKey: 'k' }), refused('NOT_FOUND'));
      equal(await here.registry.findSessionClaim(projectId, sessionId), null);
      const { instanceId } = await here.acceptor.accept({ projectId, body: hello });
      ok(await here.acceptor.accept({ projectId, body: { ...body, instanceId }, idempotencyKey: 'k' }));
    });
  });

  describe('leaves nothing behind of a request', () => {
    async function nothingOf(projectId: string, sessionId: string): Promise<void> {
      const instances = await there.registry.listInstances();
      equal(instances.filter((instance) => instance.projectId === projectId).length, 0);
      equal(await there.registry.findSessionClaim(projectId, sessionId), null);
      // The key was not taken: another body may have it.
      ok(await here.acceptor.accept({ projectId, body: hello, idempotencyKey: 'k' }));
    }

    it('413: that no record of the stream can hold', async () => {
      const projectId = await newProject();
      const sessionId = randomUUID();
      const content = randomBytes(17 * 2 ** 20).toString('base64');
      const body = { messages: [{ content, role: 'user' }], sessionId };
      const request = { projectId, body, idempotencyKey: 'k' };
      await rejects(here.acceptor.accept(request), refused('PAYLOAD_TOO_LARGE'));
      await nothingOf(projectId, sessionId);
    });

    it('503: for which the stream has no room', async () => {
      const projectId = await newProject();
      const sessionId = randomUUID();
      const publisher = createPublisher(here.connection, { hasRoom: () => false });
      const { registry, idempotency, holds, masker } = here;
      const full = openAcceptor({ registry, idempotency, holds, masker, publisher, clock: () => now++ });
      const request = { projectId, body: { ...hello, sessionId }, idempotencyKey: 'k' };
      await rejects(full.accept(request), refused('SERVICE_UNAVAILABLE'));
      await nothingOf(projectId, sessionId);
    });
  });

  describe('of an instance that is masked', () => {
    /** An instance, and everything of it masked as soon as both processes know. */
    async function maskedInstance(projectId: string, userIds: 'asSent' | 'digest'): Promise<string> {
      const { id } = await here.registry.createInstance({ projectId });
      const changes = { masking: { texts: true, userIds } };
      ok(await here.registry.changeInstance({ projectId, id, changes }));
      while ((await there.registry.findInstance(id))?.masking === undefined) await sleep(5);
      return id;
    }
    const mail = (content: string, userId = 'ann'): IngestBody['messages'] => [
      { content, role: 'user', userId },
    ];

    it('stores placeholders in place of values, equal ones the same over requests and processes', async () => {
      const projectId = await newProject();
      const instanceId = await maskedInstance(projectId, 'asSent');
      const sessionId = randomUUID();
      const own = { instanceId, sessionId };
      await here.acceptor.accept({ projectId, body: { ...own, messages: mail('mail a@example.com') } });
      const both = mail('b@example.com and a@example.com');
      await there.acceptor.accept({ projectId, body: { ...own, messages: both } });
      const [first = '', second = ''] = (await stored(instanceId)).map(
        ({ messages }) => messages[0]?.content,
      );
      const [a] = first.match(/\[EMAIL_\d+\]/) ?? [];
      match(first, /^mail \[EMAIL_\d+\]$/);
      match(second, /^\[EMAIL_\d+\] and \[EMAIL_\d+\]$/);
      ok(a !== undefined && second.endsWith(a) && !second.startsWith(a));
    });

    it('stores the same for a retry with the same key, whichever process takes it', async () => {
      const projectId = await newProject();
      const instanceId = await maskedInstance(projectId, 'digest');
      const body = { instanceId, messages: mail('I am Dorothy Pemberton, mail a@example.com') };
      const idempotencyKey = 'again';
      await here.acceptor.accept({ projectId, body, idempotencyKey });
      await there.acceptor.accept({ projectId, body, idempotencyKey });
      const [first, second] = await stored(instanceId);
      ok(first !== undefined && second !== undefined);
      deepEqual({ ...second, sequence: 0 }, { ...first, sequence: 0 });
      match(first.messages[0]?.content ?? '', /^I am \[NAME_\d+\], mail \[EMAIL_\d+\]$/);
      match(first.messages[0]?.userId ?? '', /^user_/);
    });

    it('refuses what was said before an erasure by the id that was sent, or by the one that is stored', async () => {
      const projectId = await newProject();
      const instanceId = await maskedInstance(projectId, 'digest');
      const masking = { texts: true, userIds: 'digest' } as const;
      const names = { sent: 'bea', stored: here.masker.userId(instanceId, 'cleo', masking) };
      for (const name of Object.values(names)) {
        await there.ledger.add({
          id: randomUUID(),
          projectId,
          instanceId,
          kind: 'END_USER',
          digest: there.registry.erasureDigest('END_USER', instanceId, name),
          keyId: 'key_1',
          reason: null,
          requestedAt: new Date(Math.ceil(now / 1000) + 1000).toISOString(),
          doneAt: null,
          position: 1,
          state: 'DONE',
          receipt: null,
          fault: null,
        });
        const authors = [{ user: name, earliest: 0, untimed: false }];
        const early = { projectId, instanceId, sessionId: undefined, authors, acceptedAt: 0 };
        while (!here.holds.refuses(early)) await sleep(5);
      }
      for (const user of ['bea', 'cleo'])
        await rejects(
          here.acceptor.accept({ projectId, body: { instanceId, messages: mail('Hello', user) } }),
          refused('CONFLICT'),
        );
      await here.acceptor.accept({ projectId, body: { instanceId, messages: mail('Hello', 'dora') } });
    });
  });

  describe('after an erasure', () => {
    /** Erases what is of a kind and a name, and gives the instance. */
    async function erase(
      projectId: string,
      kind: ErasedKind,
      nameOf: (answer: Accepted) => string,
    ): Promise<Accepted> {
      const answer = await here.acceptor.accept({ projectId, body: hello });
      const { instanceId } = answer;
      await there.ledger.add({
        id: randomUUID(),
        projectId,
        instanceId,
        kind,
        digest: there.registry.erasureDigest(kind, instanceId, nameOf(answer)),
        keyId: 'key_1',
        reason: null,
        requestedAt: new Date(Math.ceil(now / 1000) + 1000).toISOString(),
        doneAt: null,
        position: 1,
        state: 'DONE',
        receipt: null,
        fault: null,
      });
      const before = { projectId, instanceId, sessionId: undefined, authors: EARLY, acceptedAt: 0 };
      if (kind === 'END_USER') while (!here.holds.refuses(before)) await sleep(5);
      else await sleep(200);
      return answer;
    }

    const EARLY = [{ user: 'ann', earliest: 0, untimed: false }];
    const messagesOf = (userId: string, at?: number): IngestBody['messages'] => [
      { content: 'Hello', role: 'user', userId, ...(at === undefined ? {} : { at }) },
    ];

    it('409: what an end user said before it comes no more, and what others say or they say later does', async () => {
      const projectId = await newProject();
      const { instanceId } = await erase(projectId, 'END_USER', () => 'ann');
      const accept = (messages: IngestBody['messages']): Promise<Accepted> =>
        here.acceptor.accept({ projectId, body: { instanceId, messages } });
      await rejects(accept([...messagesOf('bo', NOW), ...messagesOf('ann', NOW)]), refused('CONFLICT'));
      // Accepted a moment before it.
      await rejects(accept(messagesOf('ann')), refused('CONFLICT'));
      await accept(messagesOf('bo', NOW));
      now += 2_000_000;
      await accept(messagesOf('ann'));
      await rejects(accept(messagesOf('ann', NOW)), refused('CONFLICT'));
      now += HELD_DAYS * 86_400_000_000;
      await accept(messagesOf('ann', NOW));
      equal((await stored(instanceId)).length, 4);
    });

    it('409: what belongs to a session or an instance from before it comes no more', async () => {
      const projectId = await newProject();
      const { instanceId, sessionId } = await erase(projectId, 'SESSION', (answer) => answer.sessionId);
      await rejects(
        here.acceptor.accept({ projectId, body: { sessionId, messages: messagesOf('bo', NOW) } }),
        refused('CONFLICT'),
      );
      await here.acceptor.accept({ projectId, body: { instanceId, messages: messagesOf('bo', NOW) } });
      const whole = await erase(projectId, 'INSTANCE', (answer) => answer.instanceId);
      await rejects(
        here.acceptor.accept({
          projectId,
          body: { instanceId: whole.instanceId, messages: messagesOf('bo', NOW) },
        }),
        refused('CONFLICT'),
      );
    });
  });

  describe('with an Idempotency-Key', () => {
    const ids = ({ instanceId, sessionId }: Accepted): string[] => [instanceId, sessionId];

    /** The instance has the request once, as far as the worker can see: records of it share a request id. */
    async function storedOnce({ instanceId }: Accepted): Promise<boolean> {
      const requests = await stored(instanceId);
      const [first] = requests;
      for (const { sequence: _, ...request } of requests) {
        const { sequence: _first, ...expected } = first ?? { sequence: 0 };
        deepEqual(request, expected);
      }
      return requests.length > 0;
    }

    it('lets projects take turns: very many keys of one do not hold up another', async () => {
      const [greedy, other] = [await newProject(), await newProject()];
      const [gate, asked] = [Promise.withResolvers<void>(), [] as string[]];
      const acceptor = openAcceptor({
        ...here,
        clock: () => now++,
        idempotency: {
          find: async () => null,
          async claim(projectId, key, digest, acceptedAt) {
            asked.push(projectId);
            await gate.promise;
            return here.idempotency.claim(projectId, key, digest, acceptedAt);
          },
        },
      });
      const { instanceId } = await here.acceptor.accept({ projectId: greedy, body: hello });
      const body = { ...hello, instanceId };
      const many = Array.from({ length: 300 }, (_, i) =>
        acceptor.accept({ projectId: greedy, body, idempotencyKey: `k ${i}` }),
      );
      const one = acceptor.accept({ projectId: other, body: hello, idempotencyKey: 'k' });
      while (!asked.includes(other)) await new Promise((done) => setImmediate(done));
      equal(asked.filter((projectId) => projectId === greedy).length, 64);
      // Who needs no claim waits for none.
      await acceptor.accept({ projectId: greedy, body });
      gate.resolve();
      await Promise.all([one, ...many]);
      equal(asked.length, 301);
    });

    it('gives the same answer to the same request, from any process', async () => {
      const projectId = await newProject();
      const request = { projectId, body: hello, idempotencyKey: 'order 66' };
      const first = await here.acceptor.accept(request);
      deepEqual(ids(await there.acceptor.accept(request)), ids(first));
      deepEqual(await here.acceptor.accept(request), first);
      ok(await storedOnce(first));
    });

    it('does not mind the order of members', async () => {
      const projectId = await newProject();
      const one = { messages: [{ content: 'x', role: 'user', metadata: { a: 1, b: { c: 1, d: 2 } } }] };
      const two = { messages: [{ role: 'user', metadata: { b: { d: 2, c: 1 }, a: 1 }, content: 'x' }] };
      const first = await here.acceptor.accept({ projectId, body: one, idempotencyKey: 'k' });
      deepEqual(await here.acceptor.accept({ projectId, body: two, idempotencyKey: 'k' }), first);
    });

    it('409: the same key with another body', async () => {
      const projectId = await newProject();
      await here.acceptor.accept({ projectId, body: hello, idempotencyKey: 'k' });
      for (const body of [
        { messages: [{ content: 'Hello!', role: 'user', userId: 'ann' }] },
        { ...hello, sessionId: randomUUID() },
        { ...hello, metadata: {} },
      ]) {
        for (const { acceptor } of [here, there]) {
          await rejects(acceptor.accept({ projectId, body, idempotencyKey: 'k' }), refused('CONFLICT'));
        }
      }
    });

    it('keeps projects apart', async () => {
      const first = await here.acceptor.accept({
        projectId: await newProject(),
        body: hello,
        idempotencyKey: 'k',
      });
      const second = await here.acceptor.accept({
        projectId: await newProject(),
        body: hello,
        idempotencyKey: 'k',
      });
      notEqual(first.instanceId, second.instanceId);
    });

    it('gives concurrent duplicates one answer, and the worker one request', async () => {
      for (const sessionId of [undefined, randomUUID()]) {
        const projectId = await newProject();
        const body = sessionId === undefined ? hello : { ...hello, sessionId };
        const accepted = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            (i % 2 === 0 ? here : there).acceptor.accept({ projectId, body, idempotencyKey: 'k' }),
          ),
        );
        equal(new Set(accepted.map((one) => ids(one).join())).size, 1);
        ok(accepted[0] && (await storedOnce(accepted[0])));
        const instances = await here.registry.listInstances();
        equal(instances.filter((instance) => instance.projectId === projectId).length, 1);
      }
    });

    for (const failure of ['before', 'after'] as const) {
      it(`gives a retry the ids of the first try when its answer was lost ${failure} storing`, async () => {
        const projectId = await newProject();
        let lost: RecordedRequest | undefined;
        const failing = openAcceptor({
          registry: here.registry,
          idempotency: here.idempotency,
          holds: here.holds,
          masker: here.masker,
          clock: () => now++,
          publisher: {
            pendingBytes: 0,
            drain: async () => undefined,
            check: async () => undefined,
            publish: async (request) => {
              ok('parts' in request);
              lost = JSON.parse(Buffer.concat(request.parts).toString()) as RecordedRequest;
              if (failure === 'after') await here.publisher.publish(request);
              throw new AppError('SERVICE_UNAVAILABLE', 'lost', { retryAfter: 1 });
            },
          },
        });
        const request = { projectId, body: hello, idempotencyKey: 'k' };
        await rejects(failing.accept(request), refused('SERVICE_UNAVAILABLE'));
        const retried = await there.acceptor.accept(request);
        deepEqual(ids(retried), [lost?.instanceId, lost?.sessionId]);
        ok(await storedOnce(retried));
        equal((await stored(retried.instanceId))[0]?.requestId, lost?.requestId);
      });
    }
  });

  describe('with a deduplicationId', () => {
    it('gives the request one id in every process, and another in another session and project', async () => {
      const projectId = await newProject();
      const { instanceId, sessionId } = await here.acceptor.accept({ projectId, body: hello });
      const body = { ...hello, instanceId, sessionId };
      const request = { projectId, body, deduplicationId: 'import 1' };
      const first = await here.acceptor.accept(request);
      deepEqual([first.instanceId, first.sessionId], [instanceId, sessionId]);
      await there.acceptor.accept(request);
      await here.acceptor.accept({ ...request, deduplicationId: 'import 2' });
      await here.acceptor.accept({ ...request, body: { ...body, sessionId: randomUUID() } });
      const ids = (await stored(instanceId)).map(({ requestId }) => requestId);
      equal(ids.length, 5);
      equal(ids[2], ids[1]);
      equal(new Set(ids).size, 4);
      const other = await newProject();
      const theirs = { ...hello, sessionId: randomUUID() };
      const once = { body: theirs, deduplicationId: 'import 1' };
      const [ours, alien] = [
        await here.acceptor.accept({ projectId, ...once }),
        await here.acceptor.accept({ projectId: other, ...once }),
      ];
      notEqual((await stored(ours.instanceId))[0]?.requestId, (await stored(alien.instanceId))[0]?.requestId);
    });

    it('opens one instance when a session without one is sent again', async () => {
      const projectId = await newProject();
      const request = { projectId, body: { ...hello, sessionId: randomUUID() }, deduplicationId: 'once' };
      const answers = await Promise.all([here, there, here].map(({ acceptor }) => acceptor.accept(request)));
      equal(new Set(answers.map(({ instanceId }) => instanceId)).size, 1);
      const ids = (await stored(answers[0]?.instanceId ?? '')).map(({ requestId }) => requestId);
      deepEqual([ids.length, new Set(ids).size], [3, 1]);
    });
  });

  it('answers 503 while the server is away and works again after', async () => {
    const projectId = await newProject();
    const { instanceId } = await here.acceptor.accept({ projectId, body: hello });
    await killUnder(server, here.connection);
    for (const body of [{ ...hello, instanceId }, hello]) {
      await rejects(here.acceptor.accept({ projectId, body }), refused('SERVICE_UNAVAILABLE'));
    }
    await rejects(
      here.acceptor.accept({ projectId, body: { ...hello, instanceId }, idempotencyKey: 'k' }),
      refused('SERVICE_UNAVAILABLE'),
    );
    await server.restart();
    ok(await here.connection.whenConnected(5000));
    ok(await here.acceptor.accept({ projectId, body: { ...hello, instanceId }, idempotencyKey: 'k' }));
  });
});
