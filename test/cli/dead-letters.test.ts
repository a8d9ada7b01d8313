import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { deadLetter } from '../../src/stream/dead-letters/dead-letters.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { conversationsSubject, partitionOf } from '../../src/stream/subjects.ts';
import { temporaryDirectory, uuid } from '../support/fold.ts';
import { sampled } from '../support/long.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import {
  countedMessages,
  end,
  environmentOf,
  eventually,
  publishedSequences,
  runScript,
  type Running,
} from '../support/processes.ts';
import { recordedRequest } from '../support/requests.ts';

const INSTANCE = uuid(9, 1);
const SUBJECT = conversationsSubject(partitionOf(INSTANCE));

describe('dead letters', () => {
  const temporary = temporaryDirectory();
  let server: TestServer;
  let connection: StreamConnection;
  let publisher: Publisher;
  let worker: Running;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    publisher = createPublisher(connection);
  });
  after(async () => {
    if (worker !== undefined) await end(worker);
    await publisher?.drain();
    await connection?.close();
    await server?.stop();
    temporary.remove();
  });

  async function run(args: readonly string[]): Promise<{ code: number | string; output: string }> {
    const running = runScript('cli/dead-letters.ts', args, environmentOf(server, temporary.path));
    return { code: await running.ended, output: running.output() };
  }

  async function listed(): Promise<Record<string, unknown>[]> {
    const { output } = await run(['list', '--json']);
    return JSON.parse(output) as Record<string, unknown>[];
  }

  const publishedUpTo = (sequence: number): Promise<number> =>
    eventually(
      () => Math.max(0, ...publishedSequences(temporary.path)) >= sequence,
      () => worker.output(),
    );

  const request = (number: number, contents: readonly string[]): RecordedRequest =>
    recordedRequest({
      requestId: uuid(8, number),
      instanceId: INSTANCE,
      sessionId: uuid(7, number),
      messages: contents.map((content, index) => ({
        content,
        role: 'user',
        userId: 'ann',
        at: 1e15 + index,
      })),
    });

  it('lists nothing while there is no dead letter', async () => {
    deepEqual(await run(['list']), { code: 0, output: 'There are no dead letters.\n' });
    deepEqual(await run(['replay', '--all']), { code: 0, output: 'There are no dead letters.\n' });
    deepEqual(await listed(), []);
  });

  it('replays what can be processed now, and counts it once', async () => {
    worker = runScript('main/worker.ts', [], environmentOf(server, temporary.path));
    const counted = request(1, ['Where is my parcel?', 'I want to cancel my order.']);
    const sequence = await publisher.publish(counted);
    // As if an earlier version of us had failed on the other request of the entry.
    const failed = request(2, ['Do you ship to Norway?', 'And to Iceland?\u009b2J', 'And to Greenland?']);
    const bytes = await encodeRecord([encodeRequest(counted), encodeRequest(failed)]);
    const reason = `request ${failed.requestId}: cannot be enriched`;
    await deadLetter(connection, { sequence, bytes, subject: SUBJECT, timestamp: 0 }, reason);
    await publishedUpTo(sequence);
    equal(await countedMessages(temporary.path), 2);

    const [letter, ...more] = await listed();
    equal(more.length, 0);
    deepEqual(
      { ...letter, setAsideAt: null, bytes: null },
      {
        id: 1,
        sequence,
        instanceIds: [INSTANCE],
        requests: 2,
        message: null,
        reason,
        setAsideAt: null,
        bytes: null,
      },
    );
    match(
      (await run(['list'])).output,
      new RegExp(`^ID .*\\n1 +${sequence} +2\\d{3}-.*Z +${INSTANCE} +2 +request`),
    );
    const detail = await run(['show', '1']);
    match(detail.output, /Do you ship to Norway\?/);
    match(detail.output, /And to Iceland\?\\u009b2J/);

    const replayed = await run(['replay', '1']);
    deepEqual(replayed, {
      code: 0,
      output: `1: entry ${sequence} is on the stream again as entry ${sequence + 1}\n`,
    });
    await publishedUpTo(sequence + 1);
    equal(await countedMessages(temporary.path), 5);
    deepEqual(await listed(), []);
  });

  it('makes what fails again a dead letter again', async () => {
    const client = jetstream(connection.nats);
    const { seq } = await client.publish(SUBJECT, 'no record at all');
    await publishedUpTo(seq);
    const [letter] = await listed();
    deepEqual([letter?.['sequence'], letter?.['instanceIds'], letter?.['requests']], [seq, [], null]);
    match(
      (await run(['show', String(letter?.['id'])])).output,
      /neither JSON nor zstd.*\n'no record at all'\n$/,
    );
    equal((await run(['replay', '--all'])).code, 0);
    await publishedUpTo(seq + 1);
    const again = await listed();
    deepEqual(
      again.map(({ id, sequence }) => [id, sequence]),
      [[Number(letter?.['id']) + 1, seq + 1]],
    );
    equal(await countedMessages(temporary.path), 5);
  });

  it('removes what nobody wants replayed', async () => {
    const [letter] = await listed();
    deepEqual(await run(['remove', '--all']), { code: 0, output: `${letter?.['id']}: removed\n` });
    deepEqual(await listed(), []);
  });

  const mistakes: [string[], number, RegExp][] = [
    [[], 2, /A command is needed\.\nUsage:/],
    [['drop'], 2, /Unknown command: drop/],
    [['list', '3'], 2, /Unexpected: 3/],
    [['show'], 2, /show needs one ID/],
    [['show', 'x'], 2, /not x/],
    [['replay'], 2, /replay needs IDs or --all/],
    [['replay', '1', '--all'], 2, /replay needs IDs or --all/],
    [['replay', '1', '--json'], 2, /--json belongs to list/],
    [['show', '99'], 1, /^There is no dead letter 99\..*\n$/],
    [['replay', '1', '99'], 1, /^There is no dead letter 1\..*\n$/],
  ];
  it('says what is wrong with a command line', async () => {
    const some = sampled(mistakes, 3);
    const results = await Promise.all(some.map(([args]) => run(args)));
    for (const [place, [args, code, text]] of some.entries()) {
      equal(results[place]?.code, code, args.join(' '));
      match(results[place]?.output ?? '', text);
    }
  });
});
