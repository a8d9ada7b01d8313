/** Covered by test/http/docs.test.ts and test/http/docs-content.test.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ERROR_CODES, MAX_DETAILS } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { ingestBodySchema } from '../ingest/request-body.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import { queryResponseSchema } from '../query/response-schema.ts';
import { sessionParameterSchemas, sessionResponseSchema } from '../query/session-schema.ts';
import { GROUPINGS } from '../domain/groupings.ts';
import { changesParameterSchemas, changesResponseSchema } from '../query/changes/changes-schema.ts';
import { overviewParameterSchemas, overviewResponseSchema } from '../query/overview/overview-schema.ts';
import { WHY_PATHS, whyParameterSchemas, whyResponseSchema, type WhyPath } from '../query/why/why-schema.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { describeMembers } from './openapi-descriptions.ts';
import {
  instanceChangeSchema,
  instanceListParameterSchemas,
  instanceListSchema,
  instanceSchema,
  newInstanceSchema,
} from './instances-route.ts';

const { version: SERVICE_VERSION } = z
  .looseObject({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')));

/** A JSON Schema or a part of the OpenAPI document: plain JSON. */
type Json = { readonly [member: string]: unknown };

/** The envelope of docs/errors.md. */
export const errorEnvelopeSchema = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    details: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .max(MAX_DETAILS)
      .optional(),
  }),
});

/** The answer of POST /v1/ingest/. */
export const ingestResponseSchema = z.strictObject({
  instanceId: z.string().regex(new RegExp(UUID_PATTERN.source)).meta({ format: 'uuid' }),
  sessionId: z.string().regex(new RegExp(UUID_PATTERN.source)).meta({ format: 'uuid' }),
});

/** `format: uuid` says it all; the pattern would lose its ignore-case flag in JSON Schema. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'uuid') delete jsonSchema.pattern;
    },
  });
  return rest;
}

/** A schema of the document whose members are all described. */
function namedSchema(name: string, schema: z.ZodType, io: 'input' | 'output'): Json {
  return describeMembers(name, schemaOf(schema, io));
}

