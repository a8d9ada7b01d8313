import { equal, match, ok, rejects } from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { findServer } from '../../../src/stream/server/binary.ts';
import {
  concernAboutServer,
  faultOfServerVersion,
  isVersionAtLeast,
} from '../../../src/stream/server/version.ts';
import { connectionOptions, prepareServer, startServer } from '../../../src/stream/server/server.ts';
import { freePort, startTestServer, type TestServer } from '../../support/nats.ts';

const CACHE_DIR = join(import.meta.dirname, '../../../.cache');

function setupError(message: RegExp) {
  return (error: unknown): boolean => error instanceof SetupError && message.test(error.message);
}

describe('nats-server of our own', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('keeps its folders to their owner and its token secret', async () => {
    const mode = async (path: string) => ((await stat(join(server.dataDir, path))).mode & 0o777).toString(8);
    equal(await mode('nats'), '700');
    equal(await mode('nats/store'), '700');
    equal(await mode('nats/token'), '600');
    equal(await mode('nats/nats.conf'), '600');
  });

  it('listens on loopback, stores in the data directory, syncs every write', async () => {
    const config = await readFile(join(server.dataDir, 'nats/nats.conf'), 'utf8');
    match(config, new RegExp(`listen: "127.0.0.1:${server.port}"`));
    match(config, new RegExp(`store_dir: "${server.dataDir}/nats/store"`));
    match(config, /sync_interval: always/);
    match(config, /max_payload: 16777216/);
  });

  it('has the same token after a restart, and other processes find it', async () => {
    await server.restart();
    const address = connectionOptions({ dataDir: server.dataDir, natsPort: server.port });
    equal(address.token(), server.token);
    equal(address.url, server.url);
  });

  it('is not started twice on one data directory, also on another port', async () => {
    const second = startServer({ dataDir: server.dataDir, port: await freePort(), cacheDir: CACHE_DIR });
    await rejects(second, setupError(/already runs on this data directory/));
  });

  it('says which port is taken and what to do', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'undertone-nats-'));
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    await rejects(prepareServer({ dataDir, port, cacheDir: CACHE_DIR }), setupError(/taken.*NATS_PORT/));
    other.close();
    await rm(dataDir, { recursive: true });
  });

  it('says that the data directory cannot be written', async () => {
    const dataDir = join(server.dataDir, 'nats/token/below-a-file');
    const start = prepareServer({ dataDir, port: await freePort(), cacheDir: CACHE_DIR });
    await rejects(start, setupError(/cannot be written.*DATA_DIR/));
  });

  it('uses a server elsewhere when one is named', () => {
    const address = connectionOptions({
      dataDir: server.dataDir,
      natsPort: server.port,
      natsUrl: 'nats://elsewhere:4222',
      natsToken: 'secret',
    });
    equal(address.url, 'nats://elsewhere:4222');
    equal(address.token(), 'secret');
  });
});

describe('finding nats-server', () => {
  let cacheDir: string;
  before(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), 'undertone-cache-'));
  });
  after(() => rm(cacheDir, { recursive: true }));

  async function fakeServer(name: string, version: string): Promise<string> {
    const file = join(cacheDir, name);
    await mkdir(cacheDir, { recursive: true });
    await writeFile(file, `#!/bin/sh\necho "nats-server: v${version}"\n`);
    await chmod(file, 0o755);
    return file;
  }

  it('takes the first place that has one new enough', async () => {
    const old = await fakeServer('old', '2.9.25');
    const recent = await fakeServer('recent', '2.10.4');
    const found = await findServer({ cacheDir, places: ['/nowhere', old, recent], fetch: false });
    equal(found.file, recent);
    equal(found.version, '2.10.4');
  });

  it('takes the cached one when the others are too old', async () => {
    const cached = await fakeServer('nats-server', '2.15.1');
    equal(
      (await findServer({ cacheDir, places: [await fakeServer('old', '2.9.9')], fetch: false })).file,
      cached,
    );
    await rm(cached);
  });

  it('names what it found too old, and what to do', async () => {
    const old = await fakeServer('old', '2.9.9');
    await rejects(
      findServer({ cacheDir, places: [old], fetch: false }),
      setupError(/old is version 2\.9\.9, and 2\.10\.0 or newer is needed\. Install nats-server.*NATS_URL/),
    );
  });

  it('does not take a file that does not run', async () => {
    const file = join(cacheDir, 'broken');
    await writeFile(file, 'nothing to run');
    await rejects(
      findServer({ cacheDir, places: [file], fetch: false }),
      setupError(/^There is no nats-server on this machine\. Install/),
    );
  });

  it('takes no other major version, and says when one is newer than those that were tested', () => {
    equal(faultOfServerVersion('2.10.0'), null);
    equal(faultOfServerVersion('2.99.0'), null);
    equal(faultOfServerVersion('2.9.25'), '2.10.0 or newer is needed');
    equal(faultOfServerVersion('3.0.0'), 'a version before 3.0.0 is needed');
    equal(concernAboutServer('2.10.27'), null);
    equal(concernAboutServer('2.15.9'), null);
    match(concernAboutServer('2.16.0') ?? '', /^nats-server 2\.16\.0 is newer than 2\.15/);
  });

  it('compares versions by their numbers', () => {
    ok(isVersionAtLeast('2.10.0', '2.10.0'));
    ok(isVersionAtLeast('v2.10.27-1+b2', '2.10.0'));
    ok(isVersionAtLeast('3.0.0', '2.10.9'));
    ok(!isVersionAtLeast('2.9.25', '2.10.0'));
    ok(!isVersionAtLeast('', '2.10.0'));
  });
});
