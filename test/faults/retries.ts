import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createConnection, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, faultOf, idsOf, type Answer } from '../support/client.ts';
import { freePort } from '../support/nats.ts';
import { noFigures, type FaultOptions, type Figures } from './support/figures.ts';
import { Stack } from './support/stack.ts';

const hello = (content: string): object => ({ messages: [{ role: 'user', userId: 'ada', content }] });

/** A way to the service on which whole answers get lost: the link is cut once the request has gone through. */
async function lossyWay(to: string): Promise<{ url: string; cut: boolean; close: () => Promise<void> }> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const way = { url: `http://127.0.0.1:${port}`, cut: true, close: () => Promise.resolve() };
  const server = createServer((caller) => {
    const service = createConnection({ host: '127.0.0.1', port: Number(new URL(to).port) });
    for (const socket of [caller, service]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    caller.pipe(service);
    service.on('data', (bytes) => {
      if (way.cut) caller.resetAndDestroy();
      else caller.write(bytes);
    });
    caller.on('close', () => service.destroy());
    service.on('close', () => caller.destroy());
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  way.close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  };
  return way;
}

/**
 * Requests that a client repeats, with and without an Idempotency-Key: in a row, all at once, after a lost
 * answer, after 503, after a restart of web, beyond the window in which NATS knows a message again, and with
 * another body.
 */
export async function retries({ seconds, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = given ?? (await Stack.start());
  const way = await lossyWay(stack.url);
  try {
    const apiKey = await stack.newKey();
    const client = new Client(stack.url, apiKey);
    const lossy = new Client(way.url, apiKey);
    const keyed = (key: string) => ({ 'idempotency-key': key });
    const count = async (instanceId: string, position: number): Promise<number> => {
      const rows = await client.rows({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
      return rows.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0);
    };
    const isOnce = async (answers: readonly Answer[], what: string): Promise<void> => {
      const all = answers.map(idsOf);
      const [first] = all;
      if (first === undefined) throw new Error('no answers');
      for (const { instanceId, sessionId } of all) {
        deepEqual({ instanceId, sessionId }, { instanceId: first.instanceId, sessionId: first.sessionId });
      }
      // Behind everything that was sent before: nothing of it is still on its way.
      const { position } = await client.ingest({
        instanceId: first.instanceId,
        messages: [{ content: 'Last.' }],
      });
      equal(await count(first.instanceId, Math.max(position, ...all.map((ids) => ids.position))), 2, what);
      figures.accepted += 2;
      figures.counted += 2;
      figures.rounds += 1;
      say(what);
    };

    const post = (body: object, key: string): Promise<Answer> => client.post(body, keyed(key));
    const early = randomUUID();
    const earlyAnswer = await post(hello('Early.'), early);

    const inARow = randomUUID();
    const row = [];
    for (let i = 0; i < 4; i += 1) row.push(await post(hello('In a row.'), inARow));
    await isOnce(row, 'repeated in a row');

    const atOnce = randomUUID();
    await isOnce(
      await Promise.all(Array.from({ length: 8 }, () => post(hello('At once.'), atOnce))),
      'repeated all at once',
    );

    const lost = randomUUID();
    let cuts = 0;
    for (let i = 0; i < 3; i += 1) {
      await lossy.post(hello('Lost.'), keyed(lost)).catch(() => (cuts += 1));
    }
    equal(cuts, 3);
    await isOnce([await post(hello('Lost.'), lost)], 'repeated after lost answers');

    const restarted = randomUUID();
    const before = await post(hello('Restart.'), restarted);
    await stack.restart('web');
    await stack.ready();
    await isOnce([before, await post(hello('Restart.'), restarted)], 'repeated after a restart of web');

    const refused = randomUUID();
    await stack.hold('nats');
    const refusal = await post(hello('Refused.'), refused);
    faultOf(refusal, 503, 'SERVICE_UNAVAILABLE');
    notEqual(refusal.headers.get('retry-after'), null);
    stack.release('nats');
    let again = await post(hello('Refused.'), refused);
    while (again.status === 503) {
      await sleep(50);
      again = await post(hello('Refused.'), refused);
    }
    await isOnce([again, await post(hello('Refused.'), refused)], 'repeated after 503');

    faultOf(await post(hello('Another body.'), refused), 409, 'CONFLICT');
    await stack.restart('web');
    await stack.ready();
    faultOf(await post(hello('Another body.'), refused), 409, 'CONFLICT');
    const reordered = { messages: [{ content: 'Refused.', userId: 'ada', role: 'user' }] };
    deepEqual((await post(reordered, refused)).body, again.body);
    say('another body: 409');

    const without = [await client.post(hello('Twice.')), await client.post(hello('Twice.'))].map(idsOf);
    notEqual(without[0]?.instanceId, without[1]?.instanceId);
    const { instanceId = '' } = without[0] ?? {};
    await client.post({ instanceId, ...hello('Twice.') });
    const { position } = await client.ingest({ instanceId, ...hello('Twice.') });
    equal(await count(instanceId, position), 3);
    say('without a key each request counts');

    await sleep(seconds * 1000);
    await stack.restart('web');
    await stack.ready();
    await isOnce([earlyAnswer, await post(hello('Early.'), early)], `repeated later (${seconds} s more)`);
    return figures;
  } finally {
    await way.close();
    if (given === undefined) await stack.stop();
  }
}