function parametersOf(schemas: z.ZodObject, examples: Json = EXAMPLE_PARAMETERS): Json[] {
  return Object.entries(schemas.shape as Record<string, z.ZodType>).map(([name, schema]) => {
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

/** What the page fills in, so that Execute works with the ids of whoever tries it. */
const EXAMPLE_PARAMETERS: Json = { groupBy: 'SESSION', fields: ['messages', 'sat', 'dsat'] };
/** Those of GET /v1/changes: queries need none. */
const EXAMPLE_PERIOD: Json = { 'dateRange.start': '2026-11-01', 'dateRange.end': '2026-11-08' };
/** No id in it: those of an example belong to nobody's project. */
const EXAMPLE_INGEST: Json = {
  messages: [
    { role: 'user', userId: 'ada', content: 'How do I change the delivery address of my order?' },
    { role: 'assistant', content: 'Open the order, choose "Delivery" and enter the new address.' },
    { role: 'user', userId: 'ada', content: 'That worked, thank you so much!' },
  ],
};
const EXAMPLE_NAME: Json = { name: 'Shop assistant' };

const RATE_LIMIT_HEADERS: Json = {
  'X-RateLimit-Limit': {
    description: 'Requests allowed in one second.',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': { description: 'Requests left in this second.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix timestamp at which the limit resets.',
    schema: { type: 'integer' },
  },
};

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and body within 24 hours store nothing twice and get the same answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is malformed (`BAD_REQUEST`) or not valid (`VALIDATION_ERROR`; `details` names each fault).',
  401: 'The key is missing (`MISSING_API_KEY`), or invalid or inactive (`INVALID_API_KEY`).',
  403: '`FORBIDDEN`: the projectId is not that of the key. Leave it out.',
  404: '`NOT_FOUND`: there is no such instance in the project of the key, or nothing of that id in it.',
  409: '`CONFLICT`: the session belongs to another instance, or the Idempotency-Key was used with another body.',
  413: '`PAYLOAD_TOO_LARGE`: the body is too large, after decompression. Send fewer messages.',
  429: '`RATE_LIMIT_EXCEEDED`: too many requests in this second. Wait for Retry-After, then back off.',
  500: '`INTERNAL_ERROR`: the request failed in the service. The answer names its id in the log.',
  503: '`SERVICE_UNAVAILABLE`: the service cannot store or read at the moment. Send the same again after Retry-After.',
};

function responses(success: Json, statuses: readonly (keyof typeof STATUS_TEXTS)[]): Json {
  const errors = statuses.map((status) => [
    String(status),
    {
      description: STATUS_TEXTS[status],
      headers: {
        ...RATE_LIMIT_HEADERS,
        ...(status === 429 || status === 503
          ? { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }
          : {}),
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  ]);
  return { '200': success, ...Object.fromEntries(errors) };
}

function bodyOf(schema: string, example?: Json): Json {
  const media = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { content: { 'application/json': example === undefined ? media : { ...media, example } } };
}

function instancePaths(): Json {
  const tags = ['Instances'];
  const answer = (description: string, schema: string): Json => ({
    description,
    headers: RATE_LIMIT_HEADERS,
    ...bodyOf(schema),
  });
  return {
    '/v1/instances/': {
      get: {
        operationId: 'listInstances',
        summary: 'List instances',
        description: "The instances of the key's project, oldest first.",
        tags,
        parameters: parametersOf(instanceListParameterSchemas),
        responses: responses(answer('The asked-for page.', 'InstanceList'), [400, 401, 429, 500, 503]),
      },
      post: {
        operationId: 'createInstance',
        summary: 'Make an instance',
        description: 'In the project of the key. An ingest request without `instanceId` makes one, too.',
        tags,
        parameters: [IDEMPOTENCY_KEY],
        requestBody: { required: false, ...bodyOf('NewInstance', EXAMPLE_NAME) },
        responses: {
          ...responses(
            answer('The default instance, which was there.', 'Instance'),
            [400, 401, 409, 413, 429, 500, 503],
          ),
          '201': answer('The instance was made.', 'Instance'),
        },
      },
    },
    '/v1/instances/{instanceId}/': {
      patch: {
        operationId: 'renameInstance',
        summary: 'Rename an instance',
        description: 'Every process knows the new name within a second.',
        tags,
        parameters: [
          {
            name: 'instanceId',
            in: 'path',
            description: 'The instance to rename.',
            required: true,
            schema: { type: 'string', format: 'uuid' },
          },
        ],
        requestBody: { required: true, ...bodyOf('InstanceChange', EXAMPLE_NAME) },
        responses: responses(
          answer('The instance as it is now.', 'Instance'),
          [400, 401, 404, 413, 429, 500, 503],
        ),
      },
    },
  };
}

function ingestPath(): Json {
  return {
    post: {
      operationId: 'ingest',
      summary: 'Ingest messages',
      description: 'Answers once every message of the request is stored durably.',
      tags: ['Ingest'],
      parameters: [
        IDEMPOTENCY_KEY,
        {
          name: 'Content-Encoding',
          in: 'header',
          description: 'The limit of the body holds after decompression.',
          schema: { type: 'string', enum: ['gzip', 'br', 'zstd'] },
        },
      ],
      requestBody: { required: true, ...bodyOf('IngestRequest', EXAMPLE_INGEST) },
      responses: responses(
        {
          description: 'Stored.',
          headers: {
            ...RATE_LIMIT_HEADERS,
            'X-Stream-Position': {
              description: 'Give it to a query as X-Wait-For-Position to read your own write.',
              schema: { type: 'integer' },
            },
            'X-Warnings': {
              description:
                'What has no effect, entries joined by "; ": members of messages that are ignored, roles that ' +
                'are counted but not analysed. Absent when there is nothing to say.',
              schema: { type: 'string', maxLength: 1024 },
            },
          },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/IngestResponse' } } },
        },
        [400, 401, 403, 404, 409, 413, 429, 500, 503],
      ),
    },
  };
}

function queryPath(): Json {
  return {
    get: {
      operationId: 'query',
      summary: 'Query metrics',
      description: 'Aggregated metrics of the entities that groupBy names, for one instance.',
      tags: ['Query'],
      parameters: [...parametersOf(queryParameterSchemas), WAIT_FOR_POSITION],
      responses: responses(
        {
          description: 'The rows of the asked-for page.',
          headers: {
            ...RATE_LIMIT_HEADERS,
            ...WAIT_RESULT,
          },
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/QueryResponse' } },
            // Every row, as docs/api.md says.
            'text/csv': { schema: { type: 'string' } },
            'application/x-ndjson': { schema: { type: 'string' } },
          },
        },
        [400, 401, 404, 429, 500, 503],
      ),
    },
  };
}

/** The header by which a request waits for what it sent, and what the answer says of it. */
const WAIT_FOR_POSITION: Json = {
  name: 'X-Wait-For-Position',
  in: 'header',
  description:
    'Waits, for some seconds at most, until the answer contains this stream position: what an ingest ' +
    'answer says as X-Stream-Position. X-Wait-Result says whether it does.',
  schema: { type: 'integer', minimum: 0 },
};
const WAIT_RESULT: Json = {
  'X-Wait-Result': {
    description: 'With X-Wait-For-Position: whether the answer contains that position, or the wait ran out.',
    schema: { type: 'string', enum: ['reached', 'timeout'] },
  },
};

function sessionPath(): Json {
  return {
    get: {
      operationId: 'readSession',
      summary: 'Read a conversation',
      description:
        'The messages of a session in order, with what was found in each. Texts are read from the stream; one ' +
        'that it no longer holds is shown as gone, with the reason.',
      tags: ['Query'],
      parameters: [
        {
          name: 'sessionId',
          in: 'path',
          description: 'The session to read.',
          required: true,
          schema: { type: 'string', format: 'uuid' },
        },
        ...parametersOf(sessionParameterSchemas),
        WAIT_FOR_POSITION,
      ],
      responses: responses(
        {
          description: 'The session, and the asked-for page of its messages.',
          headers: { ...RATE_LIMIT_HEADERS, ...WAIT_RESULT },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/SessionResponse' } } },
        },
        [400, 401, 404, 429, 500, 503],
      ),
    },
  };
}

function changesPath(): Json {
  return {
    get: {
      operationId: 'readChanges',
      summary: 'See what changed',
      description:
        'Topics, gaps and signals that are new, rising, falling or gone, against the period before. Only what is ' +
        'not chance is listed.',
      tags: ['Query'],
      parameters: [...parametersOf(changesParameterSchemas, EXAMPLE_PERIOD), WAIT_FOR_POSITION],
      responses: responses(
        {
          description: 'The two periods and the changes.',
          headers: { ...RATE_LIMIT_HEADERS, ...WAIT_RESULT },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/ChangesResponse' } } },
        },
        [400, 401, 404, 429, 500, 503],
      ),
    },
  };
}

function overviewPath(): Json {
  return {
    get: {
      operationId: 'readOverview',
      summary: 'Measure an instance',
      description: 'The metrics of the whole instance in a range, and in each bucket of it.',
      tags: ['Query'],
      parameters: [...parametersOf(overviewParameterSchemas), WAIT_FOR_POSITION],
      responses: responses(
        {
          description: 'The metrics.',
          headers: { ...RATE_LIMIT_HEADERS, ...WAIT_RESULT },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/OverviewResponse' } } },
        },
        [400, 401, 404, 429, 500, 503],
      ),
    },
  };
}

/** What the paths of WHY_PATHS stand for. */
const WHY_WORDS: Readonly<Record<WhyPath, string>> = {
  topics: 'topic',
  'topic-clusters': 'topic cluster',
  gaps: 'gap',
  'repeated-requests': 'repeated request',
  'end-users': 'end user',
};

function whyPaths(): Json {
  return Object.fromEntries(
    Object.entries(WHY_WORDS).map(([path, words]) => [
      `/v1/${path}/{id}/`,
      {
        get: {
          operationId: `why${GROUPINGS[WHY_PATHS[path as WhyPath]].name.replace(/^./, (letter) => letter.toUpperCase())}`,
          summary: `Look behind a ${words}`,
          description:
            `The numbers of a ${words} in a range, what occurs together with it, and how it is said. ` +
            'What queries say too, they say alike.',
          tags: ['Query'],
          parameters: [
            {
              name: 'id',
              in: 'path',
              description: `The ${words}.`,
              required: true,
              schema: { type: 'string', format: 'uuid' },
            },
            ...parametersOf(whyParameterSchemas),
            WAIT_FOR_POSITION,
          ],
          responses: responses(
            {
              description: `What is behind the ${words}.`,
              headers: { ...RATE_LIMIT_HEADERS, ...WAIT_RESULT },
              content: { 'application/json': { schema: { $ref: '#/components/schemas/WhyResponse' } } },
            },
            [400, 401, 404, 429, 500, 503],
          ),
        },
      },
    ]),
  );
}

function schemasOf(served: Served): Json {
  return {
    ...(served.ingest
      ? {
          IngestRequest: namedSchema(
            'IngestRequest',
            ingestBodySchema(() => Date.now() * 1000),
            'input',
          ),
          IngestResponse: namedSchema('IngestResponse', ingestResponseSchema, 'output'),
        }
      : {}),
    ...(served.query
      ? {
          QueryResponse: namedSchema('QueryResponse', queryResponseSchema, 'output'),
          SessionResponse: namedSchema('SessionResponse', sessionResponseSchema, 'output'),
          WhyResponse: namedSchema('WhyResponse', whyResponseSchema, 'output'),
          OverviewResponse: namedSchema('OverviewResponse', overviewResponseSchema, 'output'),
          ChangesResponse: namedSchema('ChangesResponse', changesResponseSchema, 'output'),
        }
      : {}),
    Instance: namedSchema('Instance', instanceSchema, 'output'),
    InstanceList: namedSchema('InstanceList', instanceListSchema, 'output'),
    NewInstance: namedSchema('NewInstance', newInstanceSchema, 'input'),
    InstanceChange: namedSchema('InstanceChange', instanceChangeSchema, 'input'),
    Error: namedSchema('Error', errorEnvelopeSchema, 'output'),
  };
}

/** What the process serves besides instances. */
interface Served {
  readonly ingest: boolean;
  readonly query: boolean;
}

/** The OpenAPI 3.1 document of the served routes, made from the schemas that validate. */
export function createOpenApiDocument(served: Served): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Undertone',
      version: '1.0.0',
      description:
        'Conversation analytics: messages in over HTTP, live and exact metrics out. This ' +
        'description of the interface is at version 1.0.0; the service that answers is Undertone ' +
        `${SERVICE_VERSION}. Enter a key under Authorize. Ingest the example, then query with the ` +
        'instanceId of its answer.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: {
      ...(served.ingest ? { '/v1/ingest/': ingestPath() } : {}),
      ...(served.query
        ? {
            '/v1/query/': queryPath(),
            '/v1/sessions/{sessionId}/': sessionPath(),
            ...whyPaths(),
            '/v1/changes/': changesPath(),
            '/v1/overview/': overviewPath(),
          }
        : {}),
      ...instancePaths(),
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'A key of one project: npm run keys -- create --project NAME.',
        },
      },
      schemas: schemasOf(served),
    },
  };
}
