import { deepEqual, equal } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { readStreamUse } from '../../../src/stream/log/backlog.ts';
import { openConsumer, readExtent, readStored, type Delivered } from '../../../src/stream/log/consumer.ts';
import { eraseMessage, redactEntry, RedactedEntries } from '../../../src/stream/log/redacted-entries.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, conversationsSubject } from '../../../src/stream/subjects.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

describe('redacted entries', () => {
  let server: TestServer;
  let connection: StreamConnection;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    // Sequences 1 to 8, of partitions 0, 1, 0, 1 …
    for (let i = 1; i <= 8; i++)
      await jetstream(connection.nats).publish(conversationsSubject((i + 1) % 2), `entry ${i} secret-${i}`);
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  const text = ({ bytes }: Delivered): string => Buffer.from(bytes).toString();

  async function readAll(partitions: readonly number[], maxMessages = 1000): Promise<string[]> {
    const skipped: string[] = [];
    const consumer = await openConsumer(connection, {
      startSequence: 1,
      partitions,
      onSkipped: (first, last) => skipped.push(`skipped ${first} to ${last}`),
    });
    const read: Delivered[] = [];
    const last = partitions.includes(1) ? 8 : 7;
    while ((read.at(-1)?.sequence ?? 0) < last) {
      const given = await consumer.next({ maxMessages, maxBytes: 1e6, waitMs: 2000 });
      equal(given.length <= maxMessages, true);
      read.push(...given);
    }
    await consumer.close();
    return [...read.map((entry) => `${entry.sequence} ${entry.subject.at(-1)} ${text(entry)}`), ...skipped];
  }

  async function redact(sequence: number, copy: string): Promise<void> {
    const entry = await readStored(connection, sequence, AbortSignal.timeout(5000));
    await redactEntry(connection, (sequence + 1) % 2, { ...entry!, bytes: Buffer.from(copy) });
  }

  it('are read where they stood, by whoever reads their partition', async () => {
    for (const sequence of [1, 2, 5]) await redact(sequence, `copy ${sequence}`);
    deepEqual(await readAll([0, 1], 2), [
      '1 0 copy 1',
      '2 1 copy 2',
      '3 0 entry 3 secret-3',
      '4 1 entry 4 secret-4',
      '5 0 copy 5',
      '6 1 entry 6 secret-6',
      '7 0 entry 7 secret-7',
      '8 1 entry 8 secret-8',
    ]);
    deepEqual(
      (await readAll([0, 2, 4, 6])).map((line) => line.slice(0, 1)),
      ['1', '3', '5', '7'],
    );
    equal(text((await readStored(connection, 5, AbortSignal.timeout(5000)))!), 'copy 5');
  });

  it('are no damage of the stream, and it still begins where it began', async () => {
    deepEqual(await readExtent(connection), { firstSequence: 1, lastSequence: 8 });
    equal((await readStreamUse(connection)).missing, 0);
  });

  it('are done again where a crash left them half done', async () => {
    equal(await eraseMessage(connection, CONVERSATIONS_STREAM, 1), false);
    await redact(1, 'copy 1');
    equal((await readAll([0, 1]))[0], '1 0 copy 1');
  });

  it('are read by a reader that was behind when they were redacted, and are no gap', async () => {
    const opened = { readAheadBytes: 1, startSequence: 1 };
    for (const partitions of [[0, 1, 2, 3, 4, 5, 6, 7], [1]]) {
      const skipped: number[] = [];
      const onSkipped = (first: number): void => void skipped.push(first);
      const consumer = await openConsumer(connection, { ...opened, partitions, onSkipped });
      // What was read ahead of the redaction is not taken again from the server.
      await redact(partitions.length > 1 ? 4 : 6, 'copy, behind');
      const read: string[] = [];
      while (read.at(-1)?.startsWith('8') !== true)
        for (const entry of await consumer.next({ maxMessages: 1, maxBytes: 1, waitMs: 2000 }))
          read.push(`${entry.sequence} ${text(entry)}`);
      await consumer.close();
      equal(read.length, partitions.length > 1 ? 8 : 4);
      equal(read.includes(partitions.length > 1 ? '4 copy, behind' : '6 copy, behind'), true, read.join());
      deepEqual(skipped, []);
    }
  });

  it('can be redacted again, and leave nothing of what went in any file', async () => {
    await redact(5, 'copy 5 anew');
    equal((await readAll([0, 1]))[4], '5 0 copy 5 anew');
    const files = readdirSync(server.dataDir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const holds = (word: string): boolean =>
      files.some((file) => readFileSync(join(file.parentPath, file.name)).includes(word));
    deepEqual(['secret-1', 'secret-2', 'secret-5', 'secret-3', 'copy 5 anew'].map(holds), [
      false,
      false,
      false,
      true,
      true,
    ]);
    equal(
      files.some((file) => /copy 5(?! anew)/.test(readFileSync(join(file.parentPath, file.name), 'latin1'))),
      false,
    );
  });

  it('go when their originals would have gone by age', async () => {
    const entry = await readStored(connection, 1, AbortSignal.timeout(5000));
    await redactEntry(connection, 0, { ...entry!, bytes: Buffer.from('copy of old'), timestamp: 1000 });
    const entries = await RedactedEntries.open(connection);
    equal(await entries.dropBefore(1000), 0);
    equal(await entries.dropBefore(1001), 1);
    await entries.look();
    deepEqual(
      [1, 2].map((sequence) => entries.has(sequence)),
      [false, true],
    );
    equal(await readStored(connection, 1, AbortSignal.timeout(5000)), null);
    for (const file of readdirSync(server.dataDir, { recursive: true, withFileTypes: true }))
      if (file.isFile()) equal(readFileSync(join(file.parentPath, file.name)).includes('copy of old'), false);
  });
});
