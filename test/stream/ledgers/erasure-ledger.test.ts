import { deepEqual, equal, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { v7 } from 'uuid';
import type { Erasure } from '../../../src/domain/erasures.ts';
import { ErasureLedger } from '../../../src/stream/ledgers/erasure-ledger.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

const PROJECT = '0192f0a0-0000-7000-8000-000000000001';
const OTHER_PROJECT = '0192f0a0-0000-7000-8000-000000000002';

let second = 0;
/** Each a second later than the one before. */
function erasure(changes: Partial<Erasure> = {}): Erasure {
  const msecs = Date.UTC(2026, 0, 1, 0, 0, (second += 1));
  return {
    id: v7({ msecs }),
    projectId: PROJECT,
    instanceId: '0192f0a0-0000-7000-8000-00000000000a',
    kind: 'END_USER',
    digest: 'x',
    keyId: 'key_1',
    reason: null,
    requestedAt: new Date(msecs).toISOString(),
    doneAt: null,
    position: 0,
    state: 'ACCEPTED',
    receipt: null,
    fault: null,
    ...changes,
  };
}

describe('the ledger of erasures', () => {
  let server: TestServer;
  let connections: StreamConnection[];
  /** Of two processes. */
  let here: ErasureLedger;
  let there: ErasureLedger;

  before(async () => {
    server = await startTestServer();
    connections = await Promise.all(
      ['here', 'there'].map((name) => openConnection({ ...server.address, name })),
    );
    [here, there] = (await Promise.all(connections.map((each) => ErasureLedger.open(each)))) as [
      ErasureLedger,
      ErasureLedger,
    ];
  });
  after(async () => {
    for (const connection of connections) await connection.close();
    await server.stop();
  });

  it('lists those of a project, or of all, the newest first, in every process', async () => {
    const [first, second] = [erasure(), erasure({ reason: 'Request 4711' })];
    const foreign = erasure({ projectId: OTHER_PROJECT });
    for (const each of [second, foreign, first]) deepEqual(await here.add(each), each);
    deepEqual(await there.list(PROJECT), [second, first]);
    deepEqual(await there.list(), [foreign, second, first]);
    deepEqual(await there.find(PROJECT, first.id), first);
    equal(await there.find(OTHER_PROJECT, first.id), null);
  });

  it('keeps what is there when it is added again', async () => {
    const one = erasure();
    await here.add(one);
    await here.change(one, { state: 'ERASING' });
    deepEqual(await there.add({ ...one, reason: 'other' }), { ...one, state: 'ERASING' });
  });

  it('keeps the first position, and notes how far each has come', async () => {
    const one = erasure();
    await here.add(one);
    const places = await Promise.all([here.place(one, 7), there.place(one, 9)]);
    deepEqual(places[0], places[1]);
    equal([7, 9].includes(places[0].position), true);
    deepEqual(await here.place(one, 11), places[0]);
    const receipt = {
      messages: 4,
      sessions: 1,
      entries: 2,
      bytes: 900,
      deadLetters: 0,
      unreadableDeadLetters: 0,
    };
    await Promise.all([here.change(one, { receipt }), there.change(one, { fault: 'busy', state: 'FAILED' })]);
    deepEqual(await here.find(PROJECT, one.id), { ...places[0], receipt, fault: 'busy', state: 'FAILED' });
  });

  it('says that it cannot be reached', async () => {
    const bucket = new MemoryBucket();
    bucket.broken = true;
    await rejects(new ErasureLedger(bucket).add(erasure()), { code: 'SERVICE_UNAVAILABLE' });
  });
});
