import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { DEAD_LETTER_HEADERS } from '../../src/stream/dead-letters/dead-letters.ts';
import { conversationsSubject, DEAD_LETTERS_STREAM, partitionOf } from '../../src/stream/subjects.ts';
import { Client } from '../support/client.ts';
import { recordedRequest } from '../support/requests.ts';
import { addLoad, noFigures, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Stack } from './support/stack.ts';

/**
 * Records that cannot be processed get into the stream between good ones: each becomes a dead letter with its reason,
 * the good requests of its own record and everything around it are counted, and the worker is not disturbed.
 */
export async function poison({ long, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = given ?? (await Stack.start());
  const connection = await stack.connect();
  try {
    const key = await stack.newKey();
    const client = new Client(stack.url, key);
    const load = await Load.start(stack, key, { long, seed, writers: 2, pauseMs: 20 });
    const [instanceId = ''] = load.instances;
    const starts = stack.starts('worker');
    const home = await client.ingest({ messages: [{ content: 'Hello there.' }] });
    const publish = async (payload: Uint8Array, instance = instanceId): Promise<number> =>
      (await jetstream(connection.nats).publish(conversationsSubject(partitionOf(instance)), payload)).seq;
    const text = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
    const request = (fields: object) =>
      encodeRequest(recordedRequest({ instanceId: home.instanceId, ...fields }));
    const expected = new Map<number, RegExp>([
      [await publish(Buffer.from('no record at all')), /neither JSON nor zstd/],
      [await publish(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3])), /neither JSON nor zstd/],
      [await publish(Buffer.alloc(0)), /neither JSON nor zstd/],
      [await publish(text({ v: 99, requests: [] })), /version 99/],
      [await publish(text({ v: 1, requests: [{ requestId: 5 }] })), /requests\.0/],
      [
        await publish(await encodeRecord([request({ requestId: 'no uuid', sessionId: randomUUID() })])),
        /uuid/i,
      ],
    ]);
    // The session's id, in another instance: a session of its own.
    await publish(
      await encodeRecord([
        request({ sessionId: randomUUID(), messages: [{ content: 'Good one.', role: 'user', at: 1 }] }),
        request({ instanceId: randomUUID(), sessionId: home.sessionId }),
        request({ sessionId: randomUUID(), messages: [{ content: 'Good two.', role: 'user', at: 1 }] }),
      ]),
      home.instanceId,
    );
    const { position } = await client.ingest({
      ...home,
      position: undefined,
      messages: [{ content: 'And on.' }],
    });
    await load.counted();
    const rows = await client.rows(
      { instanceId: home.instanceId, groupBy: 'SESSION', fields: 'messages' },
      position,
    );
    deepEqual(rows.map(({ fields }) => fields.messages).toSorted(), [1, 1, 2]);
    const manager = await jetstreamManager(connection.nats);
    const { state } = await manager.streams.info(DEAD_LETTERS_STREAM);
    const found = new Map<number, string>();
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const letter = await manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq });
      ok(letter !== null);
      found.set(
        Number(letter.header.get(DEAD_LETTER_HEADERS.sequence)),
        letter.header.get(DEAD_LETTER_HEADERS.reason),
      );
    }
    deepEqual([...found.keys()], [...expected.keys()]);
    for (const [sequence, reason] of expected) match(found.get(sequence) ?? '', reason);
    equal(stack.starts('worker'), starts);
    say([...found.values()].join('\n'));
    figures.rounds = 1;
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    await connection.close();
    if (given === undefined) await stack.stop();
  }
}
