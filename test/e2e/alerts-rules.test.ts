/** /v1/alerts: from the rule and the messages of users to a signed webhook. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { POSTED } from '../../src/doors/alerts/body-schema.ts';
import { digestResponseSchema } from '../../src/doors/alerts/digest-reader.ts';
import { alertDetailSchema, newAlertSchema, type NewAlert } from '../../src/doors/alerts/service.ts';
import { differencesResponseSchema } from '../../src/query/changes/differences-schema.ts';
import { Client, toSearch } from '../support/client.ts';
import { localBucketAt } from '../../src/domain/local-time.ts';
import { CANCEL, CANNOT, COMPLAINT, DONE, PASSWORD } from '../support/conversations.ts';
import { eventually } from '../support/processes.ts';
import { startReceiver, verified, type Receiver } from '../support/receiver.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let client: Client;
let receiver: Receiver;
before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  receiver = await startReceiver();
});
after(async () => {
  await service?.stop();
  await receiver?.close();
});

let paths = 0;

interface Made extends NewAlert {
  /** Where its messages arrive, and no other's. */
  readonly path: string;
}

async function make(instanceId: string, condition: object, more: object = {}): Promise<Made> {
  const path = `/hook/${(paths += 1)}`;
  const delivery = { url: `${receiver.url}${path}`, ...more };
  const { status, body } = await client.send('/v1/alerts', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ instanceId, name: 'Many cancellations', condition, delivery }),
  });
  equal(status, 201, JSON.stringify(body));
  return { ...newAlertSchema.parse(body), path };
}

async function say(instanceId: string, content: string): Promise<number> {
  const { position } = await client.ingest({
    instanceId,
    messages: [{ role: 'user', content, userId: 'ada' }],
  });
  return position;
}

describe('an alert on a segment', () => {
  it('counts its conversations alone, is listed with it and says it; a name may come later', async () => {
    const instanceId = await service.newInstance(project);
    const count = { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 4 };
    const segment = { plan: ['pro', 'team'] };
    const made = await make(instanceId, { ...count, segment });
    const never = await make(instanceId, { ...count, atLeast: 1, segment: { region: 'EU' } });
    const { body } = await client.send(`/v1/alerts?instanceId=${instanceId}`);
    const listed = (body as { elements?: { condition: unknown }[] }).elements ?? [];
    deepEqual(
      listed.map(({ condition }) => (condition as { segment: unknown }).segment),
      [segment, { region: 'EU' }],
    );
    const sayAs = (content: string, plan: string) =>
      client.ingest({
        instanceId,
        messages: [{ role: 'user', content, userId: 'ada' }],
        metadata: { session: { plan } },
      });
    for (const content of CANCEL) await sayAs(content, 'free');
    for (const [index, content] of CANCEL.entries()) await sayAs(content, index % 2 === 0 ? 'pro' : 'team');
    const [message] = await receiver.until(made.path, 1);
    ok(message !== undefined);
    const { data } = POSTED['alert.fired'].parse(verified(made.secret, message));
    equal(data.value, 4);
    match(data.text, / Only conversations with plan ‘pro’ or ‘team’ count\. Period: /);
    const { body: detail } = await client.send(`/v1/alerts/${never.alert.id}?instanceId=${instanceId}`);
    deepEqual(alertDetailSchema.parse(detail).deliveries, []);
    // A digest may be of a segment, too.
    const week = `instanceId=${instanceId}&week=${new Date().toISOString().slice(0, 10)}`;
    const digest = await client.send(`/v1/digest?${week}&segment.plan=pro`);
    equal(digestResponseSchema.parse(digest.body).sessions.now, 2);
    const unknown = await client.send(`/v1/digest?${week}&segment.region=EU`);
    equal(unknown.status, 400);
    match(JSON.stringify(unknown.body), /segment\.region.*sessions of this instance have plan/);
  });
});

