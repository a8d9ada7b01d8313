/** How many requests does ingest take, how fast, and is every message counted afterwards? */
import { ServiceClient } from '../../src/doors/import/client.ts';
import { benchmark } from './load/benchmark.ts';
import { demoConversations, type Conversation } from './load/distinct-texts.ts';
import { freshnessUntil } from './load/freshness.ts';
import { ConnectionPool, closedLoop, Measurements, openLoop } from './load/http-load.ts';
import { median, type Ratios } from './load/ratios.ts';
import { request, startMeasuredService, type MeasuredService } from './load/service.ts';

const MESSAGES_PER_REQUEST = 5;
const USERS = 1_000;
/** Of three requests one opens a session and two continue an open one. */
const REQUESTS_PER_SESSION = 3;
const CONNECTIONS = 256;
/** One after the other. */
const LARGE_REQUESTS = 5;
const COUNTED_LIMIT_MS = 600_000;

type Turn = Conversation[number];

/** Sends requests of five messages each and knows what has been accepted. */
class Load {
  readonly #pool: ConnectionPool;
  readonly #key: string;
  readonly #turns: readonly Turn[];
  readonly #open: { readonly sessionId: string; readonly user: string; left: number }[] = [];
  #requests = 0;
  #sessions = 0;
  instanceId: string | undefined;
  acceptedMessages = 0;
  acceptedSessions = 0;
  lastPosition = 0;

  constructor(service: MeasuredService, turns: readonly Turn[]) {
    this.#pool = new ConnectionPool(service.url, CONNECTIONS);
    this.#key = service.key;
    this.#turns = turns;
  }

  /** One request; throws with the status and code when it is not accepted. */
  readonly send = async (): Promise<void> => {
    this.#requests += 1;
    const continued = this.#requests % REQUESTS_PER_SESSION === 0 ? undefined : this.#open.shift();
    const user = continued?.user ?? `user-${(this.#sessions += 1) % USERS}`;
    const answer = await this.#post(this.#messages(MESSAGES_PER_REQUEST, user), continued?.sessionId);
    if (continued === undefined) {
      this.acceptedSessions += 1;
      this.#open.push({ sessionId: answer.sessionId, user, left: REQUESTS_PER_SESSION - 1 });
    } else if (continued.left > 1) this.#open.push({ ...continued, left: continued.left - 1 });
  };

  /** One request of `count` messages in a session of its own. */
  async sendLarge(count: number): Promise<void> {
    await this.#post(this.#messages(count, 'user-0'));
    this.acceptedSessions += 1;
  }

  close(): void {
    this.#pool.close();
  }

  #messages(count: number, userId: string): { role: string; content: string; userId?: string }[] {
    return Array.from({ length: count }, (_, index) => {
      const turn = this.#turns[(this.#requests * MESSAGES_PER_REQUEST + index) % this.#turns.length];
      if (turn === undefined) throw new Error('no turns to send');
      return turn.role === 'user' ? { ...turn, userId } : turn;
    });
  }

  async #post(messages: readonly unknown[], sessionId?: string): Promise<{ sessionId: string }> {
    const ids = { ...(this.instanceId && { instanceId: this.instanceId }), ...(sessionId && { sessionId }) };
    const answer = await this.#pool.post(
      '/v1/ingest/',
      { 'x-api-key': this.#key },
      JSON.stringify({ ...ids, messages }),
    );
    if (answer.status !== 200) {
      const code = /"code":"(\w+)"/.exec(answer.body)?.[1] ?? '';
      throw new Error(`status ${answer.status} ${code}`.trim());
    }
    const body = JSON.parse(answer.body) as { instanceId: string; sessionId: string };
    this.instanceId ??= body.instanceId;
    this.acceptedMessages += messages.length;
    this.lastPosition = Math.max(this.lastPosition, Number(answer.headers.get('x-stream-position')));
    return body;
  }
}

const USAGE = `Usage: npm run bench -- ingest [OPTIONS]

How many requests does ingest take, how fast, and is every message counted afterwards? Without --url, it starts its own
service (empty data directory, no rate limit). The alternative, in the same run: the same requests one at a time,
each waiting for its own synced commit, as without group commit.

  --rate N            requests a second (default: 1000)
  --seconds N         duration (default: 30)
  --burst-seconds N   then as fast as possible for this long (default: 5)
  --masking           instead: the same load by turns to an instance that masks nothing, to one that masks texts and
                      ids of end users, and to one where each request brings a value that is new in its session
  --url URL           measure the service at this address instead
  --key KEY           an API key of that service`;

