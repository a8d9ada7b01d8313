import { equal } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../../tools/bench/load/process-use.ts';
import { overviewResponseSchema } from '../../src/query/overview/overview-schema.ts';
import { readDeadLetters } from '../../src/stream/dead-letters/dead-letters.ts';
import { Client } from '../support/client.ts';
import { noFigures, type FaultOptions, type Figures } from './support/figures.ts';
import { MEMBERS, Stack } from './support/stack.ts';

/** What a round sends. A hundred rounds are two million users and sessions, and requests for 100,000 topics. */
const USERS_IN_ONE_REQUEST = 10_000;
const SESSIONS = 20_000;
const LINES = 1000;
const TOPICS = 1000;
/** As few requests as make a topic. */
const REQUESTS_OF_TOPIC = 3;
/** So little that neither the worker's rows nor the queries' fit. */
const LIMITS = { STATE_MEMORY_BYTES: String(96 * 2 ** 20), QUERY_MEMORY_BYTES: String(64 * 2 ** 20) };
const LOOK_MS = 2000;
/** For so long nothing may be counted before it counts as lost. */
const STILL_MS = 600_000;
const SAY_EVERY = 10;

type Totals = ReturnType<typeof overviewResponseSchema.parse>['fields'];

const VERBS = words(
  'cancel change track book refund return upgrade explain find print share lock unlock close open move rename merge ' +
    'split archive restore export import sort filter hide pin sign renew pause',
);
const THINGS = words(
  'invoice parcel account password voucher ticket contract invitation calendar playlist receipt warranty prescription ' +
    'passport timetable mortgage insurance scooter boiler antenna recipe garden piano tractor library aquarium balloon ' +
    'camera dentist engine',
);
const PLACES = words(
  'Oslo Lisbon Nairobi Lima Quebec Hanoi Perth Dakar Riga Tokyo Austin Vienna Cairo Bergen Turin Delhi Porto Seoul ' +
    'Malmo Bern Cork Izmir Kyiv Leeds Lyon Accra Baku Dallas Essen Fargo Ghent Hull Ibiza Jena Kobe Lagos Minsk Nice ' +
    'Omsk Pisa',
);

/**
 * Millions of users and sessions, and requests of tens of thousands of kinds, with little memory: what does not fit
 * goes to the disk or is done in parts. Everything is counted, nothing is dead-lettered, and no process ends.
 */
