import { equal, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { Claims } from '../../../src/stream/kv/claims.ts';
import { thisHolder } from '../../../src/stream/kv/process-identity.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

describe('claims', () => {
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
  });
  /** Claims of another machine. */
  const claims = (machine: string, pid = 1): Promise<Claims> =>
    Claims.open(connection, { id: machine, machine, pid }, 1);

  it('gives a piece to one process until it is released', async () => {
    const [a, b] = [await claims('a'), await claims('b')];
    const claim = await a.take('piece');
    ok(claim);
    equal(await b.take('piece'), null);
    equal(await b.isTaken('piece'), true);
    const other = await b.take('other');
    await claim.release();
    equal(await b.isTaken('piece'), false);
    const next = await b.take('piece');
    for (const taken of [other, next]) {
      ok(taken);
      await taken.release();
    }
  });

  it('gives the piece of an ended process of the same machine to the next at once', async () => {
    const us = thisHolder();
    const { pid } = spawnSync(process.execPath, ['--version']);
    const ended = await Claims.open(connection, { ...us, id: 'ended', pid }, 1);
    const left = await ended.take('left');
    ok(left);
    const next = await Claims.open(connection, us, 1);
    equal(await next.isTaken('left'), false);
    const taken = await next.take('left');
    ok(taken);
    await left.release();
    equal(await next.isTaken('left'), true);
    await taken.release();
  });
});
