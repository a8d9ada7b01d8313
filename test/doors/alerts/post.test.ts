import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPost, PostError, type PostOptions } from '../../../src/doors/alerts/post.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';

const { signal } = new AbortController();
const options: PostOptions = {
  headers: { 'webhook-id': 'x' },
  body: '{"a":"ä"}',
  project: 'p',
  timeoutMs: 5000,
  signal,
};

describe('posting', () => {
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver?.close());

  it('sends the body and gives the status, whatever it is', async () => {
    const post = createPost(true);
    deepEqual(await post(`${receiver.url}/a`, options), { status: 204, retryAfterMs: null });
    equal(receiver.received.at(-1)?.body, options.body);
    equal(receiver.received.at(-1)?.headers['content-length'], '10');
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': '7' }).end('x'.repeat(100_000));
    deepEqual(await post(receiver.url, options), { status: 429, retryAfterMs: 7000 });
  });

  it('follows no redirect', async () => {
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end();
    equal((await createPost(true)(receiver.url, options)).status, 307);
    equal(receiver.received.length, 1);
  });

  it('connects to no private address, by number or by name', async () => {
    receiver.received.length = 0;
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:0:127.0.0.1]'])
      await rejects(
        createPost(false)(`http://${host}:${port}/`, options),
        /WEBHOOK_ALLOW_PRIVATE=true/,
        host,
      );
    deepEqual(receiver.received, []);
  });

  it('does not tell what the names of its network are', async () => {
    const post = createPost(false);
    const refusalOf = async (host: string): Promise<string> => {
      const error: unknown = await post(`http://${host}:9/`, options).catch((reason: unknown) => reason);
      ok(error instanceof PostError, String(error));
      return error.message;
    };
    // One is known to this machine and private, the others are not known.
    const [known, ...unknown] = await Promise.all(
      ['localhost', 'nobody.invalid', 'a_b.invalid'].map(refusalOf),
    );
    match(known ?? '', /the name of the host is not known, or leads to .*WEBHOOK_ALLOW_PRIVATE=true/);
    deepEqual(unknown, [known, known]);
  });

  it('gives up when nothing answers in time, or nobody listens', async () => {
    receiver.answer = () => undefined;
    await rejects(
      createPost(true)(receiver.url, { ...options, timeoutMs: 50 }),
      /no answer within 0\.05 seconds/,
    );
    const post = createPost(true);
    await rejects(post('http://127.0.0.1:1/', options), /the connection was refused/);
    await rejects(post('http://nobody.invalid/', options), /the name of the host/);
  });

  it('says in plain words that the answer cannot be read', async () => {
    const post = createPost(true);
    receiver.answer = (response) => response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n');
    await rejects(post(receiver.url, options), { message: 'the answer is not HTTP' });
    await rejects(post(receiver.url.replace('http:', 'https:'), options), /the host does not speak TLS/);
  });

  it('can be broken off', async () => {
    const breaking = new AbortController();
    const posting = createPost(true)(receiver.url, { ...options, signal: breaking.signal });
    breaking.abort();
    await rejects(posting);
  });
});
