import { setTimeout as sleep } from 'node:timers/promises';
import { alertDetailSchema, newAlertSchema } from '../../src/doors/alerts/service.ts';
import { Client } from '../support/client.ts';
import { CANCEL } from '../support/conversations.ts';
import { startReceiver, verified, type Receiver } from '../support/receiver.ts';
import { noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

/** Alerts may be posted to receivers of the test. */
export const ALERTS_ENV = { WEBHOOK_ALLOW_PRIVATE: 'true' };

/** The receivers of one round, by what happens to what they get. */
const BEHAVIOURS = ['killed before its answer', 'killed after its answer', 'away'] as const;

interface Watched {
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
}

/**
 * The worker is killed while messages of alerts are on their way: before a receiver answers, right after one has, and
 * while another one is away; in the long form at random moments besides. Afterwards each alert has told of each
 * entity, under one id.
 */
export async function alerts({ long, rounds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const stack = given ?? (await Stack.start({ env: ALERTS_ENV }));
  const receivers = await Promise.all(BEHAVIOURS.map(startReceiver));
  try {
    const client = new Client(stack.url, await stack.newKey('alerts'));
    for (let round = 1; round <= rounds; round += 1) {
      const startedAt = performance.now();
      const kill = once(() => {
        figures.kills += 1;
        return stack.kill('worker');
      });
      const [before, after, away] = receivers as [Receiver, Receiver, Receiver];
      let killed = false;
      const killNow = (): void => {
        void kill().then(() => (killed = true));
      };
      before.answer = (response) => {
        if (!killed) killNow();
        else response.writeHead(204).end();
      };
      after.answer = (response) =>
        response.writeHead(204).end(() => setTimeout(killNow, random.between(0, 40)));
      away.answer = (response) => response.writeHead(killed ? 204 : 503).end();
      const { instanceId, watched } = await watch(client, receivers);
      for (const content of CANCEL) await client.ingest(requestWith(instanceId, content));
      if (long) {
        await sleep(random.between(0, 800));
        killNow();
      }
      await Promise.all(watched.map((one) => settled(stack, client, instanceId, one)));
      // What follows says nothing new.
      const { position } = await client.ingest(requestWith(instanceId, CANCEL[0]));
      await client.query({ instanceId, groupBy: 'TOPIC', fields: 'messages' }, position);
      for (const [index, one] of watched.entries()) {
        const ids = new Set(one.receiver.received.map((message) => message.id));
        const body = one.receiver.received.at(-1);
        if (ids.size !== 1 || body === undefined)
          figures.wrong.push(`${BEHAVIOURS[index]}: ${ids.size} messages in place of 1`);
        else verified(one.secret, body);
        one.receiver.received.length = 0;
      }
      figures.accepted += watched.length;
      figures.counted += watched.length;
      figures.rounds += 1;
      recovered(figures, 'alerts', performance.now() - startedAt);
      say(`round ${round}: ${watched.length} alerts told once each`);
    }
    return figures;
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.close()));
    if (given === undefined) await stack.stop();
  }
}

function requestWith(instanceId: string, content: string): object {
  return { instanceId, messages: [{ role: 'user', userId: 'ada', content }] };
}

/** An alert on a new instance for each receiver. */
async function watch(
  client: Client,
  receivers: readonly Receiver[],
): Promise<{ readonly instanceId: string; readonly watched: readonly Watched[] }> {
  const post = (path: string, body: object) =>
    client.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const { id: instanceId } = (await post('/v1/instances', {})).body as { id: string };
  const condition = { kind: 'count', groupBy: 'TOPIC', window: 'WEEK', atLeast: 4 };
  const watched: Watched[] = [];
  for (const receiver of receivers) {
    const asked = { instanceId, name: 'Cancellations', condition, delivery: { url: `${receiver.url}/` } };
    const { alert, secret } = newAlertSchema.parse((await post('/v1/alerts', asked)).body);
    watched.push({ receiver, id: alert.id, secret });
  }
  return { instanceId, watched };
}

/** Waits until an alert has said what it had to say, and that is noted. */
async function settled(stack: Stack, client: Client, instanceId: string, { id }: Watched): Promise<void> {
  let found = '';
  await stack.until(
    async () => {
      const { status, body } = await client.send(`/v1/alerts/${id}?instanceId=${instanceId}`);
      if (status !== 200) return false;
      const { deliveries } = alertDetailSchema.parse(body);
      found = JSON.stringify(deliveries);
      return deliveries.length > 0 && deliveries.every(({ state }) => state === 'delivered');
    },
    () => `the messages of an alert are ${found}`,
  );
}

function once(work: () => Promise<void>): () => Promise<void> {
  let doing: Promise<void> | null = null;
  return () => (doing ??= work());
}
