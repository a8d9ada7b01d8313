import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Alerter } from '../../../src/doors/alerts/alerter.ts';
import { messageIdOf, Outbox, type Message } from '../../../src/doors/alerts/outbox.ts';
import type { Rule } from '../../../src/doors/alerts/rule.ts';
import { Rules } from '../../../src/doors/alerts/rules.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';
import { DAY_MICROS as DAY, HOUR_MICROS as HOUR } from '../../../src/domain/time.ts';
import type { ShardAlerts } from '../../../src/domain/alerting.ts';
import type { LeftOut } from '../../../src/domain/attributes.ts';
import { silentLogger } from '../../../src/logger.ts';
import { Random } from '../../faults/support/random.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { plainBucket } from '../../support/plain-buckets.ts';
import { INSTANCE, rule } from './builders.ts';
import { EventFigures, type Event } from './event-figures.ts';

const MONDAY = Date.UTC(2026, 10, 16) * 1000;

/** Buckets that outlive processes, and processes that evaluate what is published so far. */
class Service {
  readonly rules = new Rules(new MemoryBucket());
  readonly bucket = new MemoryBucket();
  readonly outbox = new Outbox(this.bucket);
  readonly events: readonly Event[];
  published = 0;
  /** Evaluations that have ended. */
  evaluations = 0;
  now = MONDAY / 1000;
  /** What the instance leaves out. */
  leaveOut: LeftOut = {};
  /** Happens between the decision to evaluate and the reading. */
  beforeRead: () => unknown = () => undefined;
  #alerter: Alerter | null = null;
  #shard: ShardAlerts | null = null;
  #kill: () => void = () => undefined;

  constructor(events: readonly Event[]) {
    this.events = events;
  }

  async with(...wanted: readonly Rule[]): Promise<this> {
    for (const { instanceId, name, condition, delivery, timeZone, createdAt } of wanted)
      await this.rules.create({ instanceId, name, condition, delivery, timeZone }, createdAt);
    return this;
  }

