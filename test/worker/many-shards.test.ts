/** More shards than partitions: several read the same entries, and each counts its own instances. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readActiveEpoch, shardDirectory } from '../../src/store/epochs/epochs.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { countDeadLetters } from '../../src/stream/log/backlog.ts';
import { createPublisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { conversationsSubject, shardOf } from '../../src/stream/subjects.ts';
import { withDatabase, quoted } from '../../src/store/duckdb.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { countedMessages, end, environmentOf, eventually, runScript } from '../support/processes.ts';
import { requestsOf } from '../support/replays.ts';

const SHARDS = 12;

describe('more shards than partitions', () => {
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection, {});
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  it('count each message once, in the shard of its instance', async () => {
    const publisher = createPublisher(connection);
    const requests = requestsOf({ conversations: 30, instances: 24, messages: 4 });
    for (const request of requests) await publisher.publish(request);
    // Every shard that reads its partition meets it.
    await connection.nats.request(conversationsSubject(3), 'no entry');
    const messages = requests.reduce((sum, request) => sum + request.messages.length, 0);
    const worker = runScript(
      'main/worker.ts',
      [],
      environmentOf(server, dataDir, { SHARDS: String(SHARDS) }),
    );
    await eventually(async () => (await countedMessages(dataDir).catch(() => 0)) === messages, worker.output);
    await publisher.publish({ ...requests.at(-1)!, requestId: '00000000-0000-4000-8000-00000000000a' });
    const last = requests.at(-1)!.messages.length;
    await eventually(async () => (await countedMessages(dataDir)) === messages + last, worker.output);
    await publisher.drain();
    equal((await countDeadLetters(connection)).entries, 1);
    await end(worker);
    ok(!/"level":(50|60)/.test(worker.output().replaceAll(/.*"entry_set_aside".*/g, '')), worker.output());

    const { epoch } = readActiveEpoch(dataDir)!;
    const where = new Map<string, number[]>();
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const file = join(shardDirectory(dataDir, epoch, shard), 'state.duckdb');
      const rows = await withDatabase({ threads: 1 }, async (database) => {
        await database.run(`attach ${quoted(file)} as st (read_only)`);
        return database.all('select id::varchar as id from st.instance');
      });
      for (const { id } of rows) where.set(id as string, [...(where.get(id as string) ?? []), shard]);
    }
    const instances = [...new Set(requests.map(({ instanceId }) => instanceId))];
    deepEqual(
      new Map([...where].toSorted()),
      new Map(instances.toSorted().map((id) => [id, [shardOf(id, SHARDS)]])),
    );
    ok(new Set([...where.values()].flat()).size > 8);
  });
});
