import { deepEqual, match } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { v5 } from 'uuid';
import type { ErasedKind, Erasure, ErasureDigest } from '../../../src/domain/erasures.ts';
import { openAssemblyBuckets, type AssemblyBuckets } from '../../../src/doors/traces/assembly/buckets.ts';
import { MergedSpans } from '../../../src/doors/traces/assembly/merged-spans.ts';
import { OutboxKeys } from '../../../src/doors/traces/assembly/outbox-keys.ts';
import {
  encodeConversation,
  KEPT,
  NOTHING_KNOWN,
  TRACES,
  type Conversation,
} from '../../../src/doors/traces/assembly/records.ts';
import { traceKey } from '../../../src/doors/traces/assembly/trace-plan.ts';
import { findErasedTraces } from '../../../src/doors/traces/find-erased.ts';
import type { Observation } from '../../../src/doors/traces/observation.ts';
import { sealedId, tokenKeys } from '../../../src/doors/traces/tokens.ts';
import { encodeTraceEntry, type TraceEntry } from '../../../src/doors/traces/trace-entry.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { encodeRecord } from '../../../src/stream/log/codec.ts';
import { setUpStreams } from '../../../src/stream/stream-setup.ts';
import { TRACES_STREAM, TRACES_SUBJECT } from '../../../src/stream/subjects.ts';
import { digestedUserId } from '../../../src/web/ingest/masker.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

const PROJECT = '11111111-1111-4111-8111-111111111111';
const INSTANCE = '22222222-2222-4222-8222-222222222222';
const OTHER = '33333333-3333-4333-8333-333333333333';
const REQUESTED_AT = '2026-11-28T12:00:00.000Z';
const [EARLIER, LATER] = [-1, 1].map((hours) => (Date.parse(REQUESTED_AT) + hours * 3_600_000) * 1000) as [
  number,
  number,
];
const digest: ErasureDigest = (...parts) => createHash('sha256').update(parts.join(' ')).digest('hex');
const maskDigest = (parts: readonly string[]): string =>
  createHash('sha256')
    .update(`mask ${parts.join(' ')}`)
    .digest('base64url');
const registry = { maskDigest, findInstance: async () => null, issueSessionId: () => '' };

function erasureOf(kind: ErasedKind, name: string): Erasure {
  return {
    id: v5('erasure', INSTANCE),
    projectId: PROJECT,
    instanceId: INSTANCE,
    kind,
    digest: digest(kind, INSTANCE, name),
    keyId: 'key',
    reason: null,
    requestedAt: REQUESTED_AT,
    doneAt: null,
    position: 1,
    state: 'DONE',
    receipt: null,
    fault: null,
  };
}
const ALL = erasureOf('INSTANCE', INSTANCE);
const CHAT = erasureOf('SESSION', v5('chat', INSTANCE));
const ANA = erasureOf('END_USER', 'ana');