  /** A process; it dies after so many writes. */
  start(writes = Infinity): void {
    let left = writes;
    const ids = new Set<string>();
    const watch = this.outbox.watch((id) => ids.add(id));
    const alerter = new Alerter({
      rules: this.rules.watch(),
      outbox: this.outbox,
      sender: { has: (id) => ids.has(id), look: () => undefined, settle: async () => undefined },
      openReader: async () => ({
        read: async (_, work) => {
          this.beforeRead();
          const figures = new EventFigures(this.events.slice(0, this.published));
          return work(figures);
        },
        close: async () => undefined,
      }),
      projectOf: async () => 'p',
      settingsOf: async () => ({ name: 'Shop', leaveOut: this.leaveOut }),
      isOf: () => true,
      publicUrl: '',
      logger: silentLogger(),
      now: () => this.now,
      pauseMs: 0,
    });
    const guard = async (): Promise<void> => {
      left -= 1;
      if (left < 0) throw new Error('killed');
    };
    this.#alerter = alerter;
    this.#shard = alerter.openShard({ shard: 0, shards: 1, directory: '', guard });
    this.#kill = () => {
      left = 0;
      void watch.close();
    };
    if (this.published > 0) this.#shard.published(this.published);
  }

  /** What the shard's loop does with the events up to one. */
  work(until: number): void {
    const batch = this.events.slice(this.published, until);
    if (batch.length > 0) this.#shard?.committed([INSTANCE], batch.at(-1)?.storedAt ?? 0);
    this.published = until;
    this.#shard?.published(until);
  }

  idle(): void {
    this.#shard?.idle();
  }

  kill(): void {
    this.#kill();
    void this.#shard?.close();
  }

  /** Waits until everything that is published is evaluated. */
  async settled(): Promise<void> {
    const before = this.#alerter?.counters.evaluations ?? 0;
    for (let looks = 0; looks < 2000; looks += 1) {
      await sleep(1);
      const seen = await this.outbox.seen(INSTANCE);
      if (seen?.position === this.published) return;
      // What says nothing is noted later.
      if ((this.#alerter?.counters.evaluations ?? 0) > before && looks > 20) return;
    }
    throw new Error('nothing is evaluated');
  }

  /** Waits for so many messages, a few seconds at most. */
  async messagesCame(messages: number): Promise<void> {
    const isMessage = (key: string): boolean => key.startsWith('message.');
    for (let looks = 0; looks < 2000; looks += 1) {
      if ([...this.bucket.values.keys()].filter(isMessage).length >= messages) return;
      await sleep(1);
    }
  }

  async stop(): Promise<Message[]> {
    await this.#shard?.close();
    return [...this.bucket.values]
      .filter(([key]) => key.startsWith('message.'))
      .map(([, { value }]) => JSON.parse(value) as Message);
  }
}

/**
 * Conversations over less than two days, for which a worker may be away: as they come, some late, and some from long
 * before the alerts.
 */
function randomEvents(random: Random, from: number): Event[] {
  let storedAt = from + random.between(0, 20) * HOUR;
  return Array.from({ length: random.between(20, 60) }, (_, session) => {
    storedAt += random.between(1, 46) * 60e6;
    const lateBy = [0, 0, 0, random.between(1, 9) * 60e6, 30 * DAY][random.between(0, 4)] ?? 0;
    const topics = ['a', 'b', 'c'].filter(() => random.between(0, 1) === 1);
    return { at: storedAt - lateBy, storedAt, session, topics };
  });
}

/** What a count fires for when one counts at the end. */
function expected(events: readonly Event[], { id, condition, timeZone, createdAt }: Rule): string[] {
  if (condition.kind !== 'count') return [];
  const { window, atLeast } = condition;
  const counts = new Map<string, number>();
  for (const { at, topics = [] } of events) {
    const { end } = localBucketAt(window, timeZone, at);
    const { start } = plainBucket(window, at, timeZone);
    if (end <= createdAt * 1000) continue;
    for (const topic of topics) {
      const name = messageIdOf(id, 'count', topic, start);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([name, count]) => (count >= atLeast ? [name] : []));
}

/** Time zones, and a time from which on their clocks change within two days, or none. */
const ZONES: readonly (readonly [string, number])[] = [
  ['UTC', MONDAY],
  ['Europe/Berlin', Date.UTC(2026, 9, 24) * 1000],
  ['Asia/Kolkata', MONDAY],
  ['Australia/Lord_Howe', Date.UTC(2026, 9, 3) * 1000],
  ['America/Havana', Date.UTC(2026, 9, 31) * 1000],
];

describe('alerts on counts', () => {
  it('say the same whatever the batches, the pauses and the deaths of processes', async () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      const random = new Random(seed);
      const [timeZone, from] = ZONES[seed % ZONES.length] ?? ['UTC', MONDAY];
      const events = randomEvents(random, from);
      const condition = { kind: 'count', groupBy: 'TOPIC', atLeast: random.between(1, 4) } as const;
      const createdAt = from / 1000;
      const service = await new Service(events).with(
        ...(['HOUR', 'DAY', 'WEEK'] as const).map((window) =>
          rule({ condition: { ...condition, window }, timeZone, createdAt }),
        ),
      );
      service.start(random.between(0, 12));
      while (service.published < events.length) {
        service.work(Math.min(events.length, service.published + random.between(1, 12)));
        if (random.between(0, 1) === 1) await sleep(random.between(0, 3));
        if (random.between(0, 4) > 0) continue;
        service.kill();
        service.start(random.between(0, 12));
      }
      service.kill();
      service.start();
      await service.settled();
      const sent = await service.stop();
      const rules = await service.rules.list(INSTANCE);
      deepEqual(
        sent.map(({ id }) => id).sort(),
        rules.flatMap((one) => expected(events, one)).sort(),
        `seed ${seed}, ${timeZone}`,
      );
    }
  });

  it('miss no window that begins while they are evaluated', async () => {
    const at = [59, 61].map((minutes) => MONDAY + minutes * 60e6);
    const events = at.map((time, session) => ({ at: time, storedAt: time, session, topics: [`${session}`] }));
    const condition = { kind: 'count', groupBy: 'TOPIC', window: 'HOUR', atLeast: 1 } as const;
    const service = await new Service(events).with(rule({ condition, createdAt: MONDAY / 1000 }));
    service.beforeRead = () => service.published === 1 && service.work(2);
    service.start();
    service.work(1);
    await service.messagesCame(2);
    deepEqual(
      (await service.stop()).map(({ text }) => text.slice(0, 3)),
      ['‘0’', '‘1’'],
    );
  });

  it('say nothing in a replay, and go on behind it', async () => {
    const event = (session: number, topics: string[]): Event => ({
      at: MONDAY + session,
      storedAt: MONDAY + session,
      session,
      topics,
    });
    const events = [event(1, ['a']), event(2, ['a']), event(3, ['b'])];
    const condition = { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 1 } as const;
    const service = await new Service(events).with(rule({ condition, createdAt: MONDAY / 1000 }));
    service.start();
    service.work(2);
    await service.settled();
    await service.stop();
    // What was sent is forgotten, but not how far it was evaluated.
    for (const key of service.bucket.values.keys())
      if (key.startsWith('message.')) service.bucket.values.delete(key);
    service.published = 0;
    service.start();
    service.work(1);
    await sleep(10);
    service.work(2);
    await sleep(10);
    service.work(3);
    await service.settled();
    equal((await service.stop()).filter(({ text }) => text.includes('‘b’')).length, 1);
  });
});

