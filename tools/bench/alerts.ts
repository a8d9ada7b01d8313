/** What do the alerts of an instance cost the worker? */
import { resolve } from 'node:path';
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { readDemoConversations } from '../../src/doors/demo/conversations.ts';
import { readWorkerStatuses } from '../../src/health/process-status.ts';
import { ServiceClient } from '../../src/doors/import/client.ts';
import { processorMsOf } from './load/process-use.ts';
import { median } from './load/ratios.ts';
import { startMeasuredService, type OwnService } from './load/service.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- alerts [OPTIONS]

What do the alerts of an instance cost the worker?

Sends the demo's conversations again and again, in turns to an instance without alerts and to one with many, until all
are counted: messages a second, and processor time of the worker for 1,000 messages. The alerts are of every kind, and
wait for what does not happen, so that each is decided anew each time.

  --alerts N     alerts of the second instance (default: 100)
  --messages N   of a turn, about (default: 10000)
  --turns N      of each instance (default: 5)`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      alerts: { type: 'string', default: '100' },
      messages: { type: 'string', default: '10000' },
      turns: { type: 'string', default: '5' },
    },
    read({ alerts, messages, turns }) {
      const options = {
        alerts: wholeNumber('--alerts', alerts),
        messages: wholeNumber('--messages', messages, 100),
        turns: wholeNumber('--turns', turns),
      };
      return () => measure(options);
    },
  }),
};

/** A turn of an instance. */
interface Turn {
  readonly messagesPerSecond: number;
  /** Processor time of the worker, milliseconds for 1,000 messages. */
  readonly processorMs: number;
}

async function measure(options: { alerts: number; messages: number; turns: number }): Promise<number> {
  const { alerts, messages, turns } = options;
  const conversations = await readDemoConversations(
    resolve(import.meta.dirname, '../../examples/demo/conversations.jsonl'),
  );
  const bodies = conversations.map(({ user, turns: texts }) =>
    texts.map((content, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      userId: user,
      content,
    })),
  );
  const service = await startMeasuredService({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  try {
    const call = caller(service);
    const plain = ((await call('instances', {})) as { id: string }).id;
    const watched = ((await call('instances', {})) as { id: string }).id;
    for (let index = 0; index < alerts; index += 1)
      await call('alerts', {
        instanceId: watched,
        name: `Alert ${index}`,
        condition: CONDITIONS[index % CONDITIONS.length],
        delivery: { url: 'http://127.0.0.1:9/' },
      });
    const found = new Map<string, Turn[]>([
      [plain, []],
      [watched, []],
    ]);
    for (let turn = -1; turn < turns; turn += 1) {
      // Both grow alike, and neither always comes first.
      for (const instance of turn % 2 === 0 ? [plain, watched] : [watched, plain]) {
        const measured = await oneTurn(service, call, instance, bodies, messages);
        if (turn >= 0) found.get(instance)?.push(measured);
      }
    }
    print(alerts, found.get(plain) ?? [], found.get(watched) ?? [], evaluationsOf(service));
  } finally {
    await service.stop();
  }
  return 0;
}

const MUCH = 1_000_000;
const CONDITIONS = [
  ...(['TOPIC', 'GAP', 'CSAT_DSAT'] as const).flatMap((groupBy) =>
    (['HOUR', 'DAY', 'WEEK'] as const).flatMap((window) => [
      { kind: 'count', groupBy, window, atLeast: MUCH },
      { kind: 'rising', groupBy, window },
    ]),
  ),
  { kind: 'new_topic', atLeast: MUCH },
  { kind: 'dsat_share', window: 'DAY', above: 1 },
];

type Call = (path: string, body: object) => Promise<unknown>;

function caller({ url, key }: OwnService): Call {
  return async (path, body) => {
    const answer = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return {
      ...((await answer.json()) as object),
      position: Number(answer.headers.get('x-stream-position')),
    };
  };
}

/** Sends so many messages and waits until they are counted. */
async function oneTurn(
  service: OwnService,
  call: Call,
  instanceId: string,
  bodies: readonly (readonly object[])[],
  most: number,
): Promise<Turn> {
  const processorBefore = await workerProcessorMs(service);
  const startedAt = performance.now();
  let sent = 0;
  let next = 0;
  let position = 0;
  const send = async (): Promise<void> => {
    while (sent < most) {
      const messages = bodies[next++ % bodies.length] ?? [];
      sent += messages.length;
      const answer = (await call('ingest', { instanceId, messages })) as { position: number };
      position = Math.max(position, answer.position);
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
  await counted(service, instanceId, position);
  const seconds = (performance.now() - startedAt) / 1000;
  const processorMs = (await workerProcessorMs(service)) - processorBefore;
  return { messagesPerSecond: sent / seconds, processorMs: (processorMs / sent) * 1000 };
}

async function counted(service: OwnService, instanceId: string, position: number): Promise<void> {
  const query = { instanceId, groupBy: 'GAP', fields: 'messages', limit: '1' };
  const client = new ServiceClient(service);
  while ((await client.query(query, position)).waitResult !== 'reached');
}

async function workerProcessorMs({ dataDir }: OwnService): Promise<number> {
  const pid = readWorkerStatuses(dataDir).find(({ ended }) => !ended)?.status.pid;
  if (pid === undefined) throw new Error('no worker tells that it lives');
  return processorMsOf(pid);
}

function evaluationsOf({ dataDir }: OwnService): number {
  return readWorkerStatuses(dataDir).find(({ ended }) => !ended)?.status.alerts?.evaluations ?? 0;
}

function print(alerts: number, plain: readonly Turn[], watched: readonly Turn[], evaluations: number): void {
  const row = (name: string, turns: readonly Turn[]): string[] => [
    name,
    median(turns.map(({ messagesPerSecond }) => messagesPerSecond)).toFixed(0),
    median(turns.map(({ processorMs }) => processorMs)).toFixed(0),
  ];
  console.log(
    table(
      ['instance', 'messages/s', 'worker ms per 1,000 messages'],
      [row('without alerts', plain), row(`with ${alerts} alerts`, watched)],
    ),
  );
  const ratio = (of: (turn: Turn) => number): string =>
    (median(watched.map(of)) / median(plain.map(of))).toFixed(2);
  console.log(
    `messages/s: ${ratio(({ messagesPerSecond }) => messagesPerSecond)} times those without alerts`,
  );
  console.log(`processor: ${ratio(({ processorMs }) => processorMs)} times`);
  console.log(`${evaluations} evaluations`);
}
