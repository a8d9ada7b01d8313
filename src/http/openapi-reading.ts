/** The routes that read the views of an instance, but for GET /v1/query/. Covered by test/http/docs.test.ts. */
import { GROUPINGS } from '../domain/groupings.ts';
import { changesParameterSchemas } from '../query/changes/changes-schema.ts';
import { overviewParameterSchemas } from '../query/overview/overview-schema.ts';
import { sessionParameterSchemas } from '../query/session-schema.ts';
import { WHY_PATHS, whyParameterSchemas, type WhyPath } from '../query/why/why-schema.ts';
import {
  parametersOf,
  RATE_LIMIT_HEADERS,
  responses,
  WAIT_FOR_POSITION,
  WAIT_RESULT,
  type Json,
} from './openapi-parts.ts';

/** Those of GET /v1/changes: queries need none. */
const EXAMPLE_PERIOD: Json = { 'dateRange.start': '2026-11-01', 'dateRange.end': '2026-11-08' };
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
        [404],
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
        [404],
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
        [404],
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
          operationId: `why${capitalised(GROUPINGS[WHY_PATHS[path as WhyPath]].name)}`,
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
            [404],
          ),
        },
      },
    ]),
  );
}

export function readingPaths(): Json {
  return {
    '/v1/sessions/{sessionId}/': sessionPath(),
    ...whyPaths(),
    '/v1/changes/': changesPath(),
    '/v1/overview/': overviewPath(),
  };
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