describe('alerts on new values', () => {
  it('say each once, whatever the batches, the deaths of processes and a replay', async () => {
    const condition = { kind: 'new_value', segmentKey: 'version', minSessions: 20 } as const;
    const from = MONDAY - 10 * DAY;
    const say = (version: string, topic: string, at: number): Event => ({
      at,
      storedAt: at,
      topics: [topic],
      attributes: { version },
      session: Math.round(at - from),
    });
    const events = [
      ...Array.from({ length: 40 }, (_, index) => say('1', 'cancel', from + (index * DAY) / 4)),
      ...Array.from({ length: 120 }, (_, index) => say('1', 'cancel', MONDAY + index * 60e6)),
      ...Array.from({ length: 40 }, (_, index) => say('2', 'refund', MONDAY + (index + 10) * 60e6 + 1)),
      ...Array.from({ length: 40 }, (_, index) => say('3', 'cancel', MONDAY + (index + 20) * 60e6 + 2)),
      ...Array.from({ length: 40 }, (_, index) => say('4', 'refund', MONDAY + (index + 30) * 60e6 + 3)),
    ].toSorted((a, b) => a.storedAt - b.storedAt);
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = new Random(seed);
      const service = await new Service(events).with(rule({ condition, createdAt: from / 1000 }));
      service.start(random.between(0, 4));
      while (service.published < events.length) {
        service.work(Math.min(events.length, service.published + random.between(1, 60)));
        await sleep(random.between(0, 5));
        if (random.between(0, 2) > 0) continue;
        service.kill();
        service.start(random.between(0, 4));
      }
      service.kill();
      service.start();
      await service.messagesCame(2);
      await service.settled();
      await service.stop();
      service.published = 0;
      service.start();
      service.work(events.length);
      await sleep(10);
      const sent = (await service.stop()).map(({ text }) => text.split(':')[0]);
      deepEqual(
        sent.toSorted(),
        ['2', '4'].map((value) => `version ‘${value}’ is new and differs from ‘1’`),
        `seed ${seed}`,
      );
    }
  });
});

