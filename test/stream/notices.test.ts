import { deepEqual } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { hearNotices, sendNotice } from '../../src/stream/notices.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';

describe('notices', () => {
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test of notices' });
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
  });

  it('are heard by whoever listens, until they stop', async () => {
    const [one, other]: unknown[][] = [[], []];
    const stop = hearNotices(connection, 'notice', (value) => one?.push(value));
    hearNotices(connection, 'notice', (value) => other?.push(value));
    sendNotice(connection, 'notice', { number: 1 });
    connection.nats.publish('notice', 'no JSON');
    await connection.nats.flush();
    stop();
    sendNotice(connection, 'notice', { number: 2 });
    await connection.nats.flush();
    deepEqual([one, other], [[{ number: 1 }], [{ number: 1 }, { number: 2 }]]);
  });
});
