import { equal, match, ok } from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openConnection } from '../../src/stream/connection.ts';
import { connectionOptions } from '../../src/stream/server/server.ts';
import { freePort } from '../support/nats.ts';

describe('the nats process', () => {
  let dataDir: string;
  let natsPort: number;
  let child: ChildProcess;
  let output: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'undertone-nats-'));
    natsPort = await freePort();
    output = '';
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  function start(env: NodeJS.ProcessEnv = {}): void {
    child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main/nats.ts')], {
      env: { PATH: process.env['PATH'], DATA_DIR: dataDir, NATS_PORT: String(natsPort), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
  }

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`is the server itself: ${signal} ends both`, async () => {
      start();
      const address = connectionOptions({ dataDir, natsPort });
      const connection = await openConnection({ ...address, name: 'test', giveUpAfterMs: 30_000 });
      await connection.close();
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      // Before 2.11 the server says 1 when it was told to end.
      ok(signal === 'SIGTERM' ? code === 0 || code === 1 : code === null, String(code));
      match(output, /nats-server 2\.\d+\.\d+ .* on nats:\/\/127\.0\.0\.1/);
      await openConnection({ ...address, name: 'test', giveUpAfterMs: 0 }).then(
        () => Promise.reject(new Error('the server still answers')),
        (error: Error) => match(error.message, /cannot be reached/),
      );
    });
  }

  it('starts none when a server elsewhere is named, and stays until it is told to end', async () => {
    start({ NATS_URL: 'nats://127.0.0.1:1' });
    while (!output.includes('no nats-server of our own')) await once(child.stdout ?? child, 'data');
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    equal(code, 0);
  });
});
