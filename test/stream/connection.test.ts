import { equal, match, ok, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import { SetupError } from '../../src/errors.ts';
import { openConnection, untilAnswered, type ConnectionState } from '../../src/stream/connection.ts';
import { findServer } from '../../src/stream/server/binary.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { Cluster } from '../faults/cluster.ts';
import { freePort, killUnder, startTestServer, type TestServer } from '../support/nats.ts';
import { eventually } from '../support/processes.ts';

function setupError(message: RegExp) {
  return (error: unknown): boolean => error instanceof SetupError && message.test(error.message);
}

describe('connection', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('tells the version and the limit of the server', async () => {
    const connection = await openConnection({ ...server.address, name: 'test' });
    match(connection.serverVersion, /^2\.\d+\.\d+/);
    equal(connection.maxPayload, 16 * 1024 * 1024);
    await connection.close();
    equal(connection.connected, false);
  });

  it('waits for a server that starts later', async () => {
    await server.kill();
    let reported = '';
    const opening = openConnection({
      ...server.address,
      name: 'test',
      onWaiting: (sentence) => (reported = sentence),
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server.restart();
    const connection = await opening;
    ok(connection.connected);
    match(reported, /waiting for NATS at nats:\/\/127/);
    await connection.close();
  });

  it('tells of the link lost and found again', async () => {
    const connection = await openConnection({ ...server.address, name: 'test' });
    const states: ConnectionState[] = [];
    connection.onStateChange((state) => states.push(state));
    await killUnder(server, connection);
    equal(await connection.whenConnected(50), false);
    await server.restart();
    equal(await connection.whenConnected(10_000), true);
    await connection.close();
    equal(states.join(), 'disconnected,reconnected,closed');
  });

  it('repeats what a server without a leader, or that is away, cannot answer, and nothing else', async () => {
    const connection = await openConnection({ ...server.address, name: 'test' });
    const refusal = (code: number): Error =>
      new JetStreamApiError({ code: 503, err_code: code, description: 'refused' });
    const outcomes = [refusal(10008), new TimeoutError(), refusal(10009), refusal(10005)];
    const asked = async (): Promise<string> => {
      const error = outcomes.shift();
      if (error !== undefined) throw error;
      return 'answered';
    };
    equal(await untilAnswered(connection, asked), 'answered');
    // No room.
    outcomes.push(refusal(10023), new TimeoutError());
    await rejects(untilAnswered(connection, asked), JetStreamApiError);
    equal(outcomes.length, 1);
    // Without the server, for as long as it is away.
    outcomes.splice(0);
    await killUnder(server, connection);
    const info = (): Promise<number> => connection.nats.rtt();
    const asking = untilAnswered(connection, info);
    await sleep(300);
    await server.restart();
    ok((await asking) >= 0);
    await connection.close();
    await rejects(untilAnswered(connection, info));
  });

  it('waits for a cluster that forms: for a leader, and for as many servers as a stream is kept on', async () => {
    const cluster = await Cluster.start();
    try {
      for (const name of ['n2', 'n3']) await cluster.kill(name);
      const reported: string[] = [];
      const opening = openConnection({
        url: cluster.url,
        token: () => cluster.token,
        name: 'test',
        onWaiting: (sentence) => reported.push(sentence),
      });
      await eventually(() =>
        reported.some((each) => /waiting for NATS at .*has the cluster a leader/.test(each)),
      );
      cluster.start('n2');
      const connection = await opening;
      let isSetUp = false;
      const settingUp = setUpStreams(connection, { replicas: 3 }).then(() => (isSetUp = true));
      await sleep(1000);
      equal(isSetUp, false);
      cluster.start('n3');
      await settingUp;
      await connection.close();
    } finally {
      await cluster.stop();
    }
  });

  it('takes the token from the URL too', async () => {
    const url = server.url.replace('//', `//${server.token}@`);
    const connection = await openConnection({ url, token: () => undefined, name: 'test' });
    ok(connection.connected);
    await connection.close();
  });

  it('says that the token is refused, without showing it', async () => {
    const opening = openConnection({ url: server.url, token: () => 'wrong-token', name: 'test' });
    await rejects(
      opening,
      (error) => setupError(/refuses our token/)(error) && !/wrong-token/.test(String(error)),
    );
  });

  it('gives up on a server that cannot be reached, saying what to do', async () => {
    const url = `nats://127.0.0.1:${await freePort()}`;
    const opening = openConnection({ url, token: () => undefined, name: 'test', giveUpAfterMs: 300 });
    await rejects(opening, setupError(/cannot be reached.*npm start.*NATS_URL/));
  });

  it('refuses a server without JetStream', async () => {
    const port = await freePort();
    const { file } = await findServer({ cacheDir: join(import.meta.dirname, '../../.cache') });
    const plain = spawn(file, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    const opening = openConnection({ url: `nats://127.0.0.1:${port}`, token: () => undefined, name: 'test' });
    await rejects(opening, setupError(/does not offer JetStream/));
    plain.kill('SIGKILL');
    await once(plain, 'exit');
  });

  it('refuses a server that is too old', async () => {
    const old = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        if (data.includes('PING')) socket.write('PONG\r\n');
      });
      socket.write(
        `INFO ${JSON.stringify({ server_id: 'x', version: '2.9.25', proto: 1, headers: true, max_payload: 1e6 })}\r\n`,
      );
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
    const { port } = old.address() as { port: number };
    const opening = openConnection({ url: `nats://127.0.0.1:${port}`, token: () => undefined, name: 'test' });
    await rejects(opening, setupError(/version 2\.9\.25; 2\.10\.0 or newer is needed/));
    old.close();
  });
});
