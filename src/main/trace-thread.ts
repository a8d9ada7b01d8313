/**
 * The thread of web that assembles traces.
 *
 * Test: test/e2e/otlp-rules.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createLogger } from '../logger.ts';
import { openConnection } from '../stream/connection.ts';
import { connectionOptions } from '../stream/server/server.ts';
import { openTraceLog } from '../stream/log/trace-log.ts';
import { sendNotice } from '../stream/notices.ts';
import { TRACES_WAITING_SUBJECT } from '../stream/subjects.ts';
import type { LeftOut } from '../doors/traces/assembly/assembly.ts';
import { Assembler } from '../doors/traces/assembly/assembler.ts';
import type { AssemblyParts } from '../doors/traces/assembly/assembly-parts.ts';
import { CachedBucket } from '../doors/traces/assembly/assembly-store.ts';
import { openAssemblyBuckets } from '../doors/traces/assembly/buckets.ts';
import { sendEmission } from '../doors/traces/assembly/emit.ts';
import { OutboxKeys } from '../doors/traces/assembly/outbox-keys.ts';
import { HostPort } from '../doors/traces/assembly/host-port.ts';
import * as records from '../doors/traces/assembly/records.ts';
import type { WaitingNotice } from '../doors/traces/waiting-spans.ts';
import type { TraceThreadData } from './trace-assembly.ts';

const MIB = 2 ** 20;
const [CONVERSATION_CACHE, PAGE_CACHE, TRACE_CACHE] = [24 * MIB, 8 * MIB, 16 * MIB];
const READ_AHEAD_BYTES = 8 * MIB;
/** Interval of figures to the process. */
const TELL_MS = 250;
/** Share of the limit on waiting spans above which a project is listed in a notice. */
const REPORTED_SHARE = 0.1;
/** Maximum full traces in a notice. */
const REPORTED_FULL = 1000;

if (parentPort === null) throw new Error('this is a thread of web');
const host = new HostPort(parentPort);
const { config } = workerData as TraceThreadData;
const logger = createLogger({ name: 'web', level: config.logLevel });

const connection = await openConnection({
  ...connectionOptions(config),
  name: 'undertone traces',
  giveUpAfterMs: Infinity,
});
const { conversations, traces, ...buckets } = await openAssemblyBuckets(connection, {
  replicas: config.streamReplicas,
});
const log = await openTraceLog(connection, READ_AHEAD_BYTES);
const outboxKeys = await OutboxKeys.open(buckets.outboxKeys);
const parts: AssemblyParts = {
  conversations: new CachedBucket(conversations, records.conversationCodec(outboxKeys), CONVERSATION_CACHE),
  pages: new CachedBucket(conversations, records.PAGES, PAGE_CACHE),
  traces: new CachedBucket(traces, records.TRACES, TRACE_CACHE),
  outboxKeys,
  emit: (conversation, emission) => sendEmission(host, conversation, emission),
  isKnownSession: (projectId, name) => host.isKnownSession(projectId, name),
  firstSequence: () => log.firstSequence,
  clock: () => Date.now() * 1000,
  perTrace: config.traceMessages,
  limits: { bytes: Math.min(MIB, connection.maxPayload / 8) },
  guard: () => host.confirm(),
};
/** Traces whose messages were left out, not yet sent in a notice. */
const full: Pick<LeftOut, 'projectId' | 'traceId'>[] = [];
const assembler = new Assembler({
  log,
  parts,
  logger,
  waitMs: config.traceWaitMs,
  maxBytes: config.traceBufferBytes,
  now: () => performance.now(),
  pause: (ms) => sleep(ms),
  onRound: (counts) => {
    host.tell({ kind: 'round', counts });
    for (const { projectId, traceId } of counts.leftOut) full.push({ projectId, traceId });
  },
});
const telling = setInterval(tell, TELL_MS);
host.tell({ kind: 'ready' });
await Promise.race([host.closing, assembler.finished]);
await assembler.close();
clearInterval(telling);
await connection.close();
host.close();

/** Sends figures of waiting work to this process, and to all processes. */
function tell(): void {
  const { traces: waiting, read, spans } = assembler.waiting;
  const all = [...spans.values()].reduce((sum, count) => sum + count, 0);
  host.tell({ kind: 'waiting', traces: waiting, spans: all });
  const many = [...spans].filter(([, count]) => count > config.traceWaitingSpans * REPORTED_SHARE);
  sendNotice(connection, TRACES_WAITING_SUBJECT, {
    read,
    spans: Object.fromEntries(many),
    full: full.splice(0, REPORTED_FULL),
  } satisfies WaitingNotice);
}
