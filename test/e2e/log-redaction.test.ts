/** No log line, at any level, holds what people wrote or a key. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { createLogger } from '../../src/logger.ts';
import { openRegistry, type Registry } from '../../src/web/registry/registry.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { readDeadLetters } from '../../src/stream/dead-letters/dead-letters.ts';
import { encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { createPublisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { conversationsSubject, partitionOf } from '../../src/stream/subjects.ts';
import { AnalysisPool } from '../../src/reader/threads/pool.ts';
import { openShard } from '../../src/worker/shard.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { end, environmentOf, eventually, runScript, type Running } from '../support/processes.ts';
import { recordedRequest } from '../support/requests.ts';

/** Stands in everything that somebody sends. */
const SECRET = 'xyzzyplugh';
const text = (about: string): string => `${about} ${SECRET} 'quoted ${SECRET}'`;

describe('logs', () => {
  const temporary = temporaryDirectory();
  let server: TestServer;
  let connection: StreamConnection;
  let registry: Registry;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    registry = await openRegistry(connection);
    await registry.whenReady();
  });
  after(async () => {
    await registry?.close();
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  /** The lines that hold any of these. */
  function leaks(lines: string, secrets: readonly string[]): string[] {
    return lines
      .split('\n')
      .filter((line) => secrets.some((secret) => line.toLowerCase().includes(secret.toLowerCase())));
  }

  async function deadLetters(): Promise<number> {
    let count = 0;
    for await (const _ of readDeadLetters(connection)) count += 1;
    return count;
  }

  it('hold nothing of what web and worker are sent, taken or refused', async () => {
    const { rawKey } = await registry.createKey({ projectName: 'shop', env: 'live' });
    const env = { HOST: '127.0.0.1', PORT: '0', SERVE: 'all', LOG_LEVEL: 'trace' };
    const processes = ['main/web.ts', 'main/worker.ts'].map((script) =>
      runScript(script, [], environmentOf(server, temporary.path, env)),
    );
    const [web, worker] = processes as [Running, Running];
    let token = '';
    try {
      await eventually(() => web.output().includes('"event":"web_ready"'), web.output);
      const url = /"url":"([^"]+)"/.exec(web.output())?.[1] ?? '';
      const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
        fetch(`${url}/v1/ingest/`, {
          method: 'POST',
          headers: { 'x-api-key': rawKey, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        });
      const conversation = {
        messages: [
          { role: 'user', userId: `ann-${SECRET}`, content: text('How do I cancel my order?') },
          { role: 'assistant', content: text("I'm sorry, I don't know that.") },
          { role: 'user', userId: `ann-${SECRET}`, content: text('How do I cancel my order?') },
        ],
        metadata: { session: { note: text('note') } },
      };
      const taken = await post(conversation, { 'idempotency-key': `once-${SECRET}` });
      const accepted = await taken.text();
      equal(taken.status, 200, accepted);
      const { instanceId } = JSON.parse(accepted) as { instanceId: string };

      const refused = [
        post(`{"messages": [{"role": "user", "content": "${SECRET}`),
        post(`${SECRET} is no JSON`),
        post({ messages: [{ role: SECRET, content: SECRET, createdAt: SECRET, [SECRET]: 1 }] }),
        post({ messages: SECRET, instanceId: SECRET }),
        post({ ...conversation, sessionId: SECRET }),
        post(conversation, { 'content-type': `text/${SECRET}` }),
        post(conversation, { 'content-encoding': SECRET }),
        post(conversation, { 'x-api-key': `${rawKey}${SECRET}` }),
        post(conversation, { 'x-api-key': rawKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')) }),
        fetch(`${url}/v1/query/?instanceId=${SECRET}&groupBy=${SECRET}&${SECRET}=1`, {
          headers: { 'x-api-key': rawKey },
        }),
        fetch(`${url}/${SECRET}?apiKey=${rawKey}`, { headers: { authorization: `Bearer ${rawKey}` } }),
      ];
      for (const answer of await Promise.all(refused)) ok(answer.status >= 400, String(answer.status));

      const publish = (payload: Uint8Array): Promise<unknown> =>
        jetstream(connection.nats).publish(conversationsSubject(partitionOf(instanceId)), payload);
      const record = (fields: object): Promise<Uint8Array> =>
        encodeRecord([encodeRequest(recordedRequest({ instanceId, sessionId: randomUUID(), ...fields }))]);
      const broken = [
        Buffer.from(`${SECRET} is no record`),
        Buffer.from(JSON.stringify({ v: SECRET, requests: [] })),
        Buffer.from(JSON.stringify({ v: 1, requests: [{ requestId: SECRET, messages: SECRET }] })),
        await record({ requestId: text('no uuid') }),
        await record({ sessionId: text('no uuid') }),
        await record({ messages: [{ content: SECRET, role: 'user', at: text('no time') }] }),
      ];
      for (const payload of broken) await publish(payload);
      await eventually(async () => (await deadLetters()) === broken.length, worker.output);

      const answer = await fetch(
        `${url}/v1/query/?${new URLSearchParams({ instanceId, groupBy: 'SESSION', fields: 'messages' }).toString()}`,
        {
          headers: {
            'x-api-key': rawKey,
            'x-wait-for-position': taken.headers.get('x-stream-position') ?? '',
          },
        },
      );
      ok(((await answer.json()) as { elements: unknown[] }).elements.length > 0);

      const made = await fetch(`${url}/v1/links`, {
        method: 'POST',
        headers: { 'x-api-key': rawKey, 'content-type': 'application/json' },
        body: JSON.stringify({ instanceId, view: 'view=overview&range=all' }),
      });
      ({ token } = (await made.json()) as { token: string });
      const seen = async (path: string): Promise<number> =>
        (await fetch(`${url}/v1/${path}`, { headers: { 'x-undertone-link': token } })).status;
      deepEqual(
        [await seen(`overview?instanceId=${instanceId}`), await seen(`curations?instanceId=${instanceId}`)],
        [200, 403],
      );
    } finally {
      for (const running of processes) await end(running);
    }
    ok(web.output().includes('"event":"request_answered"'), web.output());
    ok(worker.output().includes('"event":"entry_set_aside"'), worker.output());
    deepEqual(leaks(web.output(), [SECRET, rawKey, rawKey.slice(8), token]), []);
    deepEqual(leaks(worker.output(), [SECRET, rawKey, rawKey.slice(8)]), []);
  });

  it('hold nothing of a message whose analysis fails', async () => {
    const pool = await AnalysisPool.open({
      threads: 1,
      model: '',
      modelsDirectory: '',
      script: join(import.meta.dirname, '../support/hanging-analysis.ts'),
      patience: { textMs: 300, lookEveryMs: 40 },
    });
    const folder = temporaryDirectory();
    let lines = '';
    const shard = await openShard({
      dataDir: folder.path,
      batchBytes: 2 ** 20,
      memoryBytes: 256e6,
      analysis: pool,
      connection,
      logger: createLogger({ name: 'worker', level: 'trace', write: (line) => (lines += line) }),
      active: { epoch: 9, shards: 1 },
      shard: 0,
      setAside: () => Promise.resolve(),
      waitMs: 100,
      publishEveryMs: 0,
    });
    try {
      const publisher = createPublisher(connection);
      const messages = ['HANG', 'FILL', 'HANG LATER'].map((word, index) => ({
        content: `${text('please')} ${word}`,
        role: 'user',
        at: 1e15 + index,
      }));
      const sequence = await publisher.publish(recordedRequest({ messages }));
      await publisher.drain();
      shard.run().catch((error: unknown) => (lines += String(error)));
      await eventually(
        () => shard.counters.sequence >= sequence,
        () => lines,
      );
      ok(lines.includes('"event":"message_not_analysed"'), lines);
      deepEqual(leaks(lines, [SECRET]), []);
    } finally {
      await shard.close();
      await pool.close();
      folder.remove();
    }
  });
});
