import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { AppError, ERROR_CODES } from '../errors.ts';
import type { AssemblyFigures } from '../http/trace-metrics.ts';
import type { Acceptor } from '../ingest/acceptor.ts';
import type { Logger } from '../logger.ts';
import type { Registry } from '../registry/registry.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { Leases } from '../stream/kv/leases.ts';
import type { Lease } from '../stream/kv/lease.ts';
import { isDeadHolder, thisHolder } from '../stream/kv/process-identity.ts';
import { openTraceLog, type TraceLog } from '../stream/log/trace-log.ts';
import { Assembler } from '../traces/assembly/assembler.ts';
import { CachedBucket } from '../traces/assembly/assembly-store.ts';
import type { AssemblyParts } from '../traces/assembly/assembly-parts.ts';
import { openAssemblyBuckets } from '../traces/assembly/buckets.ts';
import { keepAssembling } from '../traces/assembly/keep-assembling.ts';
import { emitThrough, sessionIdOf } from '../traces/assembly/emit.ts';
import * as records from '../traces/assembly/records.ts';

const MIB = 2 ** 20;
const [CONVERSATION_CACHE, CANDIDATE_CACHE, PAGE_CACHE, TRACE_CACHE] = [24 * MIB, 8 * MIB, 8 * MIB, 16 * MIB];
const READ_AHEAD_BYTES = 8 * MIB;
const REOPEN_MS = 1000;

export interface TraceAssemblyOptions {
  readonly config: Pick<Config, 'streamReplicas' | 'traceWaitMs' | 'traceBufferBytes'>;
  readonly connection: StreamConnection;
  readonly registry: Registry;
  readonly acceptor: Acceptor;
  readonly logger: Logger;
}

/** Assembles conversations while this process is the one that does. */
export interface TraceAssembly {
  /** Null while another process does. */
  readonly figures: AssemblyFigures | null;
  close(): Promise<void>;
}

export async function openTraceAssembly(options: TraceAssemblyOptions): Promise<TraceAssembly> {
  const { connection, config } = options;
  const replicas = config.streamReplicas;
  const { conversations, traces } = await openAssemblyBuckets(connection, { replicas });
  const counts = { traces: 0, messages: 0, refused: 0 };
  let ending = new AbortController();
  let working: Promise<void> = Promise.resolve();
  let assembler: Assembler | null = null;

  const open = async (lease: Lease): Promise<Assembler> => {
    const log = await openTraceLog(connection, READ_AHEAD_BYTES);
    const refused = (messages: number): void => {
      counts.refused += messages;
    };
    return new Assembler({
      log,
      parts: partsOf(options, { conversations, traces, lease, log, refused }),
      logger: options.logger,
      waitMs: config.traceWaitMs,
      maxBytes: config.traceBufferBytes,
      now: () => performance.now(),
      pause: (ms) => sleep(ms),
      onRound: (round) => {
        counts.traces += round.traces;
        counts.messages += round.messages;
      },
    });
  };
  const holder = thisHolder();
  const leases = await Leases.open(connection, {
    scope: 'trace-assembly',
    shards: 1,
    holder,
    isDead: isDeadHolder(holder),
    onGained: (lease) => {
      ending = new AbortController();
      working = keepAssembling({
        open: () => open(lease),
        onChange: (opened) => {
          assembler = opened;
        },
        logger: options.logger,
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
      return assembler === null ? null : { ...counts, waiting: assembler.waiting.traces };
    },
    close: () => leases.close(),
  };
}

function partsOf(
  { connection, registry, acceptor, logger }: TraceAssemblyOptions,
  means: {
    readonly conversations: ConstructorParameters<typeof CachedBucket>[0];
    readonly traces: ConstructorParameters<typeof CachedBucket>[0];
    readonly lease: Lease;
    readonly log: TraceLog;
    readonly refused: (messages: number) => void;
  },
): AssemblyParts {
  const { conversations, traces, lease, log, refused } = means;
  return {
    conversations: new CachedBucket(
      conversations,
      { encode: records.encodeConversation, decode: records.decodeConversation },
      CONVERSATION_CACHE,
    ),
    candidates: new CachedBucket(
      conversations,
      { encode: records.encodeCandidates, decode: records.decodeCandidates },
      CANDIDATE_CACHE,
    ),
    pages: new CachedBucket(
      conversations,
      { encode: records.encodePage, decode: records.decodePage },
      PAGE_CACHE,
    ),
    traces: new CachedBucket(
      traces,
      { encode: records.encodeTrace, decode: records.decodeTrace },
      TRACE_CACHE,
    ),
    async emit(conversation, emission) {
      try {
        await emitThrough(acceptor, conversation, emission);
      } catch (error) {
        if (!isForGood(error)) throw error;
        // It would be refused for ever, and hold up everybody else.
        refused(emission.messages.length);
        const { projectId, name } = conversation;
        logger.error(
          { event: 'conversation_refused', projectId, instanceId: name.instanceId, err: error },
          'messages of a conversation out of traces are left out: ingest refuses them',
        );
      }
    },
    async isKnownSession(projectId, name) {
      const sessionId = sessionIdOf(name);
      if ((await registry.instanceOfSessionId(sessionId)) !== null) return true;
      return (await registry.findSessionClaim(projectId, sessionId)) !== null;
    },
    firstSequence: () => log.firstSequence,
    clock: () => Date.now() * 1000,
    limits: { bytes: Math.min(MIB, connection.maxPayload / 8) },
    guard: () => lease.confirm(),
  };
}

function isForGood(error: unknown): boolean {
  return error instanceof AppError && ERROR_CODES[error.code] < 500 && error.code !== 'RATE_LIMIT_EXCEEDED';
}
