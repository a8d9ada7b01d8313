/** Covered by test/http/docs.test.ts and test/http/docs-content.test.ts. */
import { SERVICE_VERSION } from '../domain/service-version.ts';
import { ingestBodySchema } from '../ingest/request-body.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import { queryResponseSchema } from '../query/response-schema.ts';
import { sessionResponseSchema } from '../query/session-schema.ts';
import { changesResponseSchema } from '../query/changes/changes-schema.ts';
import { overviewResponseSchema } from '../query/overview/overview-schema.ts';
import { whyResponseSchema } from '../query/why/why-schema.ts';
import { errorEnvelopeSchema, ingestResponseSchema } from './answer-schemas.ts';
import { batchLineSchema, batchRequestSchema } from './batch-route.ts';
import { externalIdsSchema, sessionIdsSchema } from './session-ids-route.ts';
import { alertPaths, alertSchemas, alertWebhooks } from './openapi-alerts.ts';
import { curationPaths, curationSchemas } from './openapi-curations.ts';
import {
  instanceChangeSchema,
  instanceListParameterSchemas,
  instanceListSchema,
  instanceSchema,
  newInstanceSchema,
} from './instances-route.ts';
import { keySchema } from './key-route.ts';
import {
  bodyOf,
  IDEMPOTENCY_KEY,
  namedSchema,
  parametersOf,
  RATE_LIMIT_HEADERS,
  responses,
  STREAM_POSITION,
  WAIT_FOR_POSITION,
  WAIT_RESULT,
  type Json,
  CONTENT_ENCODING,
} from './openapi-parts.ts';
import { readingPaths } from './openapi-reading.ts';
import { tracePaths } from './openapi-traces.ts';

export { errorEnvelopeSchema, ingestResponseSchema } from './answer-schemas.ts';

/** No id in it: those of an example belong to nobody's project. */
const EXAMPLE_INGEST: Json = {
  messages: [
    { role: 'user', userId: 'ada', content: 'How do I change the delivery address of my order?' },
    { role: 'assistant', content: 'Open the order, choose "Delivery" and enter the new address.' },
    { role: 'user', userId: 'ada', content: 'That worked, thank you so much!' },
  ],
};
const EXAMPLE_LINES = `${JSON.stringify(EXAMPLE_INGEST)}\n`;
const EXAMPLE_NAME: Json = { name: 'Shop assistant' };
const EXAMPLE_EXTERNAL_IDS: Json = { externalIds: ['ticket-123', 'ticket-124'] };

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
        responses: responses(answer('The asked-for page.', 'InstanceList'), []),
      },
      post: {
        operationId: 'createInstance',
        summary: 'Make an instance',
        description: 'In the project of the key. An ingest request without `instanceId` makes one, too.',
        tags,
        parameters: [IDEMPOTENCY_KEY],
        requestBody: { required: false, ...bodyOf('NewInstance', EXAMPLE_NAME) },
        responses: {
          ...responses(answer('The default instance, which was there.', 'Instance'), [409, 413]),
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
        parameters: [instanceInPath('The instance to rename.')],
        requestBody: { required: true, ...bodyOf('InstanceChange', EXAMPLE_NAME) },
        responses: responses(answer('The instance as it is now.', 'Instance'), [404, 413]),
      },
    },
    '/v1/instances/{instanceId}/session-ids/': {
      post: {
        operationId: 'issueSessionIds',
        summary: 'Get session ids for ids of your own',
        description:
          'The same external id always gets the same session id; nothing is stored. A session under such an id is ingested faster ' +
          'than one under an id that you chose: the id says which instance it belongs to.',
        tags,
        parameters: [instanceInPath('The instance of the sessions.')],
        requestBody: { required: true, ...bodyOf('ExternalIds', EXAMPLE_EXTERNAL_IDS) },
        responses: responses(answer('The session ids.', 'SessionIds'), [404, 413]),
      },
    },
  };
}

function instanceInPath(description: string): Json {
  return {
    name: 'instanceId',
    in: 'path',
    description,
    required: true,
    schema: { type: 'string', format: 'uuid' },
  };
}

