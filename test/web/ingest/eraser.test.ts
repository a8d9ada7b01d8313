import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { erasureRecord } from '../../../src/domain/erasure-record.ts';
import type { Erasure } from '../../../src/domain/erasures.ts';
import { UUID_PATTERN } from '../../../src/domain/ids.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { AppError } from '../../../src/errors.ts';
import { createClaimTurns } from '../../../src/web/ingest/claim-turns.ts';
import { createEraser, type EraseRequest } from '../../../src/web/ingest/eraser.ts';
import { ErasureLedger } from '../../../src/stream/ledgers/erasure-ledger.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { memoryIdempotency } from '../../support/memory-idempotency.ts';

const PROJECT = '0192f0a0-0000-7000-8000-000000000001';
const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';
/** Microseconds. */
const NOW = 1_772_366_400_123_000;

describe('eraser', () => {
  let published: RecordedRequest[];
  /** What happened, in order. */
  let steps: string[];
  /** What the publisher says: to `check`, and to `publish`. */
  let refuses: { check?: AppError; publish?: AppError };
  let now: number;
  let ledger: ErasureLedger;
  let erase: (changes?: Partial<EraseRequest>) => Promise<Erasure>;

  beforeEach(() => {
    [published, steps, refuses, now] = [[], [], {}, NOW];
    ledger = new ErasureLedger(new MemoryBucket());
    const publisher = {
      check: async () => {
        if (refuses.check !== undefined) throw refuses.check;
      },
    };
    const eraser = createEraser({
      publisher,
      publish: async (request) => {
        if (refuses.publish !== undefined) throw refuses.publish;
        steps.push('publish');
        // Read back as the worker reads it.
        const record = decodeRecord(await encodeRecord([encodeRequest(request)]));
        equal(record.v, 4);
        published.push(...record.requests);
        return 40 + published.length;
      },
      ledger: {
        add: async (erasure) => {
          steps.push(`add at ${erasure.position}`);
          return ledger.add(erasure);
        },
        place: async (erasure, position) => {
          steps.push(`place at ${position}`);
          return ledger.place(erasure, position);
        },
      },
      digest: (...parts) => `digest of ${parts.join(' ')}`,
      idempotency: memoryIdempotency(),
      turns: createClaimTurns(),
      clock: () => now,
    });
    erase = (changes = {}) =>
      eraser.erase({
        projectId: PROJECT,
        keyId: 'key_1',
        instanceId: INSTANCE,
        kind: 'END_USER',
        name: 'ana',
        positions: [],
        reason: 'Request 4711',
        idempotencyKey: undefined,
        check: async () => void steps.push('check'),
        record: async () => void steps.push('record'),
        ...changes,
      });
  });

  it('keeps who asked, then the erasure, then publishes it, and says where', async () => {
    const erasure = await erase();
    deepEqual(steps, ['check', 'record', 'add at 0', 'publish', 'place at 41']);
    deepEqual(erasure, {
      id: erasure.id,
      projectId: PROJECT,
      instanceId: INSTANCE,
      kind: 'END_USER',
      digest: `digest of END_USER ${INSTANCE} ana`,
      keyId: 'key_1',
      reason: 'Request 4711',
      requestedAt: new Date(NOW / 1000).toISOString(),
      doneAt: null,
      position: 41,
      state: 'ACCEPTED',
      receipt: null,
      fault: null,
    });
    deepEqual(await ledger.find(PROJECT, erasure.id), erasure);
    deepEqual(published, [erasureRecord(erasure)]);
    const [{ requestId, ...request }] = published as [RecordedRequest];
    deepEqual(request, {
      projectId: PROJECT,
      instanceId: INSTANCE,
      sessionId: '',
      acceptedAt: NOW,
      messages: [],
      erasure: { id: erasure.id, kind: 'END_USER', digest: erasure.digest },
    });
    ok(UUID_PATTERN.test(erasure.id) && UUID_PATTERN.test(requestId) && requestId !== erasure.id);
  });

  it('gives the same erasure for the same Idempotency-Key and body, and looks at it once', async () => {
    const first = await erase({ idempotencyKey: 'once' });
    now += 5_000_000;
    steps = [];
    deepEqual(await erase({ idempotencyKey: 'once' }), first);
    deepEqual(steps, ['record', 'add at 0']);
    await rejects(erase({ idempotencyKey: 'once', name: 'bo' }), { code: 'CONFLICT' });
    const second = await erase({ idempotencyKey: 'twice' });
    ok(second.id > first.id);
    equal(published.length, 2);
  });

  it('loses nothing when it ends before it has published: the retry goes on', async () => {
    refuses.publish = new AppError('SERVICE_UNAVAILABLE', 'silent');
    await rejects(erase({ idempotencyKey: 'once' }), { code: 'SERVICE_UNAVAILABLE' });
    const [waiting] = await ledger.list(PROJECT);
    equal(waiting?.position, 0);
    delete refuses.publish;
    deepEqual(await erase({ idempotencyKey: 'once' }), { ...waiting, position: 41 });
    // What somebody else publishes for the ledger is the same request, and the first position stays.
    deepEqual(erasureRecord(waiting), published[0]);
    equal((await ledger.place(waiting, 99)).position, 41);
  });

  it('erases nothing that is refused, and remembers no key of it', async () => {
    const notFound = new AppError('NOT_FOUND', 'unknown');
    await rejects(erase({ idempotencyKey: 'once', check: () => Promise.reject(notFound) }), notFound);
    const full = new AppError('SERVICE_UNAVAILABLE', 'full');
    refuses.check = full;
    await rejects(erase({ idempotencyKey: 'once' }), full);
    delete refuses.check;
    await rejects(erase({ record: () => Promise.reject(full) }), full);
    deepEqual([published, await ledger.list()], [[], []]);
    // With another body the key is free.
    await erase({ idempotencyKey: 'once', name: 'bo' });
    equal(published.length, 1);
  });
});
