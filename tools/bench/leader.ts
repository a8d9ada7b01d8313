/** How many messages a second does the leader of one stream take? */
import { v5 } from 'uuid';
import { openConnection } from '../../src/stream/connection.ts';
import { readBytes, readExtent } from '../../src/stream/log/consumer.ts';
import { createPublisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { Cluster } from '../../test/faults/cluster.ts';
import { requestsOf } from '../../test/support/replays.ts';
import { benchmark } from './load/benchmark.ts';
import { processorMsOf } from './load/process-use.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- leader [OPTIONS]

How many messages a second does the leader of one stream take? Web's publisher sends requests of the demo's conversations
to three nats-servers on this machine, each with sync_interval: always: the stream on one of them, then on all three. The
processor time is that of the servers.

  --seconds N    for each (default: 20)
  --at-once N    requests that wait for their acknowledgement (default: 512)`;

const NAMESPACE = '0b0d2a52-6bb4-49ba-8f47-6a7f2d4a7d31';

export const command = benchmark(USAGE, { seconds: 20, 'at-once': 512 }, async (values) => {
  const rows = [];
  for (const replicas of [1, 3]) rows.push(await measured(replicas, values.seconds, values['at-once']));
  console.log(table(['replicas', 'messages/s', 'entries/s', 'MB/s', 'µs of servers a message'], rows));
});

async function measured(replicas: number, seconds: number, atOnce: number): Promise<string[]> {
  const cluster = await Cluster.start();
  try {
    const connection = await whenReady(() =>
      openConnection({ url: cluster.url, token: () => cluster.token, name: 'bench' }),
    );
    await whenReady(() => setUpStreams(connection, { replicas }));
    const publisher = createPublisher(connection);
    const requests = requestsOf({ instances: 64, messages: 4 });
    const before = await processorMs(cluster.pids);
    const until = performance.now() + seconds * 1000;
    let sent = 0;
    let messages = 0;
    const send = async (): Promise<void> => {
      while (performance.now() < until) {
        const request = requests[sent % requests.length]!;
        sent += 1;
        await publisher.publish({ ...request, requestId: v5(String(sent), NAMESPACE) });
        messages += request.messages.length;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, send));
    const used = (await processorMs(cluster.pids)) - before;
    const { lastSequence } = await readExtent(connection);
    const bytes = await readBytes(connection);
    await publisher.drain();
    await connection.close();
    return [
      String(replicas),
      (messages / seconds).toFixed(0),
      (lastSequence / seconds).toFixed(0),
      (bytes / seconds / 1e6).toFixed(1),
      ((used * 1000) / messages).toFixed(0),
    ];
  } finally {
    await cluster.stop();
  }
}

/** A cluster that has just started has no leader yet. */
async function whenReady<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === 20) throw error;
      await new Promise((soon) => setTimeout(soon, 500));
    }
  }
}

async function processorMs(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map((pid) => processorMsOf(pid)));
  return used.reduce((sum, ms) => sum + ms, 0);
}
