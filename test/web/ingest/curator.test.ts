import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { AskedCuration } from '../../../src/domain/asked-curations.ts';
import { UUID_PATTERN } from '../../../src/domain/ids.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { AppError } from '../../../src/errors.ts';
import { createCurator, type Curated } from '../../../src/web/ingest/curator.ts';
import { createClaimTurns } from '../../../src/web/ingest/claim-turns.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';
import type { Instance } from '../../../src/web/registry/registry.ts';
import { memoryIdempotency } from '../../support/memory-idempotency.ts';

const PROJECT = '0192f0a0-0000-7000-8000-000000000001';
const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';
const [TOPIC, HEIR] = ['0192f0a0-0000-7000-8000-00000000000b', '0192f0a0-0000-7000-8000-00000000000c'];
const NOW = 1_772_366_400_000_000;

describe('curator', () => {
  let published: RecordedRequest[];
  let checks: number;
  /** What the publisher says. */
  let refuses: AppError | null;
  let now: number;
  let instance: Instance | null;
  let curate: (asked: AskedCuration, idempotencyKey?: string) => Promise<Curated>;

  beforeEach(() => {
    [published, checks, refuses, now, instance] = [[], 0, null, NOW, null];
    const publisher = {
      check: async () => {
        if (refuses !== null) throw refuses;
      },
      async publish(request: RecordedRequest | object) {
        // Read back as the worker reads it.
        const record = decodeRecord(await encodeRecord([encodeRequest(request as RecordedRequest)]));
        equal(record.v, 3);
        published.push(...record.requests);
        return 40 + published.length;
      },
      pendingBytes: 0,
      drain: async () => undefined,
    };
    const curator = createCurator({
      publisher,
      registry: { findInstance: async () => instance },
      masker: {
        texts: async (_, texts) => texts.map((text) => text.replace('ann@example.com', '[EMAIL_1]')),
      },
      idempotency: memoryIdempotency(),
      turns: createClaimTurns(),
      clock: () => now,
    });
    curate = (asked, idempotencyKey) =>
      curator.curate({
        projectId: PROJECT,
        keyId: 'key_1',
        instanceId: INSTANCE,
        asked,
        messages: 240,
        idempotencyKey,
        check: async (wanted) => {
          checks += 1;
          // A second time, what was asked for is done.
          if (checks > 1) throw new AppError('CONFLICT', 'is done');
          return wanted.kind === 'MERGE' ? { ...wanted, into: HEIR } : wanted;
        },
      });
  });

  it('masks what quotes users where the instance masks', async () => {
    const asked = {
      kind: 'LABEL',
      id: null,
      name: 'Ann',
      description: '',
      examples: ['Write to ann@example.com', 'b'],
      counterexamples: ['ann@example.com'],
    } as const;
    await curate(asked);
    instance = { id: INSTANCE, masking: { texts: true, userIds: 'asSent' } } as Instance;
    checks = 0;
    await curate(asked);
    deepEqual(
      published.map(
        ({ curation }) =>
          curation?.action.kind === 'LABEL' && [
            ...curation.action.examples,
            ...curation.action.counterexamples,
          ],
      ),
      [
        ['Write to ann@example.com', 'b', 'ann@example.com'],
        ['Write to [EMAIL_1]', 'b', '[EMAIL_1]'],
      ],
    );
  });

  it('publishes what is settled, with its key and no session, and says where', async () => {
    const { curationId, made, position } = await curate({ kind: 'MERGE', id: TOPIC, into: INSTANCE });
    const [request] = published;
    deepEqual(request, {
      requestId: request?.requestId,
      projectId: PROJECT,
      instanceId: INSTANCE,
      sessionId: '',
      acceptedAt: NOW,
      messages: [],
      curation: {
        id: curationId,
        keyId: 'key_1',
        action: { kind: 'MERGE', id: TOPIC, into: HEIR },
        messages: 240,
      },
    });
    deepEqual([made, position], [null, 41]);
    ok(UUID_PATTERN.test(curationId) && UUID_PATTERN.test(request?.requestId ?? ''));
    notEqual(curationId, request?.requestId);
  });

  it('refuses a day of a fix that has not come, but not a release that has not', async () => {
    const fixed = { kind: 'TRACK', of: 'GAP', id: TOPIC, state: 'FIXED' } as const;
    await rejects(
      curate({ ...fixed, fixedAt: NOW + 3_600_000_000 }),
      (error: unknown) =>
        error instanceof AppError &&
        error.code === 'VALIDATION_ERROR' &&
        error.details?.[0]?.path === 'fixedAt',
    );
    deepEqual([published.length, checks], [0, 0]);
    await curate({ ...fixed, fixedAt: NOW }, 'once');
    // A retry is not read anew, even where the clock was set back.
    now -= 3_600_000_000;
    await curate({ ...fixed, fixedAt: NOW }, 'once');
    checks = 0;
    await curate({ ...fixed, release: { name: 'version', value: '99' } });
    equal(published.length, 3);
  });

  it('gives what is made an id', async () => {
    const moved = await curate({ kind: 'MOVE', id: TOPIC, cluster: null, clusterName: 'Parcels' });
    equal(moved.made?.what, 'cluster');
    deepEqual(published[0]?.curation?.action, {
      kind: 'MOVE',
      id: TOPIC,
      cluster: moved.made?.id,
      clusterName: 'Parcels',
    });
    checks = 0;
    const create = { name: 'Gifts', description: '', examples: ['Wrap it'], fromBeginning: true };
    const { made } = await curate({ kind: 'CREATE', ...create });
    deepEqual(published[1]?.curation?.action, { kind: 'CREATE', id: made?.id, ...create });
    ok(UUID_PATTERN.test(made?.id ?? '') && made?.id !== moved.made?.id);
  });

  it('stores the same for the same Idempotency-Key and body, and looks at it once', async () => {
    const asked = { kind: 'MOVE', id: TOPIC, cluster: null, clusterName: 'Parcels' } as const;
    const first = await curate(asked, 'once');
    now += 5_000_000;
    deepEqual(await curate(asked, 'once'), { ...first, position: 42 });
    deepEqual(published[1], published[0]);
    equal(checks, 1);
    await rejects(curate({ ...asked, clusterName: 'Other' }, 'once'), { code: 'CONFLICT' });
    await rejects(curate(asked, 'twice'), { code: 'CONFLICT', message: 'is done' });
    equal(published.length, 2);
  });

  it('remembers no key of what was refused', async () => {
    const asked = { kind: 'HIDE', id: TOPIC } as const;
    refuses = new AppError('SERVICE_UNAVAILABLE', 'full');
    await rejects(curate(asked, 'once'), { code: 'SERVICE_UNAVAILABLE' });
    [refuses, checks] = [null, 0];
    // With another body the key is free.
    await curate({ kind: 'HIDE', id: HEIR }, 'once');
    equal(published.length, 1);
  });
});
