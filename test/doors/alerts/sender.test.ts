import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Outbox, type Message } from '../../../src/doors/alerts/outbox.ts';
import { PostError, type Post, type PostAnswer } from '../../../src/doors/alerts/post.ts';
import { MOST_ATTEMPTS } from '../../../src/doors/alerts/retries.ts';
import type { Rule } from '../../../src/doors/alerts/rule.ts';
import { Sender, type SenderOptions } from '../../../src/doors/alerts/sender.ts';
import { silentLogger } from '../../../src/logger.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { INSTANCE, message, NOW, RULE, rule } from './builders.ts';

const OK: PostAnswer = { status: 204, retryAfterMs: null };

/** A sender over an outbox in memory; what it posts is answered by `post`. */
class Desk {
  readonly bucket = new MemoryBucket();
  readonly outbox = new Outbox(this.bucket);
  readonly posted: { url: string; headers: Readonly<Record<string, string>>; body: string }[] = [];
  rules: Rule[] = [rule()];
  now = NOW;
  isOurs = true;
  post: Post = async () => OK;
  #sender: Sender | null = null;

  start(changes: Partial<SenderOptions> = {}): Sender {
    this.#sender = new Sender({
      outbox: this.outbox,
      rules: {
        list: async () => this.rules,
        disable: async (_, id, disabled) => {
          this.rules = this.rules.map((one) => (one.id === id ? { ...one, disabled } : one));
        },
      },
      known: {
        find: (_, id) => this.rules.find((one) => one.id === id),
        loaded: Promise.resolve(),
      },
      post: async (url, options) => {
        this.posted.push({ url, headers: options.headers, body: options.body });
        return this.post(url, options);
      },
      projectOf: async (instanceId) => instanceId,
      guardOf: () => (this.isOurs ? async () => undefined : null),
      logger: silentLogger(),
      now: () => this.now,
      chance: () => 0,
      ...changes,
    });
    return this.#sender;
  }

  /** Lets everything happen that is due. */
  async settled(): Promise<Message[]> {
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    return this.outbox.of(INSTANCE, RULE);
  }

  async later(ms: number): Promise<Message[]> {
    this.now += ms;
    this.#sender?.look();
    return this.settled();
  }
}