function keyPath(): Json {
  return {
    get: {
      operationId: 'readKey',
      summary: 'See what the key may do',
      description: "The request's own key: its project and its scopes. It needs no scope.",
      tags: ['Keys'],
      parameters: [],
      responses: responses({ description: 'The key.', headers: RATE_LIMIT_HEADERS, ...bodyOf('Key') }, []),
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
      parameters: [IDEMPOTENCY_KEY, CONTENT_ENCODING],
      requestBody: { required: true, ...bodyOf('IngestRequest', EXAMPLE_INGEST) },
      responses: responses(
        {
          description: 'Stored.',
          headers: {
            ...RATE_LIMIT_HEADERS,
            ...STREAM_POSITION,
            'X-Warnings': {
              description:
                'What has no effect, entries joined by "; ": members of messages that are ignored, roles that ' +
                'are counted but not analysed. Absent when there is nothing to say.',
              schema: { type: 'string', maxLength: 1024 },
            },
          },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/IngestResponse' } } },
        },
        [404, 409, 413],
      ),
    },
  };
}

function batchPath(): Json {
  const lines = (schema: string, example: Json = {}): Json => ({
    'application/x-ndjson': { schema: { $ref: `#/components/schemas/${schema}` }, ...example },
  });
  return {
    post: {
      operationId: 'ingestBatch',
      summary: 'Ingest messages of many sessions',
      description:
        'One request of POST /v1/ingest/ on each line, and what became of it on each line of the answer. Answers ' +
        'once every message that is not refused is stored durably.',
      tags: ['Ingest'],
      parameters: [CONTENT_ENCODING],
      requestBody: { required: true, content: lines('BatchRequestLine', { example: EXAMPLE_LINES }) },
      responses: responses(
        {
          description: 'What became of each line.',
          headers: {
            ...RATE_LIMIT_HEADERS,
            ...STREAM_POSITION,
            'X-Refused-Lines': { description: 'How many lines were refused.', schema: { type: 'integer' } },
          },
          content: lines('BatchResponseLine'),
        },
        [413],
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
        [404],
      ),
    },
  };
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
          BatchRequestLine: namedSchema('BatchRequestLine', batchRequestSchema, 'input'),
          BatchResponseLine: namedSchema('BatchResponseLine', batchLineSchema, 'output'),
        }
      : {}),
    ...(served.query
      ? {
          QueryResponse: namedSchema('QueryResponse', queryResponseSchema, 'output'),
          SessionResponse: namedSchema('SessionResponse', sessionResponseSchema, 'output'),
          WhyResponse: namedSchema('WhyResponse', whyResponseSchema, 'output'),
          OverviewResponse: namedSchema('OverviewResponse', overviewResponseSchema, 'output'),
          ...curationSchemas(),
          ...alertSchemas(),
          ChangesResponse: namedSchema('ChangesResponse', changesResponseSchema, 'output'),
        }
      : {}),
    Instance: namedSchema('Instance', instanceSchema, 'output'),
    InstanceList: namedSchema('InstanceList', instanceListSchema, 'output'),
    ExternalIds: namedSchema('ExternalIds', externalIdsSchema, 'input'),
    SessionIds: namedSchema('SessionIds', sessionIdsSchema, 'output'),
    NewInstance: namedSchema('NewInstance', newInstanceSchema, 'input'),
    Key: namedSchema('Key', keySchema, 'output'),
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
        'instanceId of its answer. Language models ask at /mcp (docs/mcp.md).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths: {
      ...(served.ingest
        ? { '/v1/ingest/': ingestPath(), '/v1/ingest/batch/': batchPath(), ...tracePaths() }
        : {}),
      ...(served.query
        ? {
            '/v1/query/': queryPath(),
            ...readingPaths(),
            ...curationPaths(),
            ...alertPaths(),
          }
        : {}),
      ...instancePaths(),
      '/v1/key/': keyPath(),
    },
    ...(served.query ? { webhooks: alertWebhooks() } : {}),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'A key of one project: npm run keys -- create --project NAME. Each route needs one of its scopes.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key, for clients that send it so.' },
      },
      schemas: schemasOf(served),
    },
  };
}
