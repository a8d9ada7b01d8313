/**
 * The routes that accept messages.
 *
 * Test: test/web/app.test.ts, test/web/batch-route.test.ts, test/e2e/otlp-rules.test.ts.
 */
import { z } from 'zod';
import { uuid } from '../domain/uuid.ts';
import { PRINTABLE } from '../web/ingest/idempotency-key.ts';
import { ingestBodySchema } from '../web/ingest/request-body.ts';
import { errorEnvelopeSchema } from './errors.ts';
import { declare, json, type Content, type Route } from './route.ts';

const bodySchema = ingestBodySchema(() => Date.now() * 1000);

/** Without ids, because example ids belong to no project of the reader. */
const EXAMPLE = {
  messages: [
    { role: 'user', userId: 'ada', content: 'How do I change the delivery address of my order?' },
    { role: 'assistant', content: 'Open the order, choose "Delivery" and enter the new address.' },
    { role: 'user', userId: 'ada', content: 'That worked, thank you so much!' },
  ],
};

export const ingestResponseSchema = z.strictObject({ instanceId: uuid, sessionId: uuid });

export const INGEST = declare({
  method: 'POST',
  path: '/ingest',
  operationId: 'ingest',
  summary: 'Ingest messages',
  description: 'Answers once every message of the request is stored durably.',
  tag: 'Ingest',
  scope: 'ingest',
  takesMessages: true,
  headers: ['Idempotency-Key', 'Content-Encoding'],
  body: { required: true, content: json('IngestRequest', bodySchema, EXAMPLE) },
  answer: {
    description: 'Stored.',
    headers: ['X-Stream-Position', 'X-Warnings'],
    content: json('IngestResponse', ingestResponseSchema),
  },
  fails: [404, 409, 413],
});

const line = z.int().min(1).meta({ description: 'The line of the request, counted from 1.' });

/** A line of the body of POST /v1/ingest/batch/. */
export const batchRequestSchema = bodySchema.extend({
  idempotencyKey: z
    .string()
    .regex(PRINTABLE)
    .optional()
    .meta({ description: 'As the header `Idempotency-Key` of POST /v1/ingest/.' }),
  deduplicationId: z
    .string()
    .regex(PRINTABLE)
    .optional()
    .meta({
      description:
        'In place of an `idempotencyKey`, and faster: of lines of one session with the same id, the first within two ' +
        'days counts. Their bodies are not compared. It requires a `sessionId`.',
    }),
});

/** A line of the answer of POST /v1/ingest/batch/. */
export const batchLineSchema = z.union([
  ingestResponseSchema.extend({
    line,
    status: z.literal(200),
    position: z.int().meta({ description: 'As `X-Stream-Position` of POST /v1/ingest/.' }),
    warnings: z.string().optional().meta({ description: 'As `X-Warnings` of POST /v1/ingest/.' }),
  }),
  errorEnvelopeSchema.extend({
    line,
    status: z.int().meta({ description: 'What POST /v1/ingest/ would have answered.' }),
    retryAfter: z.number().optional().meta({ description: 'Seconds, as `Retry-After`.' }),
  }),
]);
export type BatchLine = z.infer<typeof batchLineSchema>;

/** Content types of bodies with a request on each line; the first is the default. */
export const LINES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

function lines(name: string, schema: z.ZodType, example?: string): Readonly<Record<string, Content>> {
  return { [LINES[0]]: { schema: { name, schema }, ...(example === undefined ? {} : { example }) } };
}

export const INGEST_BATCH = declare({
  method: 'POST',
  path: '/ingest/batch',
  operationId: 'ingestBatch',
  summary: 'Ingest messages of many sessions',
  description:
    'One request of POST /v1/ingest/ on each line, and what became of it on each line of the answer. Answers ' +
    'once every message that is not refused is stored durably.',
  tag: 'Ingest',
  scope: 'ingest',
  takesMessages: true,
  headers: ['Content-Encoding'],
  body: {
    required: true,
    content: lines('BatchRequestLine', batchRequestSchema, `${JSON.stringify(EXAMPLE)}\n`),
  },
  answer: {
    description: 'What became of each line.',
    headers: ['X-Stream-Position', 'X-Refused-Lines'],
    content: lines('BatchResponseLine', batchLineSchema),
  },
  fails: [413],
});

/** Declares an OTLP/HTTP route. Its bodies are those of opentelemetry-proto, which is not repeated here. */
function exportOf(
  path: '/traces' | '/logs',
  operationId: string,
  message: string,
  summary: string,
): Route<z.ZodType<undefined>> {
  return declare({
    method: 'POST',
    path,
    operationId,
    summary,
    description:
      'OTLP/HTTP in protobuf or JSON (docs/otlp.md). Answers once all is stored durably; the messages are counted ' +
      'when their trace is complete.',
    tag: 'Ingest',
    scope: 'ingest',
    takesMessages: true,
    headers: ['Content-Encoding', 'x-instance-id'],
    body: {
      required: true,
      content: {
        'application/json': {
          schema: { type: 'object', description: `${message} of opentelemetry-proto, as JSON.` },
          example: {},
        },
        'application/x-protobuf': { schema: { type: 'string', format: 'binary', description: message } },
      },
    },
    answer: {
      description: 'All is stored; partialSuccess says what was rejected.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              partialSuccess: { type: 'object', description: 'What was rejected and why, or a hint.' },
            },
          },
        },
      },
    },
    fails: [404, 413],
  });
}

export const EXPORTS = {
  traces: exportOf('/traces', 'exportTraces', 'ExportTraceServiceRequest', 'Spans of traces'),
  logs: exportOf(
    '/logs',
    'exportLogs',
    'ExportLogsServiceRequest',
    'Log records that hold messages of spans',
  ),
};