export const command = benchmark(
  USAGE,
  { url: '', key: '', rate: 1000, seconds: 30, 'burst-seconds': 5, masking: false },
  async ({ url, key, rate, seconds, masking, 'burst-seconds': burstSeconds }) =>
    masking
      ? measureMasking(burstSeconds)
      : measure({ given: url === '' ? null : { url, key }, rate, seconds, burstSeconds }),
);

async function measure({
  given,
  rate,
  seconds,
  burstSeconds,
}: {
  readonly given: { readonly url: string; readonly key: string } | null;
  readonly rate: number;
  readonly seconds: number;
  readonly burstSeconds: number;
}): Promise<number> {
  const service: MeasuredService =
    given === null ? await startMeasuredService() : { ...given, stop: () => Promise.resolve() };
  const load = new Load(service, await demoTurns());
  const client = new ServiceClient(service);
  let failures = 0;
  const report = (what: string, measurements: Measurements, more = ''): void => {
    for (const count of measurements.errors.values()) failures += count;
    console.log(`${what.padEnd(34)} ${measurements.describe()}${more}`);
  };

  try {
    await load.send();
    report('warm-up, 200 requests/s for 3 s', await openLoop(200, 3, load.send));
    await counted(client, load);

    const steady = await openLoop(rate, seconds, load.send);
    const steadyEndedAt = performance.now();
    report(`${rate} requests/s of 5 messages, ${seconds} s`, steady);
    const lag = await counted(client, load);
    console.log(
      `${'all of it counted'.padEnd(34)} ${Math.round(lag.at - steadyEndedAt)} ms after the last answer`,
    );

    const single = await closedLoop(1, burstSeconds, load.send);
    report('one at a time (baseline)', single.measurements, `; ${Math.round(single.perSecond)} requests/s`);
    const sentBefore = load.acceptedMessages;
    const burstStartedAt = performance.now();
    const burst = await closedLoop(CONNECTIONS, burstSeconds, load.send);
    const burstEndedAt = performance.now();
    report(
      `burst, ${CONNECTIONS} at a time`,
      burst.measurements,
      `; ${Math.round(burst.perSecond)} requests/s, ${(burst.perSecond / single.perSecond).toFixed(1)} × the baseline`,
    );
    const drained = await counted(client, load);
    const perSecond = (load.acceptedMessages - sentBefore) / ((drained.at - burstStartedAt) / 1000);
    console.log(
      `${'burst counted'.padEnd(34)} ${Math.round(drained.at - burstEndedAt)} ms after the last answer: ` +
        `${Math.round(perSecond)} messages/s from request to query`,
    );

    const large = await sendLarge(load);
    report(`${LARGE_REQUESTS} requests of 10,000 messages`, large);
    const total = await counted(client, load);
    console.log(
      `${'counted in the end'.padEnd(34)} ${total.messages} of ${load.acceptedMessages} messages, ` +
        `${total.sessions} of ${load.acceptedSessions} sessions`,
    );
    const { messages, sessions } = total;
    if (failures === 0 && messages === load.acceptedMessages && sessions === load.acceptedSessions) return 0;
    console.log('FAILED: see above');
    return 1;
  } finally {
    load.close();
    await service.stop();
  }
}

/** Requests of 10,000 messages, one after the other. */
async function sendLarge(load: Load): Promise<Measurements> {
  const large = new Measurements();
  for (let times = 0; times < LARGE_REQUESTS; times += 1) {
    const startedAt = performance.now();
    await load.sendLarge(10_000);
    large.add(performance.now() - startedAt);
  }
  return large;
}

/** Turns of a side, each followed by one of each other. */
const MASKING_TURNS = 6;
const MASKING = { texts: true, userIds: 'digest' };

