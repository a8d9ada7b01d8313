import { deepEqual, equal, match } from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { silentLogger } from '../../src/logger.ts';
import { openShard, type Shard } from '../../src/worker/shard.ts';
import { decodeRecord } from '../../src/stream/log/codec.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { readDeadLetters, type DeadLetter } from '../../src/stream/dead-letters/dead-letters.ts';
import { createPublisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { AnalysisPool } from '../../src/reader/threads/pool.ts';
import { temporaryDirectory, uuid } from '../support/fold.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import { environmentOf, eventually, runScript } from '../support/processes.ts';
import { recordedRequest } from '../support/requests.ts';

const SCRIPT = join(import.meta.dirname, '../support/hanging-analysis.ts');
const REQUEST = uuid(8, 1);

describe('a message whose analysis hangs', () => {
  const temporary = temporaryDirectory();
  let server: TestServer;
  let connection: StreamConnection;
  let pool: AnalysisPool | null = null;
  let shard: Shard | null = null;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
  });
  afterEach(async () => {
    await shard?.close();
    shard = null;
    await pool?.close();
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  async function publish(requestId: string, contents: readonly string[]): Promise<number> {
    const publisher = createPublisher(connection);
    const messages = contents.map((content, index) => ({ content, role: 'user', at: 1e15 + index }));
    const sequence = await publisher.publish(recordedRequest({ requestId, messages }));
    await publisher.drain();
    return sequence;
  }

  /** A worker's shard, in a build of the views of its own. */
  async function work(epoch: number, textMs: number): Promise<Shard> {
    const patience = { textMs, lookEveryMs: 40 };
    pool = await AnalysisPool.open({ threads: 1, model: '', modelsDirectory: '', script: SCRIPT, patience });
    shard = await openShard({
      dataDir: temporary.path,
      batchBytes: 2 ** 20,
      memoryBytes: 256e6,
      analysis: pool,
      connection,
      logger: silentLogger(),
      active: { epoch, shards: 1 },
      shard: 0,
      setAside: (_, reason) => Promise.reject(new Error(reason)),
      waitMs: 100,
      publishEveryMs: 0,
    });
    shard.run().catch(() => undefined);
    return shard;
  }

  const applied = (of: Shard, sequence: number): Promise<number> =>
    eventually(
      () => of.counters.sequence >= sequence,
      () => JSON.stringify(of.counters),
    );

  async function letters(): Promise<DeadLetter[]> {
    const all: DeadLetter[] = [];
    for await (const letter of readDeadLetters(connection)) all.push(letter);
    return all;
  }

  async function command(args: readonly string[]): Promise<string> {
    const running = runScript('cli/dead-letters.ts', args, environmentOf(server, temporary.path));
    equal(await running.ended, 0, running.output());
    return running.output();
  }

  it('counts without findings, and a note says so', async () => {
    const sequence = await publish(REQUEST, ['Where is it?', 'please HANG', 'Cancel it.']);
    const first = await work(1, 300);
    await applied(first, sequence);
    deepEqual([first.counters.messages, first.counters.analysisTimeouts], [3, 1]);
    const [note, ...more] = await letters();
    deepEqual(more, []);
    deepEqual(
      [note?.sequence, note?.message, note?.reason],
      [sequence, { requestId: REQUEST, index: 1 }, 'its analysis took more than 0.3 s of processor time'],
    );
    const [noted] = decodeRecord(note?.bytes as Uint8Array).requests;
    deepEqual(
      noted?.messages.map(({ content }) => content),
      ['please HANG'],
    );
  });

  it('is not analysed again by a rebuild that has all the time in the world', async () => {
    const rebuilt = await work(2, 1e9);
    await applied(rebuilt, 1);
    deepEqual([rebuilt.counters.messages, rebuilt.counters.analysisTimeouts], [3, 0]);
  });

  it('is listed; there is nothing to replay, and removing the note asks for another analysis', async () => {
    match(
      await command(['list']),
      new RegExp(`messages\\.1 of request ${REQUEST} counts without findings: its analysis took`),
    );
    match(await command(['replay', '--all']), /^1: stays: messages\.1 of request .* is counted already/);
    equal((await letters()).length, 1);
    match(await command(['remove', '1']), /^1: removed; the next rebuild analyses the message again\n$/);
    const again = await work(3, 300);
    await applied(again, 1);
    deepEqual([again.counters.messages, again.counters.analysisTimeouts], [3, 1]);
  });

  it('keeps nobody from stopping the worker', async () => {
    const hanging = await work(1, 1e9);
    const sequence = await publish(uuid(8, 2), ['HANG']);
    // It looks at the stream ten times a second, unless something keeps it from that.
    await eventually(
      () => Date.now() * 1000 - hanging.counters.lastProgressAt > 500_000,
      () => JSON.stringify(hanging.counters),
    );
    await hanging.close();
    equal(hanging.counters.sequence, sequence - 1);
  });

  it('is noted with its own text where its request is taken up in parts', async () => {
    const contents = Array.from({ length: 6000 }, (_, index) => (index === 5500 ? 'parts HANG' : 'thanks'));
    const sequence = await publish(uuid(8, 3), contents);
    const parted = await work(4, 300);
    await eventually(
      () => parted.counters.messages === 6004,
      () => JSON.stringify(parted.counters),
    );
    const note = (await letters()).find((letter) => letter.sequence === sequence);
    deepEqual(note?.message, { requestId: uuid(8, 3), index: 5500 });
    const [noted] = decodeRecord(note?.bytes as Uint8Array).requests;
    deepEqual(
      noted?.messages.map(({ content }) => content),
      ['parts HANG'],
    );
  });
});
