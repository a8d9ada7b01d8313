import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import type { AcceptRequest } from '../../../src/web/ingest/acceptor.ts';
import { createIngestBatch } from '../../../src/web/ingest/batch-ingestor.ts';
import type { MessageRequest, PreparedSize } from '../../../src/web/ingest/ingestor.ts';
import { createPrepareBatch } from '../../../src/web/ingest/prepared-batch.ts';
import { uuid } from '../../support/fold.ts';

const PROJECT = uuid(1, 1);
const ANSWER = { instanceId: uuid(1, 2), sessionId: uuid(1, 3), position: 7 };
const [A, B] = [uuid(2, 1), uuid(2, 2)];

/** Accepts whatever `accept` does not refuse, and remembers what began and ended. */
function open(accept: (accepted: string) => Promise<void> = async () => undefined) {
  const events: string[] = [];
  const keys: (string | undefined)[] = [];
  const prepareBatch = createPrepareBatch();
  const ingestBatch = createIngestBatch(
    {
      async prepareBatch(body) {
        const lines = prepareBatch(body, { limit: 1e6, now: 0 });
        ok(lines !== null);
        return lines;
      },
    },
    {
      async accept({ body, idempotencyKey }: AcceptRequest) {
        const accepted = /"content":"([^"]*)"/.exec(Buffer.from(body.draft.bytes).toString())?.[1] ?? '';
        events.push(`begin ${accepted}`);
        keys.push(idempotencyKey);
        await accept(accepted);
        events.push(`end ${accepted}`);
        return ANSWER;
      },
    },
  );
  return { ingestBatch, events, keys };
}

function request(lines: readonly (object | string)[], changes: Partial<MessageRequest> = {}): MessageRequest {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  return {
    projectId: PROJECT,
    caller: PROJECT,
    body: { bytes: Buffer.from(text), encoding: 'identity' },
    abandoned: () => false,
    mayBegin: () => undefined,
    onPrepared: () => undefined,
    ...changes,
  };
}

const say = (content: string, more: object = {}): object => ({ messages: [{ content }], ...more });

describe('ingest batch', () => {
  it('stores each line or refuses it by itself, and names the lines as they were counted by their sender', async () => {
    const { ingestBatch, keys } = open();
    const sizes: PreparedSize[] = [];
    const outcomes = await ingestBatch(
      request([say('a', { idempotencyKey: 'k' }), '', 'broken', say('', {}), say('b')], {
        onPrepared: (size) => sizes.push(size),
      }),
    );
    deepEqual(
      outcomes.map((one) => [one.line, 'refusal' in one ? one.refusal.code : one.accepted.position]),
      [
        [1, 7],
        [3, 'BAD_REQUEST'],
        [4, 'VALIDATION_ERROR'],
        [5, 7],
      ],
    );
    deepEqual(keys, ['k', undefined]);
    deepEqual([sizes.length, sizes[0]?.messages], [1, 3]);
    ok((sizes[0]?.bytes ?? 0) > 50);
  });

  it('stores lines of one session in their order, and others beside them', async () => {
    const first = Promise.withResolvers<void>();
    const { ingestBatch, events } = open((accepted) =>
      accepted === 'a1' ? first.promise : Promise.resolve(),
    );
    const done = ingestBatch(
      request([
        say('a1', { sessionId: A }),
        say('a2', { sessionId: A.toUpperCase() }),
        say('b1', { sessionId: B }),
      ]),
    );
    await turn();
    deepEqual(events, ['begin a1', 'begin b1', 'end b1']);
    first.resolve();
    await done;
    deepEqual(events.slice(3), ['end a1', 'begin a2', 'end a2']);
  });

  it('lets no line of a session overtake one that has to be sent again', async () => {
    const away = new AppError('SERVICE_UNAVAILABLE', 'away', { retryAfter: 2 });
    const { ingestBatch, events } = open((accepted) =>
      accepted === 'a1' ? Promise.reject(away) : Promise.resolve(),
    );
    const lines = [say('a1', { sessionId: A }), say('a2', { sessionId: A }), say('b', { sessionId: B })];
    const outcomes = await ingestBatch(request(lines));
    deepEqual(
      outcomes.map((one) => [one.line, 'refusal' in one ? one.refusal.code : 'stored']),
      [
        [1, 'SERVICE_UNAVAILABLE'],
        [2, 'SERVICE_UNAVAILABLE'],
        [3, 'stored'],
      ],
    );
    equal(events.includes('begin a2'), false);
  });

  it('is refused as a whole when no line could be stored for now', async () => {
    const away = new AppError('SERVICE_UNAVAILABLE', 'away', { retryAfter: 2 });
    const { ingestBatch } = open(() => Promise.reject(away));
    await rejects(ingestBatch(request([say('a'), say('b')])), away);
    const mixed = await ingestBatch(request([say('a'), 'broken']));
    equal(mixed.length, 2);
  });

  it('fails as a whole, when all lines have ended, for a fault that nobody knows', async () => {
    const { ingestBatch, events } = open((accepted) =>
      accepted === 'a' ? Promise.reject(new Error('what?')) : turn().then(() => undefined),
    );
    await rejects(ingestBatch(request([say('a'), say('b')])), /what\?/);
    ok(events.includes('end b'));
  });

  it('begins no more lines when nobody waits for the answer', async () => {
    let gone = false;
    const { ingestBatch, events } = open(async () => {
      gone = true;
    });
    const lines = Array.from({ length: 200 }, (_, index) => say(`l${index}`));
    const outcomes = await ingestBatch(request(lines, { abandoned: () => gone }));
    const stored = outcomes.filter((one) => 'accepted' in one).length;
    ok(stored > 0 && stored < 200, String(stored));
    equal(events.filter((event) => event.startsWith('begin')).length, stored);
  });

  it('refuses a request without a body, and stores nothing that there is no room for', async () => {
    const { ingestBatch, events } = open();
    await rejects(ingestBatch(request([], { body: undefined })), AppError);
    const full = new AppError('SERVICE_UNAVAILABLE', 'full');
    const onPrepared = (): never => {
      throw full;
    };
    await rejects(ingestBatch(request([say('a')], { onPrepared })), full);
    deepEqual(events, []);
  });
});
