import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { CurationAction } from '../../../src/domain/curations.ts';
import {
  completeRequest,
  decodeRecord,
  DecodeError,
  draftRequest,
  encodeRecord,
  encodeRequest,
  inflatedSizeOf,
  MAX_INFLATED_BYTES,
  sizeOf,
} from '../../../src/stream/log/codec.ts';
import { recordedRequest } from '../../support/requests.ts';

const message = fc.record(
  { content: fc.string({ unit: 'binary', maxLength: 200 }), role: fc.string(), at: fc.nat() },
  { noNullPrototype: true },
);

/** As a stream, of which the size is not known to the compressor, or is told to it. */
const compress = (text: string, pledgedSrcSize: number | undefined): Promise<Buffer> =>
  promisify(zstdCompress)(text, pledgedSrcSize === undefined ? {} : { pledgedSrcSize });

describe('record codec', () => {
  it('gives back what was encoded, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(message, { maxLength: 20 }), { minLength: 1, maxLength: 20 }),
        async (lists) => {
          const requests = lists.map((messages) => recordedRequest({ messages }));
          deepEqual(decodeRecord(await encodeRecord(requests.map(encodeRequest))), { v: 1, requests });
        },
      ),
      { numRuns: 50, seed: 7 },
    );
  });

  it('completes a draft with the time of acceptance and the ids', async () => {
    const draftMessage = fc.record(
      { content: fc.string({ unit: 'binary', maxLength: 50 }), role: fc.string(), at: fc.nat() },
      { noNullPrototype: true, requiredKeys: ['content', 'role'] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(draftMessage, { minLength: 1, maxLength: 20 }),
        fc.option(fc.record({ session: fc.dictionary(fc.string(), fc.string()) }), { nil: undefined }),
        fc.constantFrom(5, 999_999_999_999_999, 1_772_366_400_000_000),
        async (drafted, metadata, acceptedAt) => {
          const given = metadata === undefined ? {} : { metadata: { session: { ...metadata.session } } };
          const draft = draftRequest({ messages: drafted, ...given });
          const messages = drafted.map((one) => ({ ...one, at: one.at ?? acceptedAt }));
          const request = { ...recordedRequest({ messages, acceptedAt }), ...given };
          deepEqual(decodeRecord(await encodeRecord([completeRequest(draft, request)])).requests, [request]);
        },
      ),
      { numRuns: 50, seed: 7 },
    );
  });

  it('knows what a payload inflates to', async () => {
    for (const length of [1, 200, 900, 3000, 60_000, 300_000, 20_000_000]) {
      const request = recordedRequest({ messages: [{ content: 'x'.repeat(length), role: 'user', at: 1 }] });
      const json = JSON.stringify({ v: 1, requests: [request] });
      equal(inflatedSizeOf(await encodeRecord([encodeRequest(request)])), json.length);
      // Heads of other forms: without the size, as earlier versions wrote them, and of short frames.
      for (const text of [json, json.slice(0, 100)])
        for (const given of [undefined, text.length])
          equal(inflatedSizeOf(await compress(text, given)), text.length);
    }
    equal(inflatedSizeOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])), MAX_INFLATED_BYTES);
    equal(inflatedSizeOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 1, 2, 3])), MAX_INFLATED_BYTES);
    equal(inflatedSizeOf(new Uint8Array()), 0);
  });

  for (const count of [1, 100, 5000]) {
    it(`compresses above 1 KB and reads it again: ${count} messages`, async () => {
      const messages = Array.from({ length: count }, (_, i) => ({
        content: `message ${i}`,
        role: 'user',
        at: i,
      }));
      const request = recordedRequest({ messages });
      const bytes = await encodeRecord([encodeRequest(request)]);
      equal(String.fromCharCode(bytes[0] ?? 0), count === 1 ? '{' : '(');
      if (count > 1) ok(bytes.length < sizeOf(encodeRequest(request)) / 3);
      deepEqual(decodeRecord(bytes).requests, [request]);
    });
  }

  const writing = { target: 'topic' as const, id: 't', text: 'Late parcels', model: 'm', at: 3 };

  it('gives back what a writer wrote, in a record that earlier code refuses', async () => {
    const written = recordedRequest({ messages: [], sessionId: '', writing });
    const bytes = await encodeRecord([encodeRequest(written)]);
    deepEqual(decodeRecord(bytes), { v: 2, requests: [written] });
    const both = [encodeRequest(recordedRequest()), encodeRequest(written)];
    equal(decodeRecord(await encodeRecord(both)).v, 2);
  });

  const curations: CurationAction[] = [
    { kind: 'RENAME', entity: 'CLUSTER', id: 'c', name: 'Parcels' },
    { kind: 'PIN', entity: 'GAP', id: 'g' },
    { kind: 'MERGE', id: 't', into: 'u' },
    { kind: 'MOVE', id: 't', cluster: 'c', clusterName: 'Money' },
    { kind: 'HIDE', id: 't' },
    { kind: 'CREATE', id: 't', name: 'A', description: '', examples: ['where is it'], fromBeginning: true },
    { kind: 'ASSIGN', of: 'TOPIC', id: 't', text: 'a'.repeat(4000) },
    { kind: 'EXCLUDE', of: 'TOPIC', id: 't', text: 'where is it' },
    { kind: 'EXCLUDE', of: 'SIGNAL', id: 's', position: 7 },
    { kind: 'ASSIGN', of: 'OUTCOME', id: 's', outcome: 'gave_up' },
    { kind: 'CHECK', of: 'TOPIC', id: 't', session: 's', verdict: 'NO', reader: 'my-model' },
    { kind: 'ROUTE', id: 'o', unclaimed: 'OTHER' },
    { kind: 'UNDO', id: 'x' },
  ];
  for (const action of curations) {
    const curation = { id: 'x', keyId: 'k', action, messages: 200 };
    it(`gives back a curation: ${action.kind}`, async () => {
      const request = recordedRequest({ messages: [], sessionId: '', curation });
      deepEqual(decodeRecord(await encodeRecord([encodeRequest(request)])), { v: 3, requests: [request] });
      throws(() => decodeRecord(json({ ...first, messages: [], curation }, 2)), /0\.curation/);
      throws(() => decodeRecord(json({ ...first, curation }, 3)), /a curation and messages/);
      const { id: _, ...without } = action;
      const damaged = { ...curation, action: without };
      throws(() => decodeRecord(json({ ...first, messages: [], curation: damaged }, 3)), /0\.curation/);
      const endless = { ...curation, messages: 0.5 };
      throws(() => decodeRecord(json({ ...first, messages: [], curation: endless }, 3)), /0\.curation/);
    });
  }

  it('gives back an erasure, in a record that earlier code refuses', async () => {
    const erasure = { id: 'x', kind: 'END_USER', digest: 'd' } as const;
    const request = recordedRequest({ messages: [], sessionId: '', erasure });
    deepEqual(decodeRecord(await encodeRecord([encodeRequest(request)])), { v: 4, requests: [request] });
    throws(() => decodeRecord(json({ ...first, messages: [], erasure }, 3)), /0\.erasure/);
    throws(() => decodeRecord(json({ ...first, erasure }, 4)), /an erasure and messages/);
    for (const damaged of [
      { kind: 'TOPIC' },
      { id: 1 },
      { digest: 'd'.repeat(101) },
      { digest: undefined },
    ]) {
      const broken = { ...first, messages: [], erasure: { ...erasure, ...damaged } };
      throws(() => decodeRecord(json(broken, 4)), /0\.erasure/);
    }
  });

  it('gives back the places of what was erased, in a record that earlier code refuses', async () => {
    const place = { content: '', role: '', at: 0, erased: true } as const;
    const some = recordedRequest({ messages: [place, { content: 'It stays', role: 'user', at: 2 }] });
    const whole = recordedRequest({ messages: [place, place], sessionId: '', erased: true });
    for (const request of [some, whole]) {
      const requests = [recordedRequest(), request];
      deepEqual(decodeRecord(await encodeRecord(requests.map(encodeRequest))), { v: 4, requests });
    }
    throws(() => decodeRecord(json({ ...first, erased: true }, 3)), /0\.erased/);
    throws(() => decodeRecord(json({ ...first, erased: false }, 4)), /0\.erased/);
    for (const [message, version] of [
      [place, 3],
      [{ ...place, erased: 1 }, 4],
    ] as const)
      throws(() => decodeRecord(json({ ...first, messages: [message] }, version)), /0\.messages\.0/);
  });

  const [first] = [JSON.parse(JSON.stringify(recordedRequest())) as Record<string, unknown>];
  const broken: [string, Uint8Array, RegExp][] = [
    ['empty', Buffer.alloc(0), /neither JSON nor zstd/],
    ['random bytes', Buffer.from([1, 2, 3]), /neither/],
    [
      'broken JSON, without quoting it',
      Buffer.from('{"v":1,"requests":[my secret]}'),
      /zstd of it: a syntax error$/,
    ],
    ['bad UTF-8', Buffer.from([0x22, 0xff, 0x22]), /neither/],
    ['cut zstd', zstdCompressSync(Buffer.from('{"v":1,"requests":[]}')).subarray(0, 12), /neither/],
    ['a zstd bomb', zstdCompressSync(Buffer.alloc(300 * 1024 * 1024)), /neither/],
    ['no object', Buffer.from('[]'), /no object/],
    ['a later version', Buffer.from('{"v":6,"requests":[]}'), /version 6/],
    ['no requests', Buffer.from('{"v":1}'), /no list of requests/],
    ['a writing in a record of version 1', json({ ...first, messages: [], writing }), /0\.writing/],
    [
      'a writing about nothing',
      json({ ...first, messages: [], writing: { ...writing, target: 'x' } }, 2),
      /0\.wri/,
    ],
    [
      'a writing without a count',
      json({ ...first, messages: [], writing: { ...writing, at: 0.5 } }, 2),
      /0\.wri/,
    ],
    [
      'a writing that is a book',
      json({ ...first, messages: [], writing: { ...writing, text: 'x'.repeat(1001) } }, 2),
      /0\.wri/,
    ],
    ['a writing with messages', json({ ...first, writing }, 2), /a writing and messages/],
    ['a request without session', json({ ...first, sessionId: 7 }), /requests\.0\.sessionId/],
    ['a request without time', json({ ...first, acceptedAt: 'now' }), /requests\.0\.acceptedAt/],
    ['a message without content', json({ ...first, messages: [{ role: 'user', at: 1 }] }), /messages\.0/],
    [
      'a message with a fractional time',
      json({ ...first, messages: [{ content: '', role: '', at: 1.5 }] }),
      /messages\.0/,
    ],
  ];
  for (const [name, bytes, reason] of broken) {
    it(`refuses ${name} with a DecodeError`, () => {
      throws(
        () => decodeRecord(bytes),
        (error) => error instanceof DecodeError && reason.test(error.message),
      );
    });
  }
});

function json(request: unknown, v = 1): Buffer {
  return Buffer.from(JSON.stringify({ v, requests: [request] }));
}
