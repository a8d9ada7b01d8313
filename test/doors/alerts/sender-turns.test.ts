/** Whose message goes out when many wait: projects take turns, whatever their receivers do. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { Outbox } from '../../../src/doors/alerts/outbox.ts';
import { createPost, PostError, type Post, type PostAnswer } from '../../../src/doors/alerts/post.ts';
import type { Rule } from '../../../src/doors/alerts/rule.ts';
import { Sender } from '../../../src/doors/alerts/sender.ts';
import { silentLogger } from '../../../src/logger.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { message, rule } from './builders.ts';

const [OF_PROJECT, TO_HOST, AT_ONCE] = [16, 2, 128];
/** Another project's message is on its way by then. */
const PROMPTLY_MS = 2000;

/** A sender of many projects' alerts: one for each instance and URL. */
class Office {
  readonly outbox = new Outbox(new MemoryBucket());
  readonly #rules = new Map<string, Rule>();
  readonly #sender: Sender;
  #messages = 0;

  constructor(post: Post) {
    this.#sender = new Sender({
      outbox: this.outbox,
      rules: { list: async () => [...this.#rules.values()], disable: async () => undefined },
      known: { find: (_, id) => this.#rules.get(id), loaded: Promise.resolve() },
      post,
      projectOf: async (instanceId) => instanceId.split('-')[0] ?? '',
      guardOf: () => async () => undefined,
      logger: silentLogger(),
      now: Date.now,
      chance: () => 0,
    });
  }

  /** Puts in a message of an alert to a URL. */
  async say(instanceId: string, url: string): Promise<string> {
    const ruleId = `${instanceId}:${url.replaceAll(/\W/g, '-')}`;
    this.#rules.set(ruleId, rule({ id: ruleId, instanceId, delivery: { ...rule().delivery, url } }));
    const id = `m${(this.#messages += 1)}`;
    await this.outbox.add(message({ id, instanceId, ruleId, nextAt: Date.now() }));
    return id;
  }

  close(): Promise<void> {
    return this.#sender.close();
  }
}

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  stall: () => undefined,
  refuse: (response) => response.destroy(),
  fail: (response) => response.writeHead(503).end(),
  answer: (response) => response.writeHead(204).end(),
};

/** What a project has to say: so many messages to each of so many hosts and ports, which do one thing. */
const projects = fc.array(
  fc.record({
    does: fc.constantFrom(...Object.keys(ANSWERS), 'stall'),
    instances: fc.integer({ min: 1, max: 3 }),
    hosts: fc.integer({ min: 1, max: 24 }),
    ports: fc.integer({ min: 1, max: 3 }),
    messages: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
);
const STALLED = { does: 'stall', instances: 3, hosts: 24, ports: 1, messages: 3 };

describe('the sender of many projects', () => {
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
    receiver.answer = (response, { path }) => ANSWERS[path.split('/')[1] ?? '']?.(response);
  });
  after(() => receiver.close());

  it("begins a delivery in its project's own turn, whatever the receivers of others do", async () => {
    const law = fc.asyncProperty(projects, async (others) => {
      receiver.received.length = 0;
      const post = createPost(true);
      // Many hosts, and one server behind them.
      const office = new Office((url, options) => post(`${receiver.url}${new URL(url).pathname}`, options));
      for (const [at, { does, instances, hosts, ports, messages }] of others.entries())
        for (let index = 0; index < hosts * ports * messages; index += 1) {
          const host = index % hosts;
          const port = 8000 + (index % ports);
          const path = `/${does}/p${at}/h${host}`;
          await office.say(`p${at}-${index % instances}`, `http://h${host}.example:${port}${path}`);
        }
      const begunAt = performance.now();
      // To a host that others keep waiting.
      await office.say('victim-0', 'http://h0.example:8000/answer/victim');
      await receiver.until('/answer/victim', 1);
      const tookMs = performance.now() - begunAt;
      await office.close();
      ok(tookMs < PROMPTLY_MS, `another project's message waited ${tookMs} ms`);
      // What stalls is still under way.
      const stalled = receiver.received.filter(({ path }) => path.startsWith('/stall/'));
      for (const [at] of others.entries()) {
        const paths = stalled.map(({ path }) => path).filter((path) => path.includes(`/p${at}/`));
        ok(paths.length <= OF_PROJECT, `${paths.length} of a project are under way`);
        for (const one of new Set(paths))
          ok(paths.filter((path) => path === one).length <= TO_HOST, 'a host is posted to once too often');
      }
    });
    await fc.assert(law, {
      numRuns: 12,
      examples: [[[STALLED]], [[STALLED, STALLED, STALLED]]],
      seed: 40,
      endOnFailure: true,
    });
  });

  it('lets a project that comes wait for one turn of each other, where no place is free', async () => {
    const begun: { readonly project: string; readonly end: (answer: PostAnswer) => void }[] = [];
    const office = new Office((url, { signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
      signal.addEventListener('abort', () => reject(new PostError('broken off')));
      begun.push({ project: new URL(url).pathname.slice(1), end: resolve });
      return promise;
    });
    const others = AT_ONCE / OF_PROJECT;
    for (let index = 0; index < others * 100; index += 1)
      await office.say(`p${index % others}-0`, `http://h${index}.example/p${index % others}`);
    await settled();
    equal(begun.length, AT_ONCE);
    await office.say('late-0', 'http://late.example/late');
    for (let ends = 1; ends <= others + 1; ends += 1) {
      begun[ends]?.end({ status: 204, retryAfterMs: null });
      await settled();
      equal(begun.length, AT_ONCE + ends);
    }
    const later = begun.slice(AT_ONCE).map(({ project }) => project);
    ok(later.includes('late'), `in turn came ${later.join(' ')}`);
    await office.close();
  });

  it('keeps the order of the messages of an alert', async () => {
    const posted: string[] = [];
    const office = new Office(async (_, { headers }) => {
      posted.push(headers['webhook-id'] ?? '');
      await settled();
      return { status: 204, retryAfterMs: null };
    });
    const lines: string[] = [];
    for (let index = 0; index < 9; index += 1)
      lines.push(await office.say('p-0', 'https://example.com/hook'));
    while (posted.length < lines.length) await settled();
    deepEqual(posted, lines);
    await office.close();
  });
});

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}
