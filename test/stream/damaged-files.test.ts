/** Files of nats-server that were damaged, cut or removed while it was down. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { archiveStream } from '../../src/stream/archive/archive.ts';
import { LostRegistryError, openRegistry, type Registry } from '../../src/web/registry/registry.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { openKeyValue } from '../../src/stream/kv/key-value.ts';
import { readStreamUse } from '../../src/stream/log/backlog.ts';
import { openConsumer, type StreamConsumer } from '../../src/stream/log/consumer.ts';
import { digestOfEntry } from '../../src/stream/log/log-reader.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, conversationsSubject } from '../../src/stream/subjects.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';

describe('damaged files of nats-server', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let folder: string;
  before(async () => {
    server = await startTestServer();
    folder = await mkdtemp(join(tmpdir(), 'undertone-damaged-'));
  });
  beforeEach(async () => {
    connection = await openConnection({ ...server.address, name: 'test' });
    const manager = await jetstreamManager(connection.nats);
    for await (const { config } of manager.streams.list()) await manager.streams.delete(config.name);
    await setUpStreams(connection);
  });
  afterEach(() => connection.close());
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  const filesOf = (stream: string): string =>
    join(server.dataDir, 'nats/store/jetstream/$G/streams', stream, 'msgs');

  async function store(...bodies: string[]): Promise<void> {
    const client = jetstream(connection.nats);
    for (const body of bodies) await client.publish(conversationsSubject(0), body, { timeout: 10_000 });
  }

  /** Ends the server in an orderly way, changes its files, and starts it again. */
  async function whileDown(change: () => void): Promise<void> {
    await connection.close();
    await server.end();
    change();
    await server.restart();
    connection = await openConnection({ ...server.address, name: 'test' });
  }

  /** Changes a byte of what an entry holds; the index is kept, so that the server finds out when it reads it. */
  function damage(stream: string, body: string): void {
    const file = join(filesOf(stream), '1.blk');
    const bytes = readFileSync(file);
    const at = bytes.indexOf(body);
    ok(at > 0);
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(file, bytes);
  }

  it('cost what is in them: the rest of a bucket is loaded, listed and copied', async () => {
    const bucket = await openKeyValue(connection, 'things');
    for (const name of ['one', 'two', 'three']) await bucket.put(name, `value of ${name}`);
    await whileDown(() => damage('KV_things', 'value of three'));
    const again = await openKeyValue(connection, 'things');
    const reported: string[] = [];
    const watch = again.watch((key) => reported.push(key));
    await watch.loaded;
    deepEqual(reported, ['one', 'two']);
    await watch.close();
    deepEqual(await again.list('*'), ['value of one', 'value of two']);
    const things = { name: 'KV_things', subjects: '$KV.things.>', keepsSequences: true };
    equal((await archiveStream(connection, things, { write: async () => undefined })).entries, 2);
  });

  it('that lost their end give its numbers to others: whoever read it goes on nowhere', async () => {
    await store('entry 1', 'entry 2', 'entry 3');
    await whileDown(() => {
      const file = join(filesOf(CONVERSATIONS_STREAM), '1.blk');
      truncateSync(file, (statSync(file).size / 3) * 2);
      rmSync(join(filesOf(CONVERSATIONS_STREAM), 'index.db'));
    });
    const openBehind = (body: string): Promise<StreamConsumer> =>
      openConsumer(connection, { startSequence: 4, lastEntry: digestOfEntry(Buffer.from(body)) });
    await rejects(openBehind('entry 3'), /ends at sequence 2, but 3 was already read.*Restore a backup/);
    await store('other 3', 'other 4');
    await rejects(openBehind('entry 3'), /Entry 3 of the stream CONVERSATIONS is not the one that was read/);
    const consumer = await openBehind('other 3');
    const [next] = await consumer.next({ maxMessages: 9, maxBytes: 1e6, waitMs: 10_000 });
    equal(next?.sequence, 4);
    await consumer.close();
  });

  it('that held the registry are not replaced by an empty one while there are messages', async () => {
    const use = async (
      act: (registry: Registry) => Promise<unknown> = async () => null,
    ): Promise<unknown> => {
      const registry = await openRegistry(connection);
      await registry.whenReady();
      return act(registry).finally(() => registry.close());
    };
    await use((registry) => registry.ensureFirstProject());
    await store('entry 1');
    await use((registry) => registry.ensureFirstProject());
    const streams = join(filesOf('KV_registry'), '../..');
    await whileDown(() => rmSync(join(streams, 'KV_registry'), { recursive: true }));
    await rejects(use(), LostRegistryError);
    await rejects(use(), /is empty, but the stream holds messages.*npm run restore/, 'also the second time');
    const bucket = await openKeyValue(connection, 'registry');
    await bucket.put('id-secret', 'alone was left');
    await rejects(
      use((registry) => registry.ensureFirstProject()),
      LostRegistryError,
    );
  });

  it('that lack entries in the midst say so to whoever reads on', async () => {
    await store('entry 1', 'entry 2', 'entry 3');
    await whileDown(() => damage(CONVERSATIONS_STREAM, 'entry 2'));
    const skipped: number[][] = [];
    const onSkipped = (first: number, last: number): void => void skipped.push([first, last]);
    const consumer = await openConsumer(connection, { startSequence: 1, onSkipped });
    const read: number[] = [];
    while (read.at(-1) !== 3)
      for (const { sequence } of await consumer.next({ maxMessages: 9, maxBytes: 1e6, waitMs: 10_000 }))
        read.push(sequence);
    deepEqual({ read, skipped }, { read: [1, 3], skipped: [[2, 2]] });
    await consumer.close();
  });

  it('that are gone for the server, too, are counted', async () => {
    await store('entry 1', 'entry 2', 'entry 3');
    const manager = await jetstreamManager(connection.nats);
    await manager.streams.deleteMessage(CONVERSATIONS_STREAM, 2, false);
    const { lastSequence, missing } = await readStreamUse(connection);
    deepEqual({ lastSequence, missing }, { lastSequence: 3, missing: 1 });
  });
});