describe('digests', () => {
  const digest = rule({ condition: { kind: 'digest' }, createdAt: MONDAY / 1000 - 86_400_000 });
  const events = [0, 1, 8].map((day, session) => ({
    at: MONDAY + day * DAY,
    storedAt: MONDAY + day * DAY,
    session,
    topics: ['a'],
  }));

  it('are sent when the stream has passed the end of the week', async () => {
    const service = await new Service(events).with(digest);
    service.start();
    service.work(2);
    await service.messagesCame(1);
    // The week in which the alert was made has ended with the first message of the next.
    equal(service.bucket.values.size >= 1, true);
    service.work(3);
    await service.settled();
    const sent = await service.stop();
    deepEqual(
      sent.map(({ type, text }) => [type, text.split('\n').slice(0, 2)]).sort(),
      [
        [
          'digest',
          [
            'Shop, Monday, 16 November 2026 to Sunday, 22 November 2026, UTC.',
            'There were 2 conversations with 2 users.',
          ],
        ],
        [
          'digest',
          ['Shop, Monday, 9 November 2026 to Sunday, 15 November 2026, UTC.', 'There were no conversations.'],
        ],
      ].sort(),
    );
  });

  it('count their segment, without what the instance leaves out when the week is over', async () => {
    const of = [{ plan: 'pro' }, { plan: 'pro', environment: 'test' }, { plan: 'free' }, {}];
    const told = of.map((attributes, session) => ({ ...events[0]!, session, attributes }));
    const next = { ...events[2]!, session: 9 };
    const condition = { kind: 'digest' as const, segment: { plan: ['pro'] } };
    const tests = { kind: 'digest' as const, segment: { environment: 'test' } };
    const service = await new Service([...told, next]).with(
      digest,
      { ...digest, condition },
      { ...digest, condition: tests },
    );
    service.start();
    service.work(told.length);
    await service.messagesCame(3);
    service.leaveOut = { environment: ['test'] };
    service.work(told.length + 1);
    await service.settled();
    const ended = (await service.stop()).filter(({ text }) => text.includes('16 November'));
    deepEqual(ended.map(({ text }) => text.split('\n').slice(1, 3)).sort(), [
      ['Only conversations with environment ‘test’ count.', 'There was 1 conversation with 1 user.'],
      [
        'Only conversations with plan ‘pro’ and without environment ‘test’ count.',
        'There was 1 conversation with 1 user.',
      ],
      ['Only conversations without environment ‘test’ count.', 'There were 3 conversations with 3 users.'],
    ]);
  });

  it('are of the weeks of the time zone, each once, and begin to end at its Monday', async () => {
    const hour = 60 * 60e6;
    // Sunday evening in Berlin, Monday there and Sunday in UTC, and Monday in both, after clocks were put back.
    const at = [19, 23.5, 25].map((hours) => Date.UTC(2026, 9, 25) * 1000 + hours * hour);
    const stored = at.map((time, session) => ({ at: time, storedAt: time, session, topics: ['a'] }));
    const createdAt = Date.UTC(2026, 9, 20);
    const service = await new Service(stored).with(
      rule({ condition: { kind: 'digest' }, timeZone: 'Europe/Berlin', createdAt }),
      rule({ condition: { kind: 'digest' }, createdAt }),
    );
    service.now = createdAt;
    service.start();
    const weeks = (): string[] => {
      const values = [...service.bucket.values].filter(([key]) => key.startsWith('message.'));
      const texts = values.map(([, { value }]) => (JSON.parse(value) as Message).text);
      return texts.map((text) => text.split('\n').slice(0, 2).join(' ')).sort();
    };
    const berlin =
      'Shop, Monday, 19 October 2026 to Sunday, 25 October 2026, Europe/Berlin. There was 1 conversation with 1 user.';
    const utc =
      'Shop, Monday, 19 October 2026 to Sunday, 25 October 2026, UTC. There were 2 conversations with 2 users.';
    // The week before was over when the alerts were made: nothing is said of it.
    service.work(1);
    await service.settled();
    deepEqual(weeks(), []);
    service.work(2);
    await service.messagesCame(1);
    deepEqual(weeks(), [berlin]);
    service.work(3);
    await service.messagesCame(2);
    await service.settled();
    deepEqual(weeks(), [berlin, utc].sort());
    await service.stop();
  });

  it('are sent a minute after the end of the week when nothing comes, and once', async () => {
    const service = await new Service(events.slice(0, 2)).with(digest);
    service.start();
    service.work(2);
    await service.settled();
    const all = (): number =>
      [...service.bucket.values.keys()].filter((key) => key.startsWith('message.')).length;
    service.now = (MONDAY + 7 * DAY) / 1000 + 59_000;
    service.idle();
    await sleep(20);
    equal(all(), 1);
    service.now += 1000;
    for (let looks = 0; looks < 200 && all() === 1; looks += 1) {
      service.idle();
      await sleep(1);
    }
    service.idle();
    await sleep(20);
    equal((await service.stop()).length, 2);
  });
});

describe('instances of many projects', () => {
  it("are evaluated in their project's turn, however many of another wait", async () => {
    const rules = new Rules(new MemoryBucket());
    const instances = [...Array.from({ length: 50 }, (_, index) => `other-${index}`), 'victim-0'];
    for (const instanceId of instances) await rules.create(rule({ instanceId }), 0);
    const read: string[] = [];
    let onRead = (): unknown => undefined;
    const bucket = new MemoryBucket();
    const alerter = new Alerter({
      rules: rules.watch(),
      outbox: new Outbox(bucket),
      sender: { has: () => false, look: () => undefined, settle: async () => undefined },
      openReader: async () => ({
        read: async (instanceId, work) => {
          read.push(instanceId);
          await onRead();
          return work(new EventFigures([]));
        },
        close: async () => undefined,
      }),
      projectOf: async (instanceId) => instanceId.split('-')[0] ?? '',
      settingsOf: async () => null,
      isOf: () => true,
      publicUrl: '',
      logger: silentLogger(),
      now: Date.now,
      pauseMs: 0,
    });
    const shard = alerter.openShard({ shard: 0, shards: 1, directory: '', guard: async () => undefined });
    const all = Promise.withResolvers<void>();
    onRead = () => read.length === instances.length && all.resolve();
    shard.published(1);
    await all.promise;
    deepEqual([...read].sort(), [...instances].sort());
    ok(read.indexOf('victim-0') <= 2, read.join(' '));
    await shard.close();
    // What it evaluated is noted.
    equal([...bucket.values.keys()].filter((key) => key.startsWith('seen.')).length, instances.length);
  });
});
