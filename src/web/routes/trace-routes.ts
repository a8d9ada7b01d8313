/**
 * POST /v1/traces and /v1/logs: OTLP/HTTP. They respond once the spans are stored durably.
 *
 * Test: test/e2e/otlp-rules.test.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EXPORTS } from '../../contract/ingest.ts';
import type { Logger } from '../../logger.ts';
import type { ExportReceipt, TraceIntake } from '../../doors/traces/trace-intake.ts';
import type { MessageDoor } from '../message-door.ts';
import { serve } from '../serve.ts';
import type { TraceMetrics } from '../trace-metrics.ts';
import {
  exportAnswerJson,
  exportAnswerProtobuf,
  rpcCodeOf,
  statusProtobuf,
} from '../../doors/traces/otlp/answers.ts';

export type { TraceIntake };

const PROTOBUF = 'application/x-protobuf';
const TYPES = ['application/json', PROTOBUF];
const WARNED_KEYS = 10_000;

export interface TraceRouteParts {
  readonly intake: TraceIntake;
  readonly door: MessageDoor;
  readonly metrics: TraceMetrics;
  readonly log: Logger;
}

export function registerTraceRoutes(
  v1: FastifyInstance,
  { intake, door, metrics, log }: TraceRouteParts,
): void {
  const warned = new Set<string>();

  /** Logs once for each key that its spans lack content. */
  function warn(keyId: string, { lacksContent, missesContent }: ExportReceipt): void {
    if (!missesContent || warned.has(keyId) || warned.size >= WARNED_KEYS) return;
    warned.add(keyId);
    log.warn(
      { event: 'spans_without_content', keyId, spans: lacksContent },
      'spans of model calls come without content: their instrumentation does not record it',
    );
  }

  void v1.register(async (scope) => {
    door.readBodies(scope, TYPES);
    // The protocol requires errors in the encoding of the request.
    scope.addHook('onSend', async (request, reply, payload) => {
      if (reply.statusCode < 400 || !isProtobuf(request)) return payload;
      reply.type(PROTOBUF);
      return statusProtobuf(rpcCodeOf(reply.statusCode), messageIn(payload));
    });
    for (const signal of ['traces', 'logs'] as const) {
      serve(scope, EXPORTS[signal], async ({ request, reply }) => {
        const receipt = await intake.receive({
          ...door.requestOf(request, reply),
          signal,
          format: isProtobuf(request) ? 'protobuf' : 'json',
          instanceId: request.headers['x-instance-id'],
        });
        metrics.received(signal, receipt);
        warn(request.key?.keyId ?? '', receipt);
        return answer(request, reply, signal, receipt);
      });
    }
  });
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  signal: 'traces' | 'logs',
  { rejected, message }: ExportReceipt,
): Buffer | object {
  if (!isProtobuf(request)) return exportAnswerJson(signal, { rejected, message });
  reply.type(PROTOBUF);
  return exportAnswerProtobuf({ rejected, message });
}

function isProtobuf({ headers }: FastifyRequest): boolean {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === PROTOBUF;
}

/** Returns the message of our error envelope (docs/errors.md). */
function messageIn(payload: unknown): string {
  try {
    const { error } = JSON.parse(String(payload)) as { readonly error?: { readonly message?: unknown } };
    return String(error?.message ?? '');
  } catch {
    return '';
  }
}