async function measureMasking(burstSeconds: number): Promise<number> {
  const service = await startMeasuredService();
  const turns = await demoTurns();
  // Each request of five messages brings a value that its session has not had.
  const personal = turns.map(({ role, content }, place) =>
    place % MESSAGES_PER_REQUEST === 0
      ? { role, content: `${content} My address is guest${place}@example.com.` }
      : { role, content },
  );
  const sides = [
    { what: 'without masking', load: new Load(service, turns), masks: false },
    { what: 'with masking', load: new Load(service, turns), masks: true },
    { what: 'with masking, a new value in every request', load: new Load(service, personal), masks: true },
  ].map((side) => ({ ...side, perSecond: [] as number[] }));
  try {
    for (const { load, masks } of sides) {
      await load.send();
      if (masks) await request(service, `instances/${load.instanceId}/masking`, MASKING, { method: 'PUT' });
      await closedLoop(CONNECTIONS, burstSeconds, load.send);
    }
    for (let turn = 0; turn < MASKING_TURNS; turn += 1)
      for (const { load, perSecond } of sides)
        perSecond.push((await closedLoop(CONNECTIONS, burstSeconds, load.send)).perSecond);
    const plain = median(sides[0]?.perSecond ?? []);
    for (const { what, perSecond } of sides) {
      const own = median(perSecond);
      console.log(
        `${what.padEnd(44)} ${Math.round(own)} requests/s of 5 messages: ${(own / plain).toFixed(2)} × as many`,
      );
    }
    return 0;
  } finally {
    for (const { load } of sides) load.close();
    await service.stop();
  }
}

/** What a short run measures. Milliseconds are medians. */
export interface IngestFigures {
  /** Of a request of five messages, at 1,000 a second. */
  readonly p50Ms: number;
  /** Of a request of 10,000 messages. */
  readonly largeMs: number;
  /** From one message accepted to visible. */
  readonly visibleMs: number;
  /** Requests a second, many at a time. */
  readonly burst: number;
}

/** The figures of a short run with a service of its own. */
export async function ingestFigures(): Promise<IngestFigures> {
  const service = await startMeasuredService();
  const load = new Load(service, await demoTurns());
  const pool = new ConnectionPool(service.url, 8);
  const client = new ServiceClient(service);
  try {
    await openLoop(200, 3, load.send);
    await counted(client, load);
    const { id: instanceId } = await client.openInstance({ default: true });
    const wait = new Promise<void>((done) => setTimeout(done, VISIBLE_MS));
    const visible = await freshnessUntil(wait, { pool, key: service.key, instanceId });
    const steady = await openLoop(1000, 5, load.send);
    const { perSecond: burst } = await closedLoop(CONNECTIONS, 3, load.send);
    await counted(client, load);
    const large = await sendLarge(load);
    const [p50Ms = 0, largeMs = 0, visibleMs = 0] = [steady, large, visible].map((one) => one.quantile(0.5));
    return { p50Ms, largeMs, visibleMs, burst };
  } finally {
    load.close();
    pool.close();
    await service.stop();
  }
}
const VISIBLE_MS = 15_000;

/** How many more requests a second are taken many at a time than one at a time. */
export const ratios: Ratios = async ({ times }) => {
  const service = await startMeasuredService();
  const load = new Load(service, await demoTurns());
  try {
    await openLoop(200, 3, load.send);
    const samples: number[] = [];
    while (samples.length < times) {
      const fastest = { single: 0, burst: 0 };
      // They take turns, so that what else the machine does meets both.
      for (let turn = 0; turn < 4; turn += 1) {
        const single = await closedLoop(1, 1, load.send);
        const burst = await closedLoop(CONNECTIONS, 1, load.send);
        fastest.single = Math.max(fastest.single, single.perSecond);
        fastest.burst = Math.max(fastest.burst, burst.perSecond);
      }
      samples.push(fastest.burst / fastest.single);
    }
    return { 'requests/s, many at a time over one at a time': samples };
  } finally {
    load.close();
    await service.stop();
  }
};

async function demoTurns(): Promise<Turn[]> {
  return (await demoConversations()).flat();
}

/** Waits until queries count everything accepted so far (or too long); what they count, and when they did. */
async function counted(
  client: ServiceClient,
  load: Load,
): Promise<{ messages: number; sessions: number; at: number }> {
  const deadline = performance.now() + COUNTED_LIMIT_MS;
  for (;;) {
    const answer = await client.query(
      { groupBy: 'END_USER', instanceId: load.instanceId ?? '', fields: 'messages,sessions', limit: '10000' },
      load.lastPosition,
    );
    const sum = (field: string): number =>
      answer.elements.reduce((total, { fields }) => total + Number(fields[field]), 0);
    const result = { messages: sum('messages'), sessions: sum('sessions'), at: performance.now() };
    const all = result.messages >= load.acceptedMessages && result.sessions >= load.acceptedSessions;
    if (all || performance.now() > deadline) return result;
    await new Promise((done) => setTimeout(done, 20));
  }
}