describe('the sender', () => {
  it('posts what is in the outbox, signed, and notes that it was delivered', async () => {
    const desk = new Desk();
    await desk.outbox.add(message());
    const sender = desk.start();
    const [sent] = await desk.settled();
    deepEqual(
      [sent?.state, sent?.attempts, sent?.last],
      ['delivered', 1, { at: NOW, status: 204, reason: '' }],
    );
    const [posted, ...others] = desk.posted;
    deepEqual(others, []);
    deepEqual([posted?.url, posted?.body], ['https://example.com/hook', message().body]);
    deepEqual(
      [posted?.headers['webhook-id'], posted?.headers['webhook-timestamp'], posted?.headers['content-type']],
      [message().id, String(NOW / 1000), 'application/json'],
    );
    match(posted?.headers['webhook-signature'] ?? '', /^v1,/);
    deepEqual(sender.counters, { delivered: 1, failed: 0, dead: 0, pending: 0 });
    await sender.close();
  });

  it('posts again after a pause, under the same id, until it is answered with success', async () => {
    const desk = new Desk();
    await desk.outbox.add(message());
    const answers = [
      () => Promise.reject(new PostError('the connection was refused')),
      async () => ({ status: 500, retryAfterMs: null }),
      async () => ({ status: 302, retryAfterMs: null }),
      async () => OK,
    ];
    desk.post = () => (answers.shift() ?? (async () => OK))();
    const sender = desk.start();
    const [first] = await desk.settled();
    deepEqual(
      [first?.state, first?.nextAt, first?.last?.reason],
      ['pending', NOW + 5000, 'the connection was refused'],
    );
    equal((await desk.later(4999))[0]?.attempts, 1);
    deepEqual((await desk.later(1))[0]?.last, { at: NOW + 5000, status: 500, reason: 'the answer was 500' });
    equal((await desk.later(30_000))[0]?.last?.status, 302);
    equal((await desk.later(120_000))[0]?.state, 'delivered');
    equal(new Set(desk.posted.map(({ headers }) => headers['webhook-id'])).size, 1);
    equal(new Set(desk.posted.map(({ headers }) => headers['webhook-timestamp'])).size, 4);
    deepEqual(sender.counters, { delivered: 1, failed: 3, dead: 0, pending: 0 });
    await sender.close();
  });

  it('waits as long as the receiver asks for', async () => {
    const desk = new Desk();
    await desk.outbox.add(message());
    desk.post = async () => ({ status: 429, retryAfterMs: 90_000 });
    const sender = desk.start();
    equal((await desk.settled())[0]?.nextAt, NOW + 90_000);
    await sender.close();
  });

  it('gives up after three days, and says so', async () => {
    const desk = new Desk();
    await desk.outbox.add(message({ attempts: MOST_ATTEMPTS - 1 }));
    desk.post = async () => ({ status: 503, retryAfterMs: null });
    const sender = desk.start();
    const [sent] = await desk.settled();
    deepEqual([sent?.state, sent?.attempts, sent?.last?.status], ['dead', MOST_ATTEMPTS, 503]);
    equal(sender.counters.dead, 1);
    await sender.close();
  });

  it('disables an alert whose receiver is gone, until a test arrives', async () => {
    const desk = new Desk();
    desk.post = async () => ({ status: 410, retryAfterMs: null });
    await desk.outbox.add(message());
    const sender = desk.start();
    equal((await desk.settled())[0]?.state, 'dead');
    match(desk.rules[0]?.disabled?.reason ?? '', /410 Gone/);
    desk.post = async () => OK;
    const [alert, test] = ['a', 'b'].map((end) => `f0000000-0000-5000-8000-00000000000${end}`) as [
      string,
      string,
    ];
    await desk.outbox.add(message({ id: alert }));
    equal((await desk.settled()).find(({ id }) => id === alert)?.last?.reason, 'the alert is disabled');
    await desk.outbox.add(message({ id: test, type: 'test' }));
    equal((await desk.settled()).find(({ id }) => id === test)?.state, 'delivered');
    equal(desk.rules[0]?.disabled, null);
    await sender.close();
  });

  it("sends nothing of an alert that was deleted, and nothing that is another worker's", async () => {
    const desk = new Desk();
    await desk.outbox.add(message());
    desk.isOurs = false;
    const sender = desk.start();
    equal((await desk.settled())[0]?.state, 'pending');
    deepEqual(sender.counters.pending, 0);
    desk.isOurs = true;
    desk.rules = [];
    equal((await desk.later(1))[0]?.last?.reason, 'the alert was deleted');
    deepEqual(desk.posted, []);
    await sender.close();
  });

  it('holds up no other receiver for one that is slow', async () => {
    const desk = new Desk();
    const slow = rule({ id: RULE, delivery: { ...rule().delivery, url: 'https://slow.example/' } });
    const fast = rule({ id: INSTANCE, delivery: { ...rule().delivery, url: 'https://fast.example/' } });
    desk.rules = [slow, fast];
    desk.post = (url) =>
      url.includes('slow') ? new Promise<PostAnswer>(() => undefined) : Promise.resolve(OK);
    for (let index = 0; index < 9; index += 1)
      await desk.outbox.add(message({ id: `f0000000-0000-5000-8000-00000000000${index}` }));
    const id = 'f0000000-0000-5000-8000-0000000000ff';
    await desk.outbox.add(message({ id, ruleId: INSTANCE, nextAt: NOW }));
    desk.start();
    await desk.settled();
    equal((await desk.outbox.of(INSTANCE, INSTANCE))[0]?.state, 'delivered');
    equal(desk.posted.filter(({ url }) => url.includes('slow')).length, 2);
  });

  it('leaves what it breaks off to whoever comes after', async () => {
    const desk = new Desk();
    await desk.outbox.add(message());
    desk.post = (_, { signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new PostError('broken off'))),
      );
    const sender = desk.start();
    await desk.settled();
    await sender.close();
    const [sent] = await desk.outbox.of(INSTANCE, RULE);
    deepEqual([sent?.state, sent?.attempts], ['pending', 0]);
    desk.post = async () => OK;
    await desk.start().loaded;
    equal((await desk.settled())[0]?.state, 'delivered');
  });

  it('sends again, under the same id, what it could not note', async () => {
    const desk = new Desk();
    await desk.outbox.add(message());
    desk.post = async () => {
      desk.bucket.broken = true;
      return OK;
    };
    const sender = desk.start();
    equal((await desk.settled())[0]?.state, 'pending');
    desk.bucket.broken = false;
    desk.post = async () => OK;
    equal((await desk.later(1000))[0]?.state, 'delivered');
    equal(desk.posted.length, 2);
    equal(new Set(desk.posted.map(({ headers }) => headers['webhook-id'])).size, 1);
    ok(sender.has(message().id));
    await sender.close();
  });
});
