import { doesNotMatch, equal, match } from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { temporaryDirectory } from '../support/fold.ts';
import { freePort, startTestServer } from '../support/nats.ts';
import { end, environmentOf, eventually, runScript, type Running } from '../support/processes.ts';

describe('the web process', () => {
  let folder: ReturnType<typeof temporaryDirectory>;
  let web: Running | null;
  beforeEach(() => {
    folder = temporaryDirectory();
    web = null;
  });
  afterEach(async () => {
    if (web !== null) await end(web, 'SIGKILL');
    folder.remove();
  });

  function start(
    env: Readonly<Record<string, string>>,
    nats = { url: 'nats://127.0.0.1:1', token: 't' },
  ): Running {
    const running = runScript(
      'main/web.ts',
      [],
      environmentOf(nats, folder.path, { HOST: '127.0.0.1', PORT: '0', SERVE: 'all', ...env }),
    );
    web = running;
    return running;
  }

  it('answers 503 until NATS does, and ends when it is told to', async () => {
    const running = start({});
    await eventually(() => running.output().includes('"event":"listening"'), running.output);
    const url = /"url":"([^"]+)"/.exec(running.output())?.[1] ?? '';
    const answer = await fetch(`${url}/v1/instances`, {
      headers: { 'x-api-key': `ut_test_${'a'.repeat(32)}` },
    });
    equal(answer.status, 503);
    equal(answer.headers.get('retry-after'), '1');
    const ready = await fetch(`${url}/readyz`);
    match(await ready.text(), /registry.*is not loaded/);
    running.process.kill('SIGTERM');
    equal(await running.ended, 0);
    doesNotMatch(running.output(), /process_failed/);
  });

  it('ends quietly when it is stopped while it starts', async () => {
    const server = await startTestServer();
    try {
      // At another point of its start each time.
      for (const event of ['"event":"listening"', '"event":"web_ready"']) {
        const running = start({}, server);
        await eventually(() => running.output().includes(event), running.output);
        running.process.kill('SIGTERM');
        equal(await running.ended, 0, running.output());
        doesNotMatch(running.output(), /process_failed|close_failed/);
      }
    } finally {
      await server.stop();
    }
  });

  it('says in one line that its port or host cannot be had', async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
    const { port } = taken.address() as AddressInfo;
    const onTaken = start({ PORT: String(port) });
    equal(await onTaken.ended, 78);
    equal(
      onTaken.output(),
      `Port ${port} of 127.0.0.1 is taken: stop what uses it, or set PORT to another one.\n`,
    );
    taken.close();
    const elsewhere = start({ HOST: '192.0.2.1', PORT: String(await freePort()) });
    equal(await elsewhere.ended, 78);
    match(
      elsewhere.output(),
      /^HOST 192\.0\.2\.1 is no address of this machine: set HOST to one \(.*\)\.\n$/,
    );
  });
});
