/** What does it cost to share the views among machines, and how fresh are answers of each of them? */
import { setTimeout as sleep } from 'node:timers/promises';
import { startObjectStore } from '../../test/support/object-store.ts';
import { benchmark } from './load/benchmark.ts';
import { messagesOf, sendConversations } from './load/counting.ts';
import { corpora, take, type Conversation } from './load/distinct-texts.ts';
import { fixedLoopMs } from './load/fixed-loop.ts';
import { inFolder } from './load/folder.ts';
import { freshnessUntil } from './load/freshness.ts';
import { ConnectionPool } from './load/http-load.ts';
import { request, startMeasuredService, startNats, untilCounted, type OwnService } from './load/service.ts';
import { useOfAll } from './load/service-use.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- machines [OPTIONS]

What does it cost to share the views among machines, and how fresh are the answers of each? One machine with its own
views, then one, two and more that share them through an object store whose answers take --delay ms. All of them, the
NATS server and the store run on this machine. Each counts the same messages: texts are the demo's, each time with other
words. The first of them only warm the processes, which compile what they run often; the processor time is that of all
workers, or of all webs, for each message after them. Idle is what one worker takes of a core while nothing comes. Then
messages come in two a second, and the answers of the last machine are looked at.

  --messages N   messages that are measured (default: 6000)
  --warm N       messages before them (default: 9000)
  --machines N   the most machines (default: 3)
  --shards N     shards where views are shared (default: 4)
  --delay MS     time of each answer of the store (default: 30)
  --seconds N    how long freshness is looked at (default: 20)`;

const INSTANCES = 16;
const TOGETHER = 50;
/** After the last message: what is published later, and copies of states. */
const SETTLED_MS = 5000;
const IDLE_MS = 10_000;

export const command = benchmark(
  USAGE,
  { messages: 6000, warm: 9000, machines: 3, shards: 4, delay: 30, seconds: 20 },
  async ({ messages, warm, machines, shards, delay, seconds }) => {
    const conversations = await take(corpora()['demo']!(), warm + messages);
    let [warming, taken] = [0, 0];
    while (taken < warm) taken += conversations[warming++]!.length;
    const rows: string[][] = [];
    for (let count = 0; count <= machines; count += 1)
      rows.push(
        await inFolder((folder) =>
          measured(folder, conversations, { count, warming, shards, delay, seconds }),
        ),
      );
    const head = [
      'machines',
      'counted/s',
      'workers µs',
      'loops/1000',
      'idle %',
      'webs µs',
      'PUT/s',
      'GET/s',
      'fresh p50',
      'p95',
    ];
    console.log(table(head, rows));
  },
);

interface Setting {
  /** 0: one machine with its own views. */
  readonly count: number;
  /** Conversations that only warm the processes. */
  readonly warming: number;
  readonly shards: number;
  readonly delay: number;
  readonly seconds: number;
}

async function measured(
  dataDir: string,
  conversations: readonly Conversation[],
  { count: machines, warming, shards, delay, seconds }: Setting,
): Promise<string[]> {
  const nats = await startNats(dataDir);
  const objects = await startObjectStore('views', { delayMs: delay });
  const env = {
    NATS_URL: nats.url,
    NATS_TOKEN: nats.token,
    SHARDS: String(shards),
    ...(machines === 0 ? {} : objects.env),
  };
  const services: OwnService[] = [];
  try {
    const loopMs = fixedLoopMs();
    while (services.length < Math.max(1, machines)) services.push(await startMeasuredService(env));
    const [service] = services as [OwnService];
    const last = { ...services.at(-1)!, key: service.key };
    const instances: string[] = [];
    for (let made = 0; made < INSTANCES; made += 1)
      instances.push((await request<{ id: string }>(service, 'instances', {})).id);
    for (const id of instances)
      await untilCounted(last, id, await sendConversations(service, id, conversations.slice(0, 1)));
    // Shards move once a machine has come, and not again.
    await sleep(4000);
    const count = async (some: readonly Conversation[]): Promise<void> => {
      const positions = new Map<string, number>();
      for (let from = 0; from < some.length; from += TOGETHER) {
        const id = instances[(from / TOGETHER) % INSTANCES]!;
        positions.set(id, await sendConversations(service, id, some.slice(from, from + TOGETHER)));
      }
      for (const [id, position] of positions) await untilCounted(last, id, position);
    };
    await count(conversations.slice(0, warming));
    await sleep(SETTLED_MS);
    const idle = await useOfAll(services);
    await sleep(IDLE_MS);
    const before = await useOfAll(services);
    const idleShare = (before.get('worker')! - idle.get('worker')!) / (IDLE_MS * services.length);
    const startedAt = performance.now();
    objects.requests.length = 0;
    const rest = conversations.slice(warming);
    await count(rest);
    const tookMs = performance.now() - startedAt;
    const after = await useOfAll(services);
    const sent = messagesOf(rest);
    const micros = (name: string): number => ((after.get(name)! - before.get(name)!) * 1000) / sent;
    const asked = (method: string): string =>
      ((objects.requests.filter((each) => each.startsWith(method)).length * 1000) / tookMs).toFixed(1);
    const requests = ['PUT', 'GET'].map(asked);
    const { id: instanceId } = await request<{ id: string }>(service, 'instances', {});
    const pool = new ConnectionPool(last.url, 8);
    const until = new Promise((ended) => setTimeout(ended, seconds * 1000));
    const fresh = await freshnessUntil(until, { pool, key: service.key, instanceId });
    pool.close();
    return [
      machines === 0 ? '1, own views' : String(machines),
      ((sent * 1000) / tookMs).toFixed(0),
      micros('worker').toFixed(0),
      (micros('worker') / loopMs).toFixed(2),
      (idleShare * 100).toFixed(1),
      micros('web').toFixed(0),
      ...requests,
      ...[0.5, 0.95].map((share) => fresh.quantile(share).toFixed(0)),
    ];
  } finally {
    await Promise.all(services.map((each) => each.stop()));
    await nats.stop();
    await objects.close();
  }
}
