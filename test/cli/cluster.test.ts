import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { drainedIn, openViewsBucket, ViewsKeys, writeKey } from '../../src/cluster/views-bucket.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import type { KeyValueBucket } from '../../src/stream/kv/key-value.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { environmentOf, runScript } from '../support/processes.ts';

const VIEWS_URL = 's3://undertone-test/views';
/** No command of this test asks the store. */
const STORE = {
  VIEWS_URL,
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

describe('npm run cluster', () => {
  const temporary = temporaryDirectory();
  let server: TestServer;
  let connection: StreamConnection;
  let bucket: KeyValueBucket;
  let keys: ViewsKeys;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    bucket = await openViewsBucket(connection, 1);
    keys = await ViewsKeys.open(bucket, VIEWS_URL);
    const owned = { run: 'r', machine: 'one', at: 0, manifest: null, generation: 0, files: {} };
    await writeKey(bucket, keys.shard({ definition: 'fact:1', shards: 1 }, 0), owned, null);
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  const run = async (...words: string[]): Promise<{ readonly code: unknown; readonly output: string }> => {
    const running = runScript('cli/cluster.ts', words, environmentOf(server, temporary.path, STORE));
    return { code: await running.ended, output: running.output() };
  };

  it('drains machines that have had a shard, and others only when told to', async () => {
    const unknown = await run('drain', 'onne');
    equal(unknown.code, 1, unknown.output);
    match(unknown.output, /No machine onne .*Known machines: one\./);
    deepEqual(await drainedIn(bucket, keys), []);

    match((await run('drain', 'one')).output, /^one hands its shards over/);
    match((await run('drain', 'onne', '--force')).output, /^onne hands its shards over/);
    // A name that was drained is known.
    match((await run('drain', 'onne')).output, /^onne was drained before/);
    match((await run('undrain', 'onne')).output, /^onne takes its part/);
    match((await run('undrain', 'onne')).output, /^onne was not drained/);
    deepEqual(await drainedIn(bucket, keys), ['one']);
  });
});
