/** On a real server: what cannot be read, and what a worker writes late. */
import { deepEqual, equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import type { Erasure, ErasureDigest } from '../../../src/domain/erasures.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { eraseEntries, eraseLateLetters, findErased } from '../../../src/worker/erasure/erase-entries.ts';
import { ErasureLedger } from '../../../src/stream/ledgers/erasure-ledger.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { deadLetter, noteMessage, readDeadLetters } from '../../../src/stream/dead-letters/dead-letters.ts';
import { encodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';
import { readStored, type Delivered } from '../../../src/stream/log/consumer.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, conversationsSubject, partitionOf } from '../../../src/stream/subjects.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

const PROJECT = '0192f0a0-0000-7000-8000-000000000001';
const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';
const digest: ErasureDigest = (...parts) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

describe('entries of an erasure', () => {
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    // Sequences 1 to 4; the last one is never asked for by its text.
    await store(requestOf('a', 'ana'), requestOf('b', 'bo'));
    await store(requestOf('b', 'ana'));
    await store(requestOf('c', 'cy'));
    await store(requestOf('d', 'damaged'));
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  const signal = AbortSignal.timeout(60_000);
  const confirm = async (): Promise<void> => undefined;

  function requestOf(sessionId: string, userId: string): RecordedRequest {
    const messages = [{ role: 'user', content: `${userId} says`, userId, at: 1 }];
    const requestId = `${sessionId} ${userId}`;
    return { requestId, projectId: PROJECT, instanceId: INSTANCE, sessionId, acceptedAt: 1, messages };
  }

  async function store(...requests: RecordedRequest[]): Promise<void> {
    const bytes = await encodeRecord(requests.map(encodeRequest));
    await jetstream(connection.nats).publish(conversationsSubject(partitionOf(INSTANCE)), bytes);
  }

  async function erasureOf(name: string, ledger: ErasureLedger): Promise<Erasure> {
    const erasure: Erasure = {
      id: `0192f0a0-0000-7000-8000-0000000000${name.length}0`,
      projectId: PROJECT,
      instanceId: INSTANCE,
      kind: 'END_USER',
      digest: digest('END_USER', INSTANCE, name),
      keyId: 'key',
      reason: null,
      requestedAt: '2026-01-01T00:00:00.000Z',
      doneAt: null,
      position: 4,
      state: 'ERASING',
      receipt: null,
      fault: null,
    };
    await ledger.add(erasure);
    return erasure;
  }

  async function letters(): Promise<string[]> {
    const found: string[] = [];
    for await (const { sequence, message, bytes } of readDeadLetters(connection)) {
      const users = ['ana', 'bo'].filter((user) => Buffer.from(bytes).includes(`${user} says`));
      found.push(`${message === null ? 'entry' : 'note'} ${sequence}: ${users.join()}`);
    }
    return found;
  }

  it('go from what a worker dead-letters that had read them before', async () => {
    const ledger = new ErasureLedger(new MemoryBucket());
    const erasure = await erasureOf('ana', ledger);
    const read = await Promise.all([1, 2].map((sequence) => readStored(connection, sequence, signal)));
    const settings = { connection, digest, ledger, signal, confirm };
    const receipt = await eraseEntries(settings, erasure);
    deepEqual([receipt.messages, receipt.entries], [2, 2]);
    const [first, second] = read as [Delivered, Delivered];
    await deadLetter(connection, first, 'a test');
    await noteMessage(connection, second, { requestId: 'b ana', index: 0 }, 'a test', second.bytes);
    await noteMessage(connection, first, { requestId: 'b bo', index: 0 }, 'a test', Buffer.from('bo says'));
    deepEqual(await letters(), ['entry 1: ana,bo', 'note 2: ana', 'note 1: bo']);
    equal(await eraseLateLetters(settings, erasure), 2);
    deepEqual(await letters(), ['note 1: bo', 'entry 1: bo']);
    equal(await eraseLateLetters(settings, erasure), 0);
  });

  it('are all found where the last one cannot be read', async () => {
    await connection.close();
    await server.end();
    const file = join(
      server.dataDir,
      'nats/store/jetstream/$G/streams',
      CONVERSATIONS_STREAM,
      'msgs',
      '1.blk',
    );
    const bytes = readFileSync(file);
    const at = bytes.indexOf('damaged says');
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(file, bytes);
    await server.restart();
    connection = await openConnection({ ...server.address, name: 'test' });
    equal(await readStored(connection, 4, signal).catch(() => null), null);
    const ledger = new ErasureLedger(new MemoryBucket());
    const found = async (name: string): Promise<number> =>
      (await findErased({ connection, digest }, await erasureOf(name, ledger))).messages;
    deepEqual([await found('bo'), await found('cy'), await found('ana')], [1, 1, 0]);
  });
});