describe('an alert on a count', () => {
  it('is posted once, signed, with the numbers that a query gives', async () => {
    const instanceId = await service.newInstance(project);
    const made = await make(instanceId, { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 4 });
    for (const content of CANCEL) await say(instanceId, content);
    const [message, ...others] = await receiver.until(made.path, 1);
    ok(message !== undefined);
    const { data } = POSTED['alert.fired'].parse(verified(made.secret, message));
    equal(data.alert.id, made.alert.id);
    const rows = await client.rows({ instanceId, groupBy: 'TOPIC', fields: 'sessions' });
    deepEqual(
      rows.map(({ dimensions, fields }) => ({ ...dimensions.topic, sessions: fields.sessions })),
      [
        {
          id: data.entity?.id,
          name: data.entity?.name,
          clusterId: rows[0]?.dimensions.topic?.clusterId,
          sessions: data.value,
        },
      ],
    );
    match(data.text, /^‘.+’ came up in 4 conversations today; the alert is set to 4\. Period: \w+day, /);
    equal(data.link, `/?instance=${instanceId}&view=topic&id=${data.entity?.id}`);

    // It goes on coming up, and other things do; nobody is told again.
    const position = await say(instanceId, CANCEL[0]);
    await say(instanceId, PASSWORD[0]);
    ok(data.position < position);
    await eventually(
      async () => {
        const { body: detail } = await client.send(`/v1/alerts/${made.alert.id}?instanceId=${instanceId}`);
        return alertDetailSchema.parse(detail).deliveries[0]?.state === 'delivered';
      },
      () => 'the message is not noted as delivered',
    );
    deepEqual(others, []);
    equal((await receiver.until(made.path, 1)).length, 1);
  });
});

describe('an alert on new values', () => {
  it('tells once what a new version does otherwise, as the differences say, and nothing of one that differs in nothing', async () => {
    const instanceId = await service.newInstance(project);
    const say = async (version: string, daysAgo: number, reply: string) => {
      const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
      const metadata = daysAgo === 0 ? {} : { createdAt: at };
      for (const [index, content] of [...CANCEL, ...CANCEL].entries())
        await client.ingest({
          instanceId,
          messages: [
            { role: 'user', content, userId: `${version} ${index}`, metadata },
            { role: 'assistant', content: reply, metadata },
          ],
          metadata: { session: { version } },
        });
    };
    for (const daysAgo of [9, 2]) await say('3.1', daysAgo, DONE);
    const condition = { kind: 'new_value', segmentKey: 'version', minSessions: 8 };
    const made = await make(instanceId, condition);
    const none = await make(instanceId, { ...condition, segmentKey: 'release' });
    await say('3.1', 0, DONE);
    await say('3.3', 0, DONE);
    await say('3.2', 0, CANNOT);
    const [message] = await receiver.until(made.path, 1);
    ok(message !== undefined);
    const { data } = POSTED['alert.fired'].parse(verified(made.secret, message));
    match(
      data.text,
      /^version ‘3\.2’ is new and differs from ‘3\.1’: on the same days, the gap ‘.+’ comes up more often \(100\u00a0% of/,
    );
    const asked = { instanceId, segmentKey: 'version', value: '3.2', against: '3.1' };
    const { body } = await client.send(`/v1/differences?${toSearch(asked)}`);
    const { differences, value } = differencesResponseSchema.parse(body);
    equal(data.value, value.sessions);
    deepEqual(
      data.compared?.differences.map(({ id, difference, share }) => [id, difference, share]),
      differences.map(({ topic, gap, csatDsatSignal, difference, share }) => [
        (topic ?? gap ?? csatDsatSignal)?.id,
        difference,
        share,
      ]),
    );
    const today = new Date().toISOString().slice(0, 10);
    ok(data.link.startsWith(`/?instance=${instanceId}&range=${today}%2F${today}`), data.link);
    // Neither the version that differs in nothing, nor the same one once more.
    await say('3.2', 0, CANNOT);
    await say('3.3', 0, DONE);
    const last = await make(instanceId, { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 1 });
    await say('3.1', 0, DONE);
    await receiver.until(last.path, 1);
    equal((await receiver.until(made.path, 1)).length, 1);
    const { body: detail } = await client.send(`/v1/alerts/${none.alert.id}?instanceId=${instanceId}`);
    deepEqual(alertDetailSchema.parse(detail).deliveries, []);
  });
});

const HOURS = 'What are your opening hours on Sunday?';
const DAY_MS = 86_400_000;

/** A conversation of some days ago; 0: of now. */
async function converse(instanceId: string, daysAgo: number, texts: readonly string[]): Promise<number> {
  // Noon is on its day wherever the test's clock is.
  const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 11);
  const metadata = daysAgo === 0 ? {} : { createdAt: `${at}12:00:00Z` };
  const messages = texts.map((content, index) =>
    index % 2 === 0
      ? { role: 'user', userId: 'ada', content, metadata }
      : { role: 'assistant', content, metadata },
  );
  return (await client.ingest({ instanceId, messages })).position;
}

