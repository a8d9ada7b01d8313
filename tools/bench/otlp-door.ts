/** How many spans does the door of OTLP take, how fast, and when does one see the conversations? */
import { randomUUID } from 'node:crypto';
import { ServiceClient } from '../../src/doors/import/client.ts';
import { exportProtobuf, type SpanDraft } from '../../test/support/otlp.ts';
import { benchmark } from './load/benchmark.ts';
import { ConnectionPool, openLoop, type Measurements } from './load/http-load.ts';
import { startMeasuredService, type OwnService } from './load/service.ts';

/** A turn: an agent, two calls of a model below it and a search. */
const SPANS_PER_TURN = 4;
const TURNS_PER_REQUEST = 5;
const TURNS_PER_SESSION = 4;
const CONNECTIONS = 64;
const COUNTED_LIMIT_MS = 300_000;

const USAGE = `Usage: npm run bench -- otlp-door [OPTIONS]

How many spans does POST /v1/traces take, how fast, and how long until queries count their messages? Starts its own
service. The alternative, in the same run: the same messages through POST /v1/ingest, one request for each turn.

  --rate N      spans a second (default: 1000)
  --seconds N   duration of each part (default: 20)`;

export const command = benchmark(USAGE, { rate: 1000, seconds: 20 }, ({ rate, seconds }) =>
  measure(rate, seconds),
);

/** Makes turns of conversations. */
class Turns {
  #made = 0;
  sent = 0;

  next(): {
    readonly conversation: string;
    readonly question: string;
    readonly answer: string;
    readonly turn: number;
  } {
    const turn = (this.#made += 1);
    const conversation = `chat ${Math.floor(turn / TURNS_PER_SESSION)}`;
    const question = `Where is parcel ${turn}, which I ordered last week for my sister?`;
    return { conversation, question, answer: `Parcel ${turn} is on its way and arrives on Friday.`, turn };
  }

  spans(): SpanDraft[] {
    const { conversation, question, answer, turn } = this.next();
    const trace = `trace ${turn}`;
    const startedAt = Date.now() - 2000;
    const part = (span: string, from: number, to: number) => ({
      trace,
      span: `${span} ${turn}`,
      startedAt: startedAt + from,
      endedAt: startedAt + to,
    });
    const asked = [{ role: 'user', content: question }] as const;
    const answered = [{ role: 'assistant', content: answer }] as const;
    return [
      { ...part('call', 10, 400), parent: `agent ${turn}`, operation: 'chat', asked },
      { ...part('search', 410, 600), parent: `agent ${turn}` },
      { ...part('answer', 610, 990), parent: `agent ${turn}`, operation: 'chat', asked, answered },
      { ...part('agent', 0, 1000), operation: 'invoke_agent', asked, answered, conversationId: conversation },
    ];
  }
}

async function measure(rate: number, seconds: number): Promise<number> {
  const service = await startMeasuredService();
  const pool = new ConnectionPool(service.url, CONNECTIONS);
  try {
    const perSecond = rate / SPANS_PER_TURN / TURNS_PER_REQUEST;
    const door = await part(
      service,
      'POST /v1/traces',
      async (key, instanceId, turns) => {
        const drafts = Array.from({ length: TURNS_PER_REQUEST }, () => turns.spans()).flat();
        const headers = {
          'x-api-key': key,
          'x-instance-id': instanceId,
          'content-type': 'application/x-protobuf',
        };
        const answer = await pool.post('/v1/traces', headers, exportProtobuf(drafts));
        if (answer.status !== 200) throw new Error(`status ${answer.status}`);
        turns.sent += 2 * TURNS_PER_REQUEST;
      },
      perSecond,
      seconds,
    );
    const plain = await part(
      service,
      'POST /v1/ingest',
      async (key, instanceId, turns) => {
        await Promise.all(
          Array.from({ length: TURNS_PER_REQUEST }, async () => {
            const { question, answer } = turns.next();
            const messages = [
              { role: 'user', content: question },
              { role: 'assistant', content: answer },
            ];
            const body = JSON.stringify({ instanceId, sessionId: randomUUID(), messages });
            const reply = await pool.post('/v1/ingest/', { 'x-api-key': key }, body);
            if (reply.status !== 200) throw new Error(`status ${reply.status}`);
            turns.sent += 2;
          }),
        );
      },
      perSecond,
      seconds,
    );
    console.log(
      `delay until all is counted, traces over ingest: ${(door.delayMs / plain.delayMs).toFixed(1)}`,
    );
    const good = door.exact && plain.exact && door.p99 < 100;
    console.log(good ? 'as wanted: all counted, p99 below 100 ms' : 'FAILED: see above');
    return good ? 0 : 1;
  } finally {
    pool.close();
    await service.stop();
  }
}

type Send = (key: string, instanceId: string, turns: Turns) => Promise<void>;

/** One way in, with an instance of its own. */
async function part(
  service: OwnService,
  name: string,
  send: Send,
  perSecond: number,
  seconds: number,
): Promise<{ readonly p99: number; readonly delayMs: number; readonly exact: boolean }> {
  const key = await service.newKey(name);
  const client = new ServiceClient({ url: service.url, key });
  const { id: instanceId } = await client.openInstance({ name: 'bench' });
  const turns = new Turns();
  await openLoop(perSecond, 2, () => send(key, instanceId, turns));
  await counted(client, instanceId, turns);
  const measured: Measurements = await openLoop(perSecond, seconds, () => send(key, instanceId, turns));
  const endedAt = performance.now();
  const messages = await counted(client, instanceId, turns);
  const delayMs = performance.now() - endedAt;
  console.log(
    `${name}: ${Math.round(perSecond * TURNS_PER_REQUEST * SPANS_PER_TURN)} spans/s (or their messages) for ` +
      `${seconds} s: ${measured.describe()}; ${messages} of ${turns.sent} messages counted, ` +
      `${Math.round(delayMs)} ms after the last answer`,
  );
  return { p99: measured.quantile(0.99), delayMs, exact: messages === turns.sent };
}

/** Waits until queries count all that was sent. */
async function counted(client: ServiceClient, instanceId: string, turns: Turns): Promise<number> {
  const deadline = performance.now() + COUNTED_LIMIT_MS;
  for (;;) {
    const parameters = {
      groupBy: 'SESSION',
      instanceId,
      fields: 'messages',
      timeGranularity: 'ALL',
      limit: '10000',
    };
    const { elements } = await client.query(parameters);
    const messages = elements.reduce((sum, { fields }) => sum + Number(fields['messages']), 0);
    if (messages >= turns.sent || performance.now() > deadline) return messages;
    await new Promise((done) => setTimeout(done, 20));
  }
}