describe('what is left of an erasure in traces', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let buckets: AssemblyBuckets;
  let keys: OutboxKeys;
  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    buckets = await openAssemblyBuckets(connection);
  });
  beforeEach(async () => {
    const { streams } = await jetstreamManager(connection.nats, { checkAPI: false });
    for (const stream of [TRACES_STREAM, 'KV_conversations', 'KV_traces']) await streams.purge(stream);
    keys = await OutboxKeys.open(buckets.outboxKeys);
    await keys.prepare();
  });
  after(async () => {
    await connection?.close();
    await server?.stop();
  });

  async function plant({
    at,
    id = 'chat',
    instanceId = INSTANCE,
    userId,
  }: {
    readonly at: number;
    readonly id?: string;
    readonly instanceId?: string;
    /** Of a message that waits. */
    readonly userId?: string;
  }): Promise<void> {
    const message = { role: 'user', content: 'Where is it?', at, userId: userId ?? '' } as const;
    const emission = { seed: 'seed', acceptedAt: at, since: 1, messages: [message] };
    const conversation: Conversation = {
      projectId: PROJECT,
      name: { instanceId, id },
      turns: [{ role: 'user', hash: 'h'.repeat(11), at, inferred: null, trace: 't'.repeat(12) }],
      merged: new MergedSpans(KEPT.merged),
      forgotten: false,
      outbox: userId === undefined ? [] : [emission],
      emissions: 1,
    };
    await buckets.conversations.put(`${instanceId}-${id}`, encodeConversation(conversation, keys));
    await buckets.conversations.put('page', JSON.stringify({ v: 1, digests: ['d'] }));
  }

  async function wait(span: Partial<Observation>, head: Partial<TraceEntry> = {}): Promise<void> {
    const times = { startedAt: EARLIER, endedAt: EARLIER };
    const said = { asked: [], answered: [], lacksContent: false };
    const one = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), kind: 'chat', ...times, ...said, ...span };
    const entry = encodeTraceEntry(
      { projectId: PROJECT, instanceId: null, defaultInstanceId: INSTANCE, unknownInstanceIds: [], ...head },
      Buffer.from(JSON.stringify([one])),
    );
    await jetstream(connection.nats).publish(TRACES_SUBJECT, await encodeRecord([entry]));
  }

  const leftOf = async (erasure: Erasure, spoken: readonly string[] | null = []): Promise<string> => {
    const sessions = async () => (spoken === null ? null : new Set(spoken));
    const { left } = await findErasedTraces({ connection, buckets, registry, digest }, erasure, sessions);
    return left.join('\n');
  };

  it('is nothing where there is nothing of it', async () => {
    await plant({ at: EARLIER, instanceId: OTHER, userId: 'ana' });
    await plant({ at: LATER, userId: 'ana' });
    await wait({ userId: 'ana', conversationId: 'chat', startedAt: LATER });
    await wait({ userId: 'ana', conversationId: 'chat', traceId: 'c'.repeat(32), instanceId: OTHER });
    for (const erasure of [ALL, CHAT, ANA]) deepEqual(await leftOf(erasure), '');
  });

  it('is a conversation with turns from before', async () => {
    await plant({ at: EARLIER });
    for (const erasure of [ALL, CHAT, ANA])
      match(await leftOf(erasure), /^1 conversations .* digests of turns/);
    deepEqual(await leftOf(erasureOf('SESSION', v5('another', INSTANCE))), '');
  });

  it('is no conversation of which the stream still holds messages from before', async () => {
    await plant({ at: EARLIER });
    deepEqual(await leftOf(ANA, [v5('chat', INSTANCE)]), '');
  });

  it('is not known of an end user where the stream has lost messages otherwise', async () => {
    await plant({ at: EARLIER });
    const settings = { connection, buckets, registry, digest };
    const { left, unseen } = await findErasedTraces(settings, ANA, async () => null);
    deepEqual(left, []);
    match(unseen.join('\n'), /the turns of 1 conversations .*: the stream no longer holds all/);
  });

  it('is a message that is not stored yet', async () => {
    await plant({ at: EARLIER, userId: 'ana' });
    for (const erasure of [ALL, CHAT, ANA])
      match(await leftOf(erasure), /1 messages of it .* can still be opened/);
    deepEqual(await leftOf(erasureOf('END_USER', 'bo')), '');
    await keys.settle(Infinity, 1);
    match(await leftOf(ANA), /^1 conversations .* digests of turns[^\n]*$/);
  });

  it('is a span that waits, also by what others of its trace say', async () => {
    await wait({ userId: 'ana', conversationId: 'chat' });
    await wait({ spanId: 'd'.repeat(16) });
    for (const erasure of [ALL, CHAT, ANA]) match(await leftOf(erasure), /^2 spans of it wait/);
    deepEqual(await leftOf(erasureOf('END_USER', 'bo')), '');
  });

  it('is a span whose trace is known from spans that are done', async () => {
    const traceId = 'a'.repeat(32);
    await wait({ traceId }, { defaultInstanceId: OTHER });
    for (const erasure of [ALL, CHAT, ANA]) deepEqual(await leftOf(erasure), '');
    const ids = { userId: 'ana', conversationId: 'chat', instanceId: INSTANCE };
    const known = TRACES.encode({ ...NOTHING_KNOWN, ids });
    await buckets.traces.create(traceKey({ projectId: PROJECT, traceId }), known);
    for (const erasure of [ALL, CHAT, ANA]) match(await leftOf(erasure), /^1 spans of it wait/);
  });

  it('is a span of a conversation that is its trace', async () => {
    await wait({});
    match(await leftOf(erasureOf('SESSION', v5(`trace:${'a'.repeat(32)}`, INSTANCE))), /^1 spans/);
  });

  it('is found by ids that are sealed, and by digests of them', async () => {
    const keysOfProject = tokenKeys(maskDigest, PROJECT);
    await wait({ userId: sealedId('ana', keysOfProject), conversationId: sealedId('chat', keysOfProject) });
    const digested = erasureOf('END_USER', digestedUserId(maskDigest, INSTANCE, 'ana'));
    for (const erasure of [CHAT, ANA, digested]) match(await leftOf(erasure), /^1 spans/);
  });

  it('is not looked for of single messages', async () => {
    await plant({ at: EARLIER, userId: 'ana' });
    deepEqual(await leftOf(erasureOf('MESSAGES', '1')), '');
  });
});
