import { deepEqual, equal, match, notDeepEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { KEPT_FOR_EVER, type Retention } from '../../src/domain/retention.ts';
import { Retentions } from '../../src/stream/ledgers/retentions.ts';
import { lastSequenceOf } from '../../src/stream/log/consumer.ts';
import { MessageTexts } from '../../src/stream/log/message-texts.ts';
import { positionOf } from '../../src/domain/records.ts';
import { partitionOf } from '../../src/stream/subjects.ts';
import { openRegistry } from '../../src/web/registry/registry.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { isLong } from '../support/long.ts';
import { instanceId, requestsOf } from '../support/replays.ts';
import { World } from '../support/world.ts';

const GIVE_UP_MS = 300_000;
const DAY_MS = 86_400_000;
/** How old the conversations of instance 0 are, in days, by their order. */
const AGES = [2, 40, 120, 220, 320, 420] as const;
const TEXT_DAYS = 100;
const PEOPLE_DAYS = 200;
const COUNT_DAYS = 400;
/** Of each conversation: one more is one more entry to fold, and to make views from three times. */
const MESSAGES_EACH = isLong ? Infinity : 2;
const secretOf = (number: number): string => `zanzibar-quokka-${number}`;
const personOf = (number: number): string => `person-${number}@example.com`;

/** One message a request; those of instance 0 tell how old their conversation is. */
function history(): RecordedRequest[] {
  const numbers = new Map<string, number>();
  const now = Date.now();
  const counts = new Map<string, number>();
  const isKept = ({ sessionId }: RecordedRequest): boolean => {
    const count = (counts.get(sessionId) ?? 0) + 1;
    counts.set(sessionId, count);
    return count <= MESSAGES_EACH;
  };
  const all = requestsOf({ conversations: 2 * AGES.length, instances: 2, messages: 1 }).filter(isKept);
  return all.map((request) => {
    if (request.instanceId !== instanceId(0)) return request;
    const { sessionId } = request;
    const number = numbers.get(sessionId) ?? numbers.set(sessionId, numbers.size).size - 1;
    const [message] = request.messages;
    const at = (now - AGES[number]! * DAY_MS) * 1000 + (message!.at % 3_600_000_000);
    const content = `${message!.content} ${secretOf(number)}`;
    const { userId, ...rest } = message!;
    const named = userId === undefined ? {} : { userId: personOf(number) };
    return { ...request, messages: [{ ...rest, ...named, content, at }] };
  });
}

/** Answers without what goes with texts and names. */
function numbersIn(answers: Readonly<Record<string, unknown>>): unknown {
  const hidden = new Set(['title', 'summary', 'externalId', 'description']);
  const text = JSON.stringify(answers, (name, value: unknown) =>
    hidden.has(name) ? undefined : name === 'endUser' ? { ...(value as object), id: null } : value,
  );
  // End users bear other ids: which of them is first among equals, differs.
  const others = Object.entries(JSON.parse(text) as Record<string, { elements: Record<string, unknown>[] }>);
  return Object.fromEntries(
    others.map(([question, { elements, ...rest }]) => [
      question,
      question.includes('END_USER')
        ? { ...rest, elements: elements.map((row) => JSON.stringify(row)).toSorted() }
        : { ...rest, elements },
    ]),
  );
}

describe('what is kept for so long only', () => {
  const temporary = temporaryDirectory();
  let world: World;
  let retentions: Retentions;
  let newest = 0;
  let before_: Record<string, unknown> = {};
  /** The answers without texts and names. */
  let numbers: Record<string, unknown> = {};
  const places = new Map<number, number[]>();
  before(async () => {
    world = await World.open(join(temporary.path, 'world'), 8);
    const numbers = new Map<string, number>();
    for (const request of history()) {
      newest = await world.publisher.publish(request);
      if (request.instanceId !== instanceId(0)) continue;
      const number = numbers.get(request.sessionId) ?? numbers.set(request.sessionId, numbers.size).size - 1;
      places.set(number, [...(places.get(number) ?? []), positionOf(newest, 0)]);
    }
    await world.count(newest);
    retentions = await Retentions.open(world.connection);
    before_ = await world.answers();
  });
  after(async () => {
    await world?.close();
    temporary.remove();
  });

  /** Sets days, and waits until what is older is gone; the worker does it. */
  async function keep(days: Partial<Retention>): Promise<void> {
    await untilDone(instanceId(0), () =>
      retentions.setRetention(instanceId(0), { ...KEPT_FOR_EVER, ...days }),
    );
  }

  /** Waits for a run that begins after a change. */
  async function untilDone(instance: string, change: () => Promise<unknown>): Promise<void> {
    const startedAt = new Date().toISOString();
    await change();
    const deadline = performance.now() + GIVE_UP_MS;
    const isDone = async (): Promise<boolean> => {
      const run = await retentions.find(instance);
      return run !== null && run.startedAt >= startedAt && run.doneAt !== null;
    };
    while (!(await isDone())) {
      ok(performance.now() < deadline, `waited too long; ${world.workerOutput}`);
      await sleep(200);
    }
  }

  async function command(...args: readonly string[]): Promise<string> {
    const { ended, output } = world.run('cli/retention.ts', args);
    equal(await ended, 0, output());
    return output();
  }

  /** Counts a message of an instance as old as the oldest one; returns the secret in it. */
  async function sayLongAgo(number: number): Promise<string> {
    const [request] = history();
    const content = `Where is ${secretOf(number)}?`;
    const at = (Date.now() - AGES.at(-1)! * DAY_MS) * 1000;
    const requestId = `019aa3f1-0000-7000-8000-0000000000b${number}`;
    const messages = [{ ...request!.messages[0]!, content, at }];
    const own = { instanceId: instanceId(number), sessionId: requestId, requestId, messages };
    await world.count(await world.publisher.publish({ ...request!, ...own }));
    ok(world.filesWith(secretOf(number)).length > 0);
    return secretOf(number);
  }

  it('is everything where no days are set', async () => {
    equal(await command('show'), 'No days are set: everything is kept.\n');
  });

  it('texts and names go, and every number stays', async () => {
    await keep({ textDays: TEXT_DAYS, peopleDays: PEOPLE_DAYS });
    const run = await retentions.find(instanceId(0));
    const old = (days: number): number => AGES.filter((age) => age > days).length;
    deepEqual(
      [run?.counts.messages, run?.counts.texts, run?.counts.people],
      [0, old(TEXT_DAYS), old(PEOPLE_DAYS)],
    );
    numbers = await world.answers();
    deepEqual(numbersIn(numbers), numbersIn(before_));
    notDeepEqual(numbers, before_);
    for (const [number, age] of AGES.entries()) {
      const filesLeft = world.filesWith(secretOf(number));
      if (age > TEXT_DAYS) deepEqual(filesLeft, [], `texts of ${age} days`);
      else ok(filesLeft.length > 0, `texts of ${age} days`);
      const named = world.filesWith(personOf(number));
      if (age > PEOPLE_DAYS) deepEqual(named, [], `names of ${age} days`);
      else ok(named.length > 0, `names of ${age} days`);
    }
  });

  it('shows in transcripts that a text is kept no longer', async () => {
    const texts = new MessageTexts(() => world.connection);
    const [kept, gone] = [places.get(0)![0]!, places.get(2)![0]!];
    const read = await texts.read([kept, gone]);
    ok('message' in read.get(kept)!);
    deepEqual(read.get(gone), { gone: 'EXPIRED' });
  });

  if (isLong)
    it('is taken over when views are made from the stream', async () => {
      const rebuilding = world.run('cli/rebuild.ts', ['--source', 'stream']);
      equal(await rebuilding.ended, 0, rebuilding.output());
      deepEqual(await world.answers(), numbers);
    });

  it('is counted on', async () => {
    const [request] = history();
    const later = { ...request!, requestId: '019aa3f1-0000-7000-8000-00000000000a' };
    const partition = partitionOf(request!.instanceId);
    await world.count(await world.publisher.publish(later));
    equal(await lastSequenceOf(world.connection, [partition]), newest + 1);
    notDeepEqual(await world.answers(), numbers);
  });

  it('messages go in the end', async () => {
    await keep({ textDays: TEXT_DAYS, peopleDays: PEOPLE_DAYS, countDays: COUNT_DAYS });
    const run = await retentions.find(instanceId(0));
    const oldest = AGES.length - 1;
    equal(run?.counts.messages, places.get(oldest)!.length);
    equal(run?.counts.sessions, 1);
    const read = await new MessageTexts(() => world.connection).read([places.get(oldest)![0]!]);
    deepEqual([...read.values()], [{ gone: 'ERASED' }]);
  });

  it('holds by the days of the project where an instance has none', async () => {
    // Both are in one partition, whose entries are read once for all runs.
    equal(partitionOf(instanceId(6)), partitionOf(instanceId(7)));
    const secrets = [await sayLongAgo(6), await sayLongAgo(7)];
    await untilDone(instanceId(7), () => command('set', '--project', 'test', '--text-days', `${TEXT_DAYS}`));
    for (const secret of secrets) deepEqual(world.filesWith(secret), []);
    for (const number of [6, 7]) {
      const run = await retentions.find(instanceId(number));
      deepEqual([run?.counts.texts, run?.entries], [1, 1], `instance ${number}`);
    }
    await command('unset', '--instance', instanceId(0));
    equal(await retentions.retentionOf(instanceId(0)), null);
    const listing = await command('show');
    match(listing, /^project test +100 +for ever +for ever +–$/m);
    match(listing, new RegExp(`^${instanceId(7)} +(?:as project +){4}\\d{4}-`, 'm'));
    const refused = world.run('cli/retention.ts', ['set', '--project', 'none', '--text-days', '9']);
    equal(await refused.ended, 1);
    match(refused.output(), /There is no project none\./);
  });

  if (isLong)
    it('holds by the days of the project where an instance is made later', async () => {
      // Made the day before, as if midnight had passed since.
      const registry = await openRegistry(world.connection, { now: () => new Date(Date.now() - DAY_MS) });
      await registry.whenReady();
      await registry.createInstance({ projectId: world.projectId, id: instanceId(8) });
      await registry.close();
      const later = await sayLongAgo(8);
      equal(await retentions.find(instanceId(8)), null);
      await untilDone(instanceId(8), () => command('unset', '--instance', instanceId(0)));
      deepEqual(world.filesWith(later), []);
    });

  it('has a floor of the project', async () => {
    await command('set', '--instance', instanceId(0), '--text-days', '300');
    const floor = ['set', '--project', 'test', '--keep-at-least-days'];
    const higher = world.run('cli/retention.ts', [...floor, '301']);
    equal(await higher.ended, 1);
    match(higher.output(), new RegExp(`less than 301: ${instanceId(0)}\\.`));
    await command(...floor, '300');
    const lower = world.run('cli/retention.ts', ['set', '--instance', instanceId(0), '--text-days', '299']);
    equal(await lower.ended, 1);
    match(lower.output(), /has to keep at least, 300\./);
    // Without the option, the floor stays.
    const project = world.run('cli/retention.ts', ['set', '--project', 'test', '--text-days', '30']);
    equal(await project.ended, 1);
    match(project.output(), /less than those to keep at least, 300: set both\./);
  });
});