describe('alerts on a history', () => {
  let instanceId = '';
  before(async () => {
    instanceId = await service.newInstance(project);
    for (let day = 1; day <= 9; day += 1) {
      await converse(instanceId, day, [CANCEL[0], DONE]);
      for (let index = 0; index < 3; index += 1)
        await converse(instanceId, day, [HOURS, 'From ten to four.']);
    }
  });

  async function fired(made: Made): Promise<ReturnType<(typeof POSTED)['alert.fired']['parse']>['data']> {
    const [message] = await receiver.until(made.path, 1);
    ok(message !== undefined);
    return POSTED['alert.fired'].parse(verified(made.secret, message)).data;
  }

  it('tell what rises, what is new, gaps and dissatisfaction, by the numbers of queries', async () => {
    const delivery = { quotes: true };
    const rising = await make(instanceId, { kind: 'rising', groupBy: 'TOPIC', window: 'DAY' }, delivery);
    const fresh = await make(instanceId, { kind: 'new_topic' }, delivery);
    const share = await make(instanceId, { kind: 'dsat_share', window: 'WEEK', above: 0.05, minSessions: 5 });
    const gap = await make(instanceId, { kind: 'count', groupBy: 'GAP', window: 'DAY', atLeast: 2 });
    const signal = { groupBy: 'CSAT_DSAT', signalType: 'SAT', window: 'DAY', atLeast: 1 };
    const sat = await make(instanceId, { kind: 'count', ...signal });
    for (let index = 0; index < 9; index += 1)
      await converse(instanceId, 0, [CANCEL[index % 4] ?? '', CANNOT]);
    for (let index = 0; index < 3; index += 1) await converse(instanceId, 0, [HOURS, 'From ten to four.']);
    for (const content of PASSWORD) await converse(instanceId, 0, [content, DONE]);
    let position = 0;
    for (let index = 0; index < 3; index += 1)
      position = await converse(instanceId, 0, [CANCEL[0], CANNOT, COMPLAINT]);

    const today = new Date().toISOString().slice(0, 10);
    const risen = await fired(rising);
    match(
      risen.text,
      /^‘.+’ came up in \d+ conversations today, [\d.]+ times as many as on an average day of/,
    );
    equal(risen.before?.windows, 9);
    const earlier = { instanceId, groupBy: 'TOPIC', fields: 'sessions', 'dateRange.end': today };
    const rows = await client.rows(earlier, position);
    const sessionsOf = (id: string | undefined): number =>
      rows.find(({ dimensions }) => dimensions.topic?.id === id)?.fields.sessions ?? 0;
    equal(risen.before?.sessions, sessionsOf(risen.entity?.id));
    ok(risen.value >= 2 && risen.quotes.some((quote) => /cancel/i.test(quote)), JSON.stringify(risen.quotes));

    const found = await fired(fresh);
    equal(sessionsOf(found.entity?.id), 0);
    equal(found.value >= 3 && found.quotes.some((quote) => /password/i.test(quote)), true, found.text);
    equal(found.window.granularity, null);

    const dissatisfied = await fired(share);
    equal(dissatisfied.entity, null);
    ok(dissatisfied.value > 0.05 && (dissatisfied.sessions ?? 0) >= 5, dissatisfied.text);

    equal((await fired(gap)).entity?.groupBy, 'GAP');
    deepEqual(
      receiver.received.filter(({ path }) => path === sat.path),
      [],
    );
  });

  it('sum a week up by the numbers of queries', async () => {
    const week = localBucketAt('WEEK', 'UTC', (Date.now() - 7 * DAY_MS) * 1000);
    const [start = '', end = ''] = [week.start, week.end].map((at) => new Date(at / 1000).toISOString());
    const read = async (query: string, accept = 'application/json'): Promise<Response> =>
      fetch(`${service.url}/v1/digest/?instanceId=${instanceId}${query}`, {
        headers: { 'x-api-key': project.key, accept },
      });
    const digest = digestResponseSchema.parse(await (await read('')).json());
    deepEqual(digest.window, { start, end, timeZone: 'UTC' });
    const range = { instanceId, 'dateRange.start': start, 'dateRange.end': end };
    const counted = async (groupBy: string, more: object = {}): Promise<number> =>
      (await client.query({ groupBy, fields: 'messages', limit: 1, ...range, ...more })).pagination.total;
    deepEqual(
      [digest.sessions.now, digest.users.now, digest.dissatisfied.now],
      [await counted('SESSION'), await counted('END_USER'), await counted('SESSION', { minDsat: 1 })],
    );
    const query = { groupBy: 'TOPIC', fields: 'sessions', 'sort.field': 'sessions', limit: 5, ...range };
    deepEqual(
      digest.topics.map(({ id, name, sessions }) => ({ id, name, sessions })),
      (await client.rows(query)).map(({ dimensions: { topic }, fields: { sessions } }) => ({
        id: topic?.id,
        name: topic?.name,
        sessions,
      })),
    );
    ok(digest.sessions.now > 0);
    // Any day of the week names it, and a page says the same.
    const page = await read(`&week=${end.slice(0, 10)}`, 'text/html,application/xhtml+xml,*/*;q=0.8');
    match(page.headers.get('content-type') ?? '', /^text\/html/);
    match(await page.text(), /<h1[^>]*>Weekly digest<\/h1>/);
    const same = await read(`&week=${start.slice(0, 10)}`, 'text/html');
    const html = await same.text();
    // Without PUBLIC_URL, its links begin with the address that was asked.
    ok(html.includes(`href="${service.url}/?instance=${instanceId}&amp;`), html);
    ok(html.includes(`‘${digest.topics[0]?.name ?? '?'}’`.replaceAll("'", '&#39;')), html);
    match(same.headers.get('content-disposition') ?? '', new RegExp(`digest-${start.slice(0, 10)}.html`));
    // A week that is not over says so, and one to come that it has not begun.
    const textOf = async (day: number): Promise<string> => {
      const date = new Date(Date.now() + day * DAY_MS).toISOString().slice(0, 10);
      return digestResponseSchema.parse(await (await read(`&week=${date}`)).json()).text;
    };
    match(await textOf(0), /The week is not over\./);
    match(await textOf(7), /This week has not begun\.$/);
    // The week of another time zone is another span, and each way of telling it names it.
    const berlin = localBucketAt('WEEK', 'Asia/Kolkata', week.start + 86_400e6);
    const zoned = `&week=${start.slice(0, 10)}&timeZone=Asia/Kolkata`;
    const there = digestResponseSchema.parse(await (await read(zoned)).json());
    deepEqual(there.window, {
      start: new Date(berlin.start / 1000).toISOString(),
      end: new Date(berlin.end / 1000).toISOString(),
      timeZone: 'Asia/Kolkata',
    });
    equal(
      there.sessions.now,
      await counted('SESSION', { 'dateRange.start': there.window.start, 'dateRange.end': there.window.end }),
    );
    ok((await (await read(zoned, 'text/html')).text()).includes(', Asia/Kolkata.'));
    for (const wrong of ['&timeZone=Kolkata', '&week=2026-02-30', '&week=last', '&more=1'])
      equal((await read(wrong)).status, 400, wrong);
  });
});

