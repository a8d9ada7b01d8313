/**
 * Runs the assembly of traces in a thread of web, while this process holds the lease.
 *
 * Test: test/e2e/otlp-rules.test.ts.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { AppError, ERROR_CODES } from '../errors.ts';
import type { AssemblyFigures } from '../web/trace-metrics.ts';
import type { Logger } from '../logger.ts';
import type { Registry } from '../web/registry/registry.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { hearNotices } from '../stream/notices.ts';
import { TRACES_WAITING_SUBJECT } from '../stream/subjects.ts';
import type { Lease } from '../stream/kv/lease.ts';
import { Leases } from '../stream/kv/leases.ts';
import { isDeadHolder, thisHolder } from '../stream/kv/process-identity.ts';
import { AssemblyThread } from '../doors/traces/assembly/assembly-thread.ts';
import { openAssemblyBuckets } from '../doors/traces/assembly/buckets.ts';
import {
  acceptEmitted,
  openedName,
  sessionIdOf,
  type EmissionTakers,
} from '../doors/traces/assembly/emit.ts';
import { keepAssembling } from '../doors/traces/assembly/keep-assembling.ts';
import type { AssemblyHost, EmittedRequest } from '../doors/traces/assembly/thread-protocol.ts';
import { noticeOf, type WaitingSpans } from '../doors/traces/waiting-spans.ts';

const THREAD_FILE = join(import.meta.dirname, 'trace-thread.ts');
const REOPEN_MS = 1000;
const MIB = 2 ** 20;
/** Heap of the thread without its buffer: caches of conversations and traces, and work in progress. */
const HEAP_MIB = 384;
/** Heap per byte of buffer: waiting spans are decoded and joined. */
const HEAP_FOR_BUFFER = 3;

/** Start data of the thread. */
export interface TraceThreadData {
  readonly config: Pick<
    Config,
    | 'dataDir'
    | 'natsPort'
    | 'natsUrl'
    | 'natsToken'
    | 'streamReplicas'
    | 'traceWaitMs'
    | 'traceBufferBytes'
    | 'traceWaitingSpans'
    | 'traceMessages'
    | 'logLevel'
  >;
}

export interface TraceAssemblyOptions extends TraceThreadData, Pick<EmissionTakers, 'acceptor' | 'feedback'> {
  readonly connection: StreamConnection;
  readonly registry: Registry;
  /** Receives the number of waiting spans, whichever process assembles. */
  readonly waiting: Pick<WaitingSpans, 'hear'>;
  readonly logger: Logger;
}

/** Assembles conversations while this process holds the lease. */
export interface TraceAssembly {
  /** Null while another process assembles. */
  readonly figures: AssemblyFigures | null;
  close(): Promise<void>;
}

/** Competes for the lease of assembly, and assembles while it is held. Rejects if the buckets cannot be opened. */
export async function openTraceAssembly(options: TraceAssemblyOptions): Promise<TraceAssembly> {
  const { connection, config, logger } = options;
  const replicas = config.streamReplicas;
  // The thread opens them too, but errors should end the start of web.
  await openAssemblyBuckets(connection, { replicas });
  const stopHearing = hearNotices(connection, TRACES_WAITING_SUBJECT, (value) => {
    const notice = noticeOf(value);
    if (notice !== null) options.waiting.hear(notice);
  });
  const counts = { traces: 0, messages: 0, refused: 0, lostFeedback: 0 };
  let ending = new AbortController();
  let working: Promise<void> = Promise.resolve();
  let thread: AssemblyThread | null = null;
  const holder = thisHolder();
  const leases = await Leases.open(connection, {
    scope: 'trace-assembly',
    shards: 1,
    holder,
    isDead: isDeadHolder(holder),
    onGained: (lease) => {
      const host = hostOf(options, lease, ({ messages, feedback }) => {
        counts.refused += messages;
        if (feedback !== undefined) counts.lostFeedback += 1;
      });
      ending = new AbortController();
      working = keepAssembling({
        open: (signal) =>
          AssemblyThread.start({
            file: THREAD_FILE,
            data: threadDataOf(config),
            heapMiB: HEAP_MIB + Math.ceil((HEAP_FOR_BUFFER * config.traceBufferBytes) / MIB),
            host,
            onRound: (round) => {
              counts.traces += round.traces;
              counts.messages += round.messages;
              counts.lostFeedback += round.lostFeedback;
              for (const { projectId, traceId, messages } of round.leftOut) {
                counts.refused += messages;
                const fields = { event: 'trace_full', projectId, traceId, messages };
                logger.warn(
                  fields,
                  'messages of a trace are left out: it may bring no more (TRACE_MESSAGES)',
                );
              }
            },
            signal,
          }),
        onChange: (opened) => {
          thread = opened;
        },
        logger,
        pause: () => sleep(REOPEN_MS, undefined, { ref: false }),
        signal: ending.signal,
      });
    },
    onLetGo: async () => {
      ending.abort();
      await working;
    },
    replicas,
  });
  void leases.compete();
  return {
    get figures() {
      if (thread === null) return null;
      const { traces, spans } = thread.waiting;
      return { ...counts, waiting: traces, waitingSpans: spans };
    },
    async close() {
      stopHearing();
      await leases.close();
    },
  };
}

function threadDataOf(config: TraceThreadData['config']): TraceThreadData {
  const { dataDir, natsPort, natsUrl, natsToken, streamReplicas, logLevel } = config;
  const { traceWaitMs, traceBufferBytes, traceWaitingSpans, traceMessages } = config;
  const nats = { dataDir, natsPort, natsUrl, natsToken };
  const trace = { traceWaitMs, traceBufferBytes, traceWaitingSpans, traceMessages };
  return { config: { ...nats, ...trace, streamReplicas, logLevel } };
}

/** `refused` receives what is refused for good. */
function hostOf(
  { registry, acceptor, feedback, logger }: TraceAssemblyOptions,
  lease: Lease,
  refused: (request: EmittedRequest) => void,
): AssemblyHost {
  return {
    confirm: () => lease.confirm(),
    async isKnownSession(projectId, name) {
      const { instanceId, id } = openedName(registry, projectId, name);
      if (id === undefined) return false;
      const sessionId = sessionIdOf(instanceId, id);
      if ((await registry.instanceOfSessionId(sessionId)) !== null) return true;
      return (await registry.findSessionClaim(projectId, sessionId)) !== null;
    },
    async emit(request) {
      try {
        await acceptEmitted({ acceptor, feedback, registry }, request);
        return true;
      } catch (error) {
        if (!isForGood(error)) throw error;
        if (request.isDivisible === true) return false;
        // A retry would be refused for ever and delay all others.
        refused(request);
        const { projectId, name } = request;
        logger.error(
          { event: 'conversation_refused', projectId, instanceId: name.instanceId, err: error },
          'messages or feedback of a conversation out of traces are left out: they are refused',
        );
        return false;
      }
    },
  };
}

function isForGood(error: unknown): boolean {
  return error instanceof AppError && ERROR_CODES[error.code] < 500 && error.code !== 'RATE_LIMIT_EXCEEDED';
}
