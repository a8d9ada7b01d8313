import { deepEqual, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { positionOf, type RecordedMessage } from '../../../src/domain/records.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { encodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';
import { MessageTexts } from '../../../src/stream/log/message-texts.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { CONVERSATIONS_STREAM, conversationsSubject } from '../../../src/stream/subjects.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

const ID = '0192f0a0-0000-7000-8000-00000000000a';

describe('texts of messages', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let texts: MessageTexts;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    texts = new MessageTexts(() => connection);
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  /** Stores an entry; its sequence. */
  async function store(payload: Uint8Array): Promise<number> {
    return (await jetstream(connection.nats).publish(conversationsSubject(0), payload)).seq;
  }

  /** Stores one entry with a request of each list of texts. */
  async function storeTexts(...requests: readonly (readonly string[])[]): Promise<number> {
    const ids = { projectId: ID, instanceId: ID, sessionId: ID, acceptedAt: 1 };
    const encoded = requests.map((contents, index) =>
      encodeRequest({
        ...ids,
        requestId: String(index),
        messages: contents.map((content) => ({ content, role: 'user', at: 1 })),
      }),
    );
    return store(await encodeRecord(encoded));
  }

  const message = (content: string): { message: RecordedMessage } => ({
    message: { content, role: 'user', at: 1 },
  });

  it('are read wherever they stand: in requests that were committed together, compressed or not', async () => {
    const small = await storeTexts(['a', 'b'], ['c']);
    const long = 'x'.repeat(5000);
    const large = await storeTexts([long]);
    const wanted = [positionOf(small, 2), positionOf(large, 0), positionOf(small, 0)];
    const read = await texts.read(wanted);
    deepEqual(
      wanted.map((position) => read.get(position)),
      [message('c'), message(long), message('a')],
    );
    deepEqual([...(await texts.read([]))], []);
  });

  it('say why they are gone', async () => {
    const expired = await storeTexts(['a']);
    const kept = await storeTexts(['b']);
    const deleted = await storeTexts(['c']);
    const broken = await store(Buffer.from('{"v":1,'));
    const last = await storeTexts(['d']);
    const manager = await jetstreamManager(connection.nats);
    await manager.streams.deleteMessage(CONVERSATIONS_STREAM, deleted);
    await manager.streams.purge(CONVERSATIONS_STREAM, { seq: kept });
    const positions = [expired, kept, deleted, broken].map((sequence) => positionOf(sequence, 0));
    positions.push(positionOf(last, 7));
    const read = await texts.read(positions);
    deepEqual(
      positions.map((position) => read.get(position)),
      [
        { gone: 'EXPIRED' },
        message('b'),
        { gone: 'DELETED' },
        { gone: 'UNREADABLE' },
        { gone: 'UNREADABLE' },
      ],
    );
  });

  it('are read of feedback, by the place of its request', async () => {
    const ids = { projectId: ID, instanceId: ID, sessionId: ID, acceptedAt: 1 };
    const said = [undefined, 'too slow'].map((comment, index) =>
      encodeRequest({
        ...ids,
        requestId: String(index),
        messages: [],
        feedback: { value: -1, ...(comment === undefined ? {} : { comment }) },
      }),
    );
    const message = encodeRequest({
      ...ids,
      requestId: 'm',
      messages: [{ content: 'a', role: 'user', at: 1 }],
    });
    const sequence = await store(await encodeRecord([message, ...said]));
    const gone = await storeTexts(['b']);
    await (await jetstreamManager(connection.nats)).streams.deleteMessage(CONVERSATIONS_STREAM, gone);
    const at = positionOf(sequence, 1);
    deepEqual(
      await texts.comments([
        { position: at, place: 2 },
        { position: at, place: 1 },
        { position: positionOf(gone, 0), place: 0 },
        { position: at, place: 2 },
      ]),
      ['too slow', null, null, 'too slow'],
    );
  });

  it('cannot be read while there is no stream: 503, to be tried again', async () => {
    const other = await openConnection({ ...server.address, name: 'closed' });
    await other.close();
    await rejects(new MessageTexts(() => other).read([positionOf(1, 0)]), {
      code: 'SERVICE_UNAVAILABLE',
      retryAfter: 1,
    });
  });
});
