/** How the names of hosts are looked up: by a name server of the test, which is silent about names it does not know. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createPost, PostError, type PostOptions } from '../../../src/doors/alerts/post.ts';
import { startNameServer, type NameServer } from '../../support/name-server.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';

const [LOOPBACK, PRIVATE_V6] = ['7f000001', 'fd000000000000000000000000000001'];
const NAMES = {
  'A hook.example': LOOPBACK,
  'AAAA hook.example': '',
  'A both.example': '08080808',
  'AAAA both.example': PRIVATE_V6,
  'A none.example': '',
  'AAAA none.example': '',
  'A localhost': '',
  'AAAA localhost': '',
};
/** Another project's message has arrived by then: long before a silent name server is given up. */
const PROMPTLY_MS = 900;

const options = (project: string, timeoutMs = 5000): PostOptions => ({
  headers: {},
  body: '{}',
  project,
  timeoutMs,
  signal: new AbortController().signal,
});

describe('the addresses of a host', () => {
  let receiver: Receiver;
  let names: NameServer;
  let port: string;
  before(async () => {
    receiver = await startReceiver();
    ({ port } = new URL(receiver.url));
    names = await startNameServer(NAMES);
  });
  beforeEach(() => {
    receiver.received.length = 0;
    names.asked.length = 0;
  });
  after(() => Promise.all([receiver?.close(), names?.close()]));

  it('are found promptly while name servers of other hosts are silent', async () => {
    const post = createPost(true, { servers: [names.address] });
    const silent = Array.from({ length: 16 }, (_, index) =>
      rejects(post(`http://silent-${index}.example/`, options('other', 2000)), PostError),
    );
    const begunAt = performance.now();
    equal((await post(`http://hook.example:${port}/`, options('victim'))).status, 204);
    // Nothing of the thread pool waits, either.
    await lookup('localhost');
    const tookMs = performance.now() - begunAt;
    ok(tookMs < PROMPTLY_MS, `it took ${tookMs} ms`);
    await Promise.all(silent);
  });

  it('are asked for once, of both families, and are those connected to', async () => {
    const post = createPost(true, { servers: [names.address] });
    await post(`http://hook.example:${port}/`, options('p'));
    deepEqual(names.asked.sort(), ['A hook.example', 'AAAA hook.example']);
    equal(receiver.received.length, 1);
  });

  it('are refused when one of either family is private, in the words for a name that has none', async () => {
    const post = createPost(false, { servers: [names.address] });
    const refusalOf = async (host: string): Promise<[string, string]> => {
      const error: unknown = await post(`http://${host}:${port}/`, options('p')).catch((reason) => reason);
      ok(error instanceof PostError, String(error));
      return [error.message, error.code];
    };
    const hosts = ['hook.example', 'both.example', 'none.example', 'silent.example'];
    const answers = await Promise.all(hosts.map(refusalOf));
    deepEqual([...new Set(answers.map(([message]) => message))], [answers[0]?.[0]]);
    // Only the operator learns more.
    deepEqual(
      answers.map(([, code]) => code),
      ['NOT_PUBLIC', 'NOT_PUBLIC', 'ENODATA', 'ETIMEOUT'],
    );
    deepEqual(receiver.received, []);
  });

  it('are what the system knows of names that no name server knows, where they may be private', async () => {
    const post = createPost(true, { servers: [names.address] });
    equal((await post(`http://localhost:${port}/`, options('p'))).status, 204);
  });

  it('are asked of the system in turns: names of one project do not hold up those of another', async () => {
    const asked: string[] = [];
    const held = Promise.withResolvers<never>();
    const post = createPost(true, {
      servers: [names.address],
      bySystem: async (name) => {
        asked.push(name);
        return name === 'localhost' ? [{ address: '127.0.0.1', family: 4 }] : held.promise;
      },
    });
    const slow = [1, 2, 3].map(() => rejects(post('http://none.example/', options('other', 500)), PostError));
    equal((await post(`http://localhost:${port}/`, options('victim'))).status, 204);
    await Promise.all(slow);
    held.reject(new Error('given up'));
    equal((await post(`http://localhost:${port}/`, options('other'))).status, 204);
    // What nobody waits for any more is not asked.
    deepEqual(asked.sort(), ['localhost', 'localhost', 'none.example']);
  });
});
