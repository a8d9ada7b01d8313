import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { MaskNumbers } from '../../src/ingest/mask-numbers.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../src/stream/kv/key-value.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';

const email = (digest: string) => ({ kind: 'EMAIL', digest }) as const;
const phone = (digest: string) => ({ kind: 'PHONE', digest }) as const;

describe('numbers of masked values', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let here: MaskNumbers;
  let there: MaskNumbers;
  let bucket: KeyValueBucket;

  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    [here, there] = [await MaskNumbers.open(connection), await MaskNumbers.open(connection)];
    bucket = await openKeyValue(connection, 'masks');
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  const newSession = () => ({ instanceId: randomUUID(), sessionId: randomUUID() });

  it('count up by kind, and are the same in every process', async () => {
    const session = newSession();
    deepEqual(await here.numbersOf(session, [email('a'), phone('a'), email('b')]), [1, 1, 2]);
    deepEqual(await there.numbersOf(session, [email('c'), email('b'), phone('a')]), [3, 2, 1]);
    deepEqual(await here.numbersOf(session, [email('d'), email('c')]), [4, 3]);
    deepEqual(await here.numbersOf(newSession(), [email('c')]), [1]);
  });

  it('differ where processes count at once', async () => {
    const session = newSession();
    const values = Array.from({ length: 20 }, (_, place) => email(`v${place}`));
    const given = await Promise.all(
      values.map((value, place) => (place % 2 === 0 ? here : there).numbersOf(session, [value])),
    );
    const numbers = given.flat().toSorted((a, b) => Number(a) - Number(b));
    deepEqual(
      numbers,
      values.map((_, place) => place + 1),
    );
    deepEqual(await there.numbersOf(session, values), given.flat());
  });

  it('are written when a value is new, and only then', async () => {
    const session = newSession();
    await here.numbersOf(session, [email('a')]);
    const before = await bucket.newestRevision('>');
    deepEqual(await here.numbersOf(session, [email('a')]), [1]);
    equal(await bucket.newestRevision('>'), before);
  });

  it('go on where the bucket has forgotten a session that this process knows', async () => {
    const session = newSession();
    await here.numbersOf(session, [email('a')]);
    const key = `${session.instanceId}.${session.sessionId}`;
    ok(await bucket.remove(key, (await bucket.get(key))!.revision));
    deepEqual(await here.numbersOf(session, [email('b')]), [2]);
    deepEqual(await there.numbersOf(session, [email('a'), email('b')]), [1, 2]);
  });

  it('end after two thousand values of a session', async () => {
    const session = newSession();
    const values = Array.from({ length: 2001 }, (_, place) => email(`v${place}`));
    const given = await here.numbersOf(session, values);
    deepEqual(given.slice(1998), [1999, 2000, null]);
    deepEqual(await there.numbersOf(session, [email('v1999'), email('w')]), [2000, null]);
  });
});