describe('a receiver', () => {
  it('gets a test when it is asked for, in the form that it reads, and again when it fails', async () => {
    const instanceId = await service.newInstance(project);
    const made = await make(instanceId, { kind: 'digest' }, { format: 'slack' });
    const answers = [500, 204];
    const usual = receiver.answer;
    receiver.answer = (response, message) =>
      message.path === made.path
        ? response.writeHead(answers.shift() ?? 204).end()
        : usual(response, message);
    const path = `/v1/alerts/${made.alert.id}`;
    const query = `instanceId=${instanceId}`;
    equal((await client.send(`${path}/test?${query}`, { method: 'POST' })).status, 202);
    const [first, second] = await receiver.until(made.path, 2);
    equal(first?.id, second?.id);
    equal(first?.body, second?.body);
    match(
      String((verified(made.secret, second as never) as { text: string }).text),
      /This is a test of the alert/,
    );
    equal((await client.send(`${path}?${query}`, { method: 'DELETE' })).status, 204);
    equal((await client.send(`${path}?${query}`)).status, 404);
    receiver.answer = usual;
  });

  it('is told once by an alert that was made twice with one key', async () => {
    const instanceId = await service.newInstance(project);
    const send = (name: string) =>
      client.send('/v1/alerts', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify({
          instanceId,
          name,
          condition: { kind: 'digest' },
          delivery: { url: receiver.url },
        }),
      });
    const [first, again] = [await send('Digest'), await send('Digest')];
    deepEqual(again.body, first.body);
    equal((await send('Another')).status, 409);
  });
});
