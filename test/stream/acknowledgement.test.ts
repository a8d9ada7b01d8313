import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { storedSequence } from '../../src/stream/acknowledgement.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { deadLetter, noteMessage, replayDeadLetter } from '../../src/stream/dead-letters/dead-letters.ts';
import { conversationsSubject } from '../../src/stream/subjects.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';

describe('an acknowledgement', () => {
  let server: TestServer;
  let connection: StreamConnection;
  const asked: string[] = [];
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    // In place of a leader of nats-server 2.10 whose followers are away.
    for (const subject of ['dead-letters.>', 'dead-letters', 'conversations.*'])
      connection.nats.subscribe(subject, {
        callback: (_error, message) => {
          asked.push(message.subject);
          message.respond(JSON.stringify({ stream: 'ANY', seq: 0, duplicate: true }));
        },
      });
  });
  after(async () => {
    await connection.close();
    await server.stop();
  });

  it('says where a message is stored, and nothing without a sequence', () => {
    equal(storedSequence({ seq: 7 }), 7);
    throws(() => storedSequence({ seq: 0 }), /not stored it yet/);
  });

  it('without a sequence leaves a dead letter, a note and a replay undone', async () => {
    const entry = { sequence: 5, subject: conversationsSubject(1), bytes: new Uint8Array([1]), timestamp: 0 };
    const name = { requestId: 'r', index: 0 };
    const letter = { ...entry, id: 1, reason: 'a', setAsideAt: 0, message: null };
    for (const undone of [
      deadLetter(connection, entry, 'a reason'),
      noteMessage(connection, entry, name, 'a reason', entry.bytes),
      replayDeadLetter(connection, letter),
    ])
      await rejects(undone, /not stored it yet/);
    deepEqual(asked, ['dead-letters', 'dead-letters.messages', 'conversations.1']);
  });
});