export async function memory({ rounds, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = await Stack.start({ env: LIMITS });
  try {
    const client = new Client(stack.url, await stack.newKey());
    const { instanceId } = await client.ingest({ messages: [{ content: 'Hello there.' }] });
    figures.accepted = 1;
    for (let round = 0; round < rounds; round += 1) {
      figures.accepted += await sendRound(client, instanceId, round);
      figures.rounds += 1;
      if (figures.rounds % SAY_EVERY === 0)
        say(`${figures.accepted} messages accepted; ${await inUse(stack)}`);
    }
    figures.counted = await counted(client, instanceId, figures.accepted);
    figures.wrong.push(...(await faultsOf(stack, client, instanceId, rounds)));
    say(`in the end: ${await inUse(stack)}`);
    return figures;
  } finally {
    await stack.stop();
  }
}

/** One request of many users, then as many sessions, half of them of the same users; how many messages it were. */
async function sendRound(client: Client, instanceId: string, round: number): Promise<number> {
  const first = round * SESSIONS;
  const userId = (user: number): string => `user ${first + user}`;
  const messages = Array.from({ length: USERS_IN_ONE_REQUEST }, (_, user) => ({
    content: 'a',
    userId: userId(user),
  }));
  await accepted(client, '/v1/ingest/', 'application/json', JSON.stringify({ instanceId, messages }));
  for (let from = 0; from < SESSIONS; from += LINES) {
    const lines = Array.from({ length: LINES }, (_, line) => {
      const message = { content: contentOf(round, from + line), userId: userId(from + line) };
      return JSON.stringify({ instanceId, messages: [message] });
    });
    await accepted(client, '/v1/ingest/batch/', 'application/x-ndjson', lines.join('\n'));
  }
  return USERS_IN_ONE_REQUEST + SESSIONS;
}

/** Sends what is refused for now again: it was not stored. */
async function accepted(client: Client, path: string, type: string, body: string): Promise<void> {
  for (;;) {
    const { status, headers, ...answer } = await fetch(`${client.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': type, 'x-api-key': client.key },
      body,
    }).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    }));
    if (status === 200) return equal(headers.get('x-refused-lines') ?? '0', '0');
    equal(status, 503, answer.text);
    await sleep(Number(headers.get('retry-after')) * 1000);
  }
}

/** What a session says: a request for one of the round's topics, or nothing in particular. */
function contentOf(round: number, session: number): string {
  const requestsUntil = (sessions: number): number =>
    Math.floor((sessions * TOPICS * REQUESTS_OF_TOPIC) / SESSIONS);
  const request = requestsUntil(session);
  if (request === requestsUntil(session + 1)) return 'a';
  let rest = round * TOPICS + (request % TOPICS);
  const next = (words: readonly string[]): string => {
    const word = words[rest % words.length] as string;
    rest = Math.floor(rest / words.length);
    return word;
  };
  const [verb, thing, place] = [next(VERBS), next(THINGS), next(PLACES)];
  const where = `${place} ${rest}`;
  const wordings = [
    `How do I ${verb} the ${thing} in ${where}?`,
    `Please ${verb} my ${thing} of ${where}.`,
    `I want to ${verb} the ${thing} for ${where}`,
  ];
  return wordings[Math.floor(request / TOPICS)] as string;
}

/** Waits until so many messages are counted, or nothing more is; how many are. */
async function counted(client: Client, instanceId: string, messages: number): Promise<number> {
  let [seen, seenAt] = [0, performance.now()];
  for (;;) {
    const total = (await totalsOf(client, instanceId))?.messages ?? 0;
    if (total >= messages || performance.now() - seenAt > STILL_MS) return total;
    if (total > seen) [seen, seenAt] = [total, performance.now()];
    await sleep(LOOK_MS);
  }
}

/** Null: a query has not enough memory for now, or the views are not there. */
async function totalsOf(client: Client, instanceId: string): Promise<Totals | null> {
  const answer = await client.send(`/v1/overview/?instanceId=${instanceId}`);
  if (answer.status === 503) return null;
  equal(answer.status, 200, JSON.stringify(answer.body));
  return overviewResponseSchema.parse(answer.body).fields;
}

/** What is not as it should be in the end, in words. */
async function faultsOf(stack: Stack, client: Client, instanceId: string, rounds: number): Promise<string[]> {
  const wrong: string[] = [];
  const expect = (what: string, found: unknown, expected: number): void => {
    if (found !== expected) wrong.push(`${String(found)} ${what} in place of ${expected}`);
  };
  const totals = await totalsOf(client, instanceId);
  expect('users', totals?.users, rounds * SESSIONS);
  // Each request of many users is a session of its own, and so is the first message.
  expect('sessions', totals?.sessions, rounds * (SESSIONS + 1) + 1);
  const { pagination } = await client.query({
    instanceId,
    groupBy: 'END_USER',
    fields: 'messages',
    limit: 1,
  });
  expect('rows of users', pagination.total, rounds * SESSIONS);
  for (const member of MEMBERS) expect(`starts of ${member}`, stack.starts(member), 1);
  expect('merges failed', stack.log('worker').split('merge_failed').length - 1, 0);
  const connection = await stack.connect();
  try {
    for await (const { sequence, reason } of readDeadLetters(connection))
      wrong.push(`entry ${sequence} was dead-lettered: ${reason}`);
  } finally {
    await connection.close();
  }
  return wrong;
}

/** Resident memory of each process, in words. */
async function inUse(stack: Stack): Promise<string> {
  const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
  const uses = MEMBERS.map(async (member) => {
    const { now, peak } = await memoryOf(stack.pid(member));
    return `${member} ${megabytes(now)} MiB (most ${megabytes(peak)})`;
  });
  return (await Promise.all(uses)).join(', ');
}

function words(text: string): readonly string[] {
  return text.split(' ');
}
