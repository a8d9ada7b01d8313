import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CurationAction } from '../../../src/domain/curations.ts';
import type { RecordedMessage, RecordedRequest, StreamRecord } from '../../../src/domain/records.ts';
import type { Cutoffs } from '../../../src/domain/retention.ts';
import { Trimming } from '../../../src/worker/erasure/trimming.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';

const INSTANCE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const nobodyOf = (name: string): string => (name.startsWith('nobody') ? name : `nobody-${name.length}`);

function message(at: number, content: string, userId?: string): RecordedMessage {
  const rest = { metadata: { note: content } };
  return userId === undefined
    ? { role: 'assistant', content, at, ...rest }
    : { role: 'user', content, at, userId, ...rest };
}

let requests = 0;

function request(
  sessionId: string,
  messages: RecordedMessage[],
  parts: Partial<RecordedRequest> = {},
): RecordedRequest {
  const requestId = `request ${(requests += 1)}`;
  return { requestId, projectId: 'p', instanceId: INSTANCE, sessionId, acceptedAt: 1, messages, ...parts };
}

const record = (...all: RecordedRequest[]): StreamRecord => ({ v: 1, requests: all });

function trim(records: readonly StreamRecord[], cutoffs: Partial<Cutoffs>): (StreamRecord | null)[] {
  const trimming = new Trimming(INSTANCE, { texts: null, people: null, counts: null, ...cutoffs }, nobodyOf);
  for (const one of records) trimming.note(one);
  return records.map((one) => trimming.trimmed(one));
}

describe('trimming', () => {
  it('takes texts of conversations of which nothing was said since, and leaves that they were said', () => {
    const old = request('a', [message(1, 'a1', 'ana'), message(2, 'a2')]);
    const young = request('b', [message(1, 'b1', 'ana'), message(9, 'b2')]);
    const foreign = request('a', [message(1, 'c1', 'ana')], { instanceId: OTHER });
    const [left, same] = trim([record(old, young, foreign), record(young)], { texts: 5 });
    deepEqual(left?.requests, [
      {
        ...old,
        messages: [
          { role: 'user', content: '', at: 1, userId: 'ana', expired: true },
          { role: 'assistant', content: '', at: 2, expired: true },
        ],
      },
      young,
      foreign,
    ]);
    equal(same, null);
  });

  it('takes the text out of old corrections, and out of no topic that people made', () => {
    const decided = (action: CurationAction, acceptedAt: number): RecordedRequest =>
      request('', [], { acceptedAt, curation: { id: 'c', keyId: 'k', action } });
    const correction = { kind: 'EXCLUDE', of: 'TOPIC', id: 't', text: 'my name is Ana' } as const;
    const made = { kind: 'CREATE', id: 't', name: 'Own', description: '', examples: ['x'] } as const;
    const kept = [decided(correction, 9), decided({ ...made, fromBeginning: true }, 1)];
    const [left] = trim([record(decided(correction, 1), ...kept)], { texts: 5 });
    const { action } = left!.requests[0]!.curation!;
    deepEqual(action, { ...correction, text: '' });
    deepEqual(left!.requests.slice(1), kept);
    deepEqual(trim([record(left!.requests[0]!)], { texts: 5 }), [null]);
    deepEqual(trim([record(decided(correction, 1))], { counts: 5 }), [null]);
  });

  it('takes comments with texts of their time, and authors with names, and leaves the thumbs', () => {
    const given = (acceptedAt: number, userId: string): RecordedRequest =>
      request('a', [], { acceptedAt, feedback: { value: 1, rating: 4, comment: 'I am Ana', userId } });
    const stream: StreamRecord = { v: 5, requests: [given(1, 'ana'), given(9, 'bo')] };
    const [left] = trim([stream], { texts: 5, people: 5 });
    deepEqual(
      left?.requests.map(({ feedback }) => feedback),
      [
        { value: 1, rating: 4, userId: 'nobody-3' },
        { value: 1, rating: 4, comment: 'I am Ana', userId: 'bo' },
      ],
    );
    equal(left?.v, 5);
    deepEqual(trim([left!], { texts: 5, people: 5 }), [null]);
  });

  it('gives people names that lead to nobody, and drops what was said about them', () => {
    const metadata = {
      session: { plan: 'pro' },
      users: { ana: { name: 'Ana' }, bo: { name: 'Bo' } },
      instance: { region: 'eu' },
    };
    const old = request('a', [message(1, 'a1', 'ana')], { metadata });
    const young = request('b', [message(9, 'b1', 'bo')], { metadata });
    const [left, other] = trim([record(old), record(young)], { people: 5 });
    equal(left?.requests[0]!.messages[0]!.userId, 'nobody-3');
    equal(left?.requests[0]!.messages[0]!.content, 'a1');
    deepEqual(left?.requests[0]!.metadata, { instance: { region: 'eu' }, users: { bo: { name: 'Bo' } } });
    deepEqual(other?.requests[0]!.metadata, { ...metadata, users: { bo: { name: 'Bo' } } });
    // Whoever said something since keeps the name everywhere.
    deepEqual(trim([record(request('a', [message(1, 'a1', 'bo')])), record(young)], { people: 5 })[0], null);
  });

  it('drops messages that no longer count, and what was written about old conversations', () => {
    const mixed = request('a', [message(1, 'a1', 'ana'), message(9, 'a2')]);
    const gone = request('b', [message(1, 'b1', 'ana')]);
    const writing = { target: 'session', id: 'b', text: 'x', model: 'm', at: 1 } as const;
    const written = request('b', [], { writing });
    const [left] = trim([record(mixed, gone, written)], { counts: 5, texts: 5 });
    deepEqual(
      left?.requests.map(({ erased, messages }) => [erased, messages.map(({ content }) => content)]),
      [
        [undefined, ['', 'a2']],
        [true, ['']],
        [true, []],
      ],
    );
    equal(left?.requests[0]!.messages[0]!.erased, true);
  });

  it('can be done again, and what is left can be stored', async () => {
    const records = [
      record(request('a', [message(1, 'a1', 'ana'), message(2, 'a2')])),
      record(request('b', [message(1, 'b1', 'bo'), message(9, 'b2', 'bo')])),
    ];
    const cutoffs = { texts: 5, people: 5, counts: 2 };
    const once = trim(records, cutoffs).map((left, at) => left ?? records[at]!);
    for (const left of once)
      deepEqual(decodeRecord(await encodeRecord(left.requests.map(encodeRequest))).requests, left.requests);
    deepEqual(trim(once, cutoffs), [null, null]);
  });
});
