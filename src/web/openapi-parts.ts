/**
 * The parts of the OpenAPI document that all routes share.
 *
 * Test: test/web/docs.test.ts.
 */
import { z } from 'zod';
import type { AnswerHeader, RequestHeader } from '../contract/route.ts';
import { describeMembers, type Json } from './openapi-descriptions.ts';

/** Omits the pattern of UUIDs, which would lose its ignore-case flag in JSON Schema; `format: uuid` suffices. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'uuid') delete jsonSchema.pattern;
    },
  });
  return rest;
}

/** Returns a schema whose members all have descriptions. */
export function namedSchema(name: string, schema: z.ZodType, io: 'input' | 'output'): Json {
  return describeMembers(name, schemaOf(schema, io));
}

export function parametersOf(schemas: z.ZodType, examples: Json = {}): Json[] {
  const { shape } = schemas as z.ZodObject;
  return Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
    const { description, ...rest } = schemaOf(schema, 'output');
    const example = examples[name];
    return {
      name,
      in: 'query',
      required: !schema.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(example === undefined ? {} : { example }),
      // Lists are comma-separated.
      ...(rest['type'] === 'array' ? { style: 'form', explode: false } : {}),
    };
  });
}

export const RATE_LIMIT_HEADERS: Json = {
  'X-RateLimit-Limit': {
    description: 'How many requests or messages the key may send at once.',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': { description: 'How many of them are left.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix timestamp from which more may be sent than now.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Unit': {
    description: 'What is counted: of the two budgets, the one that the key meets the end of first.',
    schema: { type: 'string', enum: ['requests', 'messages'] },
  },
};

export const REQUEST_HEADERS: Readonly<Record<RequestHeader, Json>> = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same key and body within 24 hours store nothing twice and get the same answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'Content-Encoding': {
    name: 'Content-Encoding',
    in: 'header',
    description: 'The limit of the body holds after decompression.',
    schema: { type: 'string', enum: ['gzip', 'br', 'zstd'] },
  },
  'X-Wait-For-Position': {
    name: 'X-Wait-For-Position',
    in: 'header',
    description:
      'Waits, for some seconds at most, until the answer contains this stream position: what an ingest ' +
      'answer says as X-Stream-Position. X-Wait-Result says whether it does.',
    schema: { type: 'integer', minimum: 0 },
  },
  'x-instance-id': {
    name: 'x-instance-id',
    in: 'header',
    description:
      'The instance of all that the request holds. Default: the one that spans name, else the default instance of the ' +
      'project.',
    schema: { type: 'string', format: 'uuid' },
  },
};

/** Response headers besides the rate-limit headers. */
export const ANSWER_HEADERS: Readonly<Record<AnswerHeader, Json>> = {
  'X-Stream-Position': {
    description: 'Give it to a query as X-Wait-For-Position to read your own write.',
    schema: { type: 'integer' },
  },
  'X-Wait-Result': {
    description: 'With X-Wait-For-Position: whether the answer contains that position, or the wait ran out.',
    schema: { type: 'string', enum: ['reached', 'timeout'] },
  },
  'X-Warnings': {
    description:
      'What has no effect, entries joined by "; ": members of messages that are ignored, roles that ' +
      'are counted but not analysed. Absent when there is nothing to say.',
    schema: { type: 'string', maxLength: 1024 },
  },
  'X-Refused-Lines': { description: 'How many lines were refused.', schema: { type: 'integer' } },
};

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is malformed (`BAD_REQUEST`) or not valid (`VALIDATION_ERROR`; `details` names each fault).',
  401: 'The key is missing (`MISSING_API_KEY`), or invalid or inactive (`INVALID_API_KEY`).',
  403: '`FORBIDDEN`: the key lacks the scope of this route, or the projectId is not that of the key.',
  404: '`NOT_FOUND`: there is no such instance in the project of the key, or nothing of that id in it.',
  409: '`CONFLICT`: what is asked for contradicts what there is, or the Idempotency-Key was used with another body.',
  413: '`PAYLOAD_TOO_LARGE`: the body is too large, after decompression. Send less.',
  429: '`RATE_LIMIT_EXCEEDED`: too many requests in this second, or too many messages. Nothing is stored. Wait for Retry-After.',
  500: '`INTERNAL_ERROR`: the request failed in the service. The answer names its id in the log.',
  503: '`SERVICE_UNAVAILABLE`: the service cannot store or read at the moment. Send the same again after Retry-After.',
};

/** Error statuses of every route. */
const ALWAYS = [400, 401, 403, 429, 500, 503] as const;

/** Returns the error responses of a route: those of every route, and `more`. */
export function errorAnswers(more: readonly (404 | 409 | 413)[]): Json {
  const errors = [...ALWAYS, ...more].map((code) => [
    String(code),
    {
      description: STATUS_TEXTS[code],
      headers: {
        ...RATE_LIMIT_HEADERS,
        ...(code === 429 || code === 503
          ? { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }
          : {}),
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  ]);
  return Object.fromEntries(errors) as Json;
}
