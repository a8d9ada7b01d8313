/**
 * The OpenAPI document, generated from the declarations of the routes and the schemas that validate them.
 *
 * Test: test/web/docs.test.ts, test/web/docs-content.test.ts.
 */
import { WEBHOOKS } from '../contract/alerts.ts';
import { errorEnvelopeSchema } from '../contract/errors.ts';
import {
  idNameOf,
  type AnswerDeclaration,
  type Content,
  type NamedSchema,
  type Route,
} from '../contract/route.ts';
import { ROUTES } from '../contract/routes.ts';
import { SERVICE_VERSION } from '../domain/service-version.ts';
import type { Json } from './openapi-descriptions.ts';
import {
  ANSWER_HEADERS,
  namedSchema,
  parametersOf,
  RATE_LIMIT_HEADERS,
  REQUEST_HEADERS,
  errorAnswers,
  schemaOf,
} from './openapi-parts.ts';

/** The route groups that the process serves. */
interface Served {
  readonly ingest: boolean;
  readonly query: boolean;
}

/** Returns the OpenAPI 3.1 document of the served routes. */
export function createOpenApiDocument(served: Served): Json {
  const routes = [
    ...(served.ingest ? ROUTES.ingest : []),
    ...(served.query ? ROUTES.query : []),
    ...ROUTES.always,
  ];
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = (paths[`/v1${route.path}/`] ??= {});
    path[route.method.toLowerCase()] = operationOf(route);
  }
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
    paths,
    ...(served.query ? { webhooks: webhooks() } : {}),
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
      schemas: schemasOf(routes, served),
    },
  };
}

function operationOf(route: Route): Json {
  const { operationId, summary, description, tag, parameters, examples, headers = [], body, fails } = route;
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    parameters: [
      ...idOf(route),
      ...(parameters === undefined ? [] : parametersOf(parameters, examples)),
      ...headers.map((name) => REQUEST_HEADERS[name]),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: body.required, content: contentOf(body.content) } }),
    responses: {
      ...answersOf(route.answer),
      ...(route.otherwise === undefined ? {} : answersOf(route.otherwise)),
      ...errorAnswers(fails),
    },
  };
}

/** Describes the id in the path. */
function idOf(route: Route): Json[] {
  const { id, idSchema } = route;
  const name = idNameOf(route);
  if (name === null) return [];
  return [
    {
      name,
      in: 'path',
      description: id,
      required: true,
      schema: idSchema === undefined ? { type: 'string', format: 'uuid' } : schemaOf(idSchema, 'output'),
    },
  ];
}

function answersOf({ status = 200, description, headers = [], content }: AnswerDeclaration): Json {
  const own = Object.fromEntries(headers.map((name) => [name, ANSWER_HEADERS[name]]));
  return {
    [status]: {
      description,
      headers: { ...RATE_LIMIT_HEADERS, ...own },
      ...(content === undefined ? {} : { content: contentOf(content) }),
    },
  };
}

function contentOf(content: Readonly<Record<string, Content>>): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, example }]) => [
      type,
      {
        schema: isNamed(schema) ? { $ref: `#/components/schemas/${schema.name}` } : schema,
        ...(example === undefined ? {} : { example }),
      },
    ]),
  );
}

function isNamed(schema: Content['schema']): schema is NamedSchema {
  return 'name' in schema;
}

/** Returns the schemas of bodies, responses and webhooks, by name. */
function schemasOf(routes: readonly Route[], served: Served): Json {
  const schemas: Record<string, Json> = {};
  const add = (content: Readonly<Record<string, Content>> | undefined, io: 'input' | 'output'): void => {
    for (const { schema } of Object.values(content ?? {}))
      if (isNamed(schema)) schemas[schema.name] ??= namedSchema(schema.name, schema.schema, io);
  };
  for (const { body, answer } of routes) {
    add(body?.content, 'input');
    add(answer.content, 'output');
  }
  if (served.query)
    for (const { name, schema } of Object.values(WEBHOOKS))
      schemas[name] = namedSchema(name, schema, 'output');
  return { ...schemas, Error: namedSchema('Error', errorEnvelopeSchema, 'output') };
}

function header(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', required: true, description, schema };
}

const SIGNED: readonly Json[] = [
  header('webhook-id', 'The message: the same in every attempt.', { type: 'string', format: 'uuid' }),
  header('webhook-timestamp', 'When the attempt was made, in seconds since 1970.', { type: 'integer' }),
  header(
    'webhook-signature',
    'HMAC-SHA256 over id, time and body, as the Standard Webhooks specification says.',
    { type: 'string' },
  ),
];

function webhooks(): Json {
  return Object.fromEntries(
    Object.entries(WEBHOOKS).map(([type, { name, schema, summary }]) => [
      type,
      {
        post: {
          operationId: `on${name}`,
          summary,
          description: 'With the format slack, the body is what incoming webhooks of Slack take.',
          tags: ['Alerts'],
          security: [],
          parameters: SIGNED,
          requestBody: {
            required: true,
            content: contentOf({ 'application/json': { schema: { name, schema } } }),
          },
          responses: {
            '2XX': { description: 'It has arrived.' },
            410: { description: 'The alert is disabled.' },
            default: { description: 'It is sent again, for three days in all.' },
          },
        },
      },
    ]),
  );
}
