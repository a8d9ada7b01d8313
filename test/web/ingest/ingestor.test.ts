import { describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { AppError } from '../../../src/errors.ts';
import type { AcceptRequest } from '../../../src/web/ingest/acceptor.ts';
import { createIngestor, type IngestRequest, type PreparedSize } from '../../../src/web/ingest/ingestor.ts';
import { createPrepare } from '../../../src/web/ingest/prepared-request.ts';
import type { PrepareContext } from '../../../src/web/ingest/preparer.ts';
import { uuid } from '../../support/fold.ts';

const PROJECT = uuid(1, 1);
const ANSWER = { instanceId: uuid(1, 2), sessionId: uuid(1, 3), position: 7 };

/** An ingestor, and what it asked of its parts. */
function open() {
  const contexts: PrepareContext[] = [];
  const accepted: AcceptRequest[] = [];
  const prepare = createPrepare();
  const ingestor = createIngestor(
    {
      async prepare(body, context) {
        contexts.push(context);
        const prepared = prepare(body, { limit: 1e6, keyed: context.keyed, now: 0 });
        ok(prepared !== null);
        return prepared;
      },
      prepareBatch: async () => [],
    },
    {
      async accept(request) {
        accepted.push(request);
        return ANSWER;
      },
    },
  );
  return { ingestor, contexts, accepted };
}

function request(changes: Partial<IngestRequest> = {}): IngestRequest {
  const bytes = Buffer.from(JSON.stringify({ messages: [{ content: 'a', more: 1 }] }));
  return {
    projectId: PROJECT,
    caller: PROJECT,
    body: { bytes, encoding: 'identity' },
    idempotencyKey: undefined,
    abandoned: () => false,
    mayBegin: () => undefined,
    onPrepared: () => undefined,
    ...changes,
  };
}

async function faultOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  ok(error instanceof AppError);
  return error;
}

describe('ingestor', () => {
  it('prepares the body, says how large it became, stores it and hands its warnings on', async () => {
    const { ingestor, contexts, accepted } = open();
    const sizes: PreparedSize[] = [];
    const { warnings, ...answer } = await ingestor.ingest(
      request({ idempotencyKey: 'k', onPrepared: (size) => sizes.push(size) }),
    );
    deepEqual(answer, ANSWER);
    equal(warnings.unknownMembers, 1);
    deepEqual([contexts[0]?.caller, contexts[0]?.keyed], [PROJECT, true]);
    deepEqual([accepted[0]?.projectId, accepted[0]?.idempotencyKey], [PROJECT, 'k']);
    deepEqual(sizes, [{ messages: 1, bytes: accepted[0]?.body.draft.bytes.length }]);
  });

  it('refuses an Idempotency-Key that is no printable text of at most 255 characters, before it reads', async () => {
    for (const idempotencyKey of ['', 'x'.repeat(256), 'a\nb', 'é', ['a', 'b']]) {
      const { ingestor, contexts } = open();
      const error = await faultOf(ingestor.ingest(request({ idempotencyKey })));
      deepEqual([error.code, error.details?.[0]?.path], ['VALIDATION_ERROR', 'Idempotency-Key']);
      equal(contexts.length, 0);
    }
    const { ingestor } = open();
    await ingestor.ingest(request({ idempotencyKey: 'x'.repeat(255) }));
  });

  it('refuses a request without a body, and stores nothing that there is no room for', async () => {
    const { ingestor, accepted } = open();
    equal((await faultOf(ingestor.ingest(request({ body: undefined })))).code, 'BAD_REQUEST');
    const full = new AppError('SERVICE_UNAVAILABLE', 'full');
    const onPrepared = (): never => {
      throw full;
    };
    equal(await faultOf(ingestor.ingest(request({ onPrepared }))), full);
    equal(accepted.length, 0);
  });
});
