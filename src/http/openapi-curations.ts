/** The routes by which people steer what is found. Covered by test/http/docs.test.ts. */
import { curationSchema, newTopicSchema } from '../ingest/curation-body.ts';
import { curationsParameterSchemas, curationsResponseSchema } from '../query/curations/curations-schema.ts';
import { curatedSchema, newTopicAnswerSchema } from './curation-routes.ts';
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
} from './openapi-parts.ts';

/** The ids are those of an example: each has to be replaced. */
const EXAMPLE_ID = '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10';
const EXAMPLE_CURATION: Json = {
  instanceId: EXAMPLE_ID,
  action: 'RENAME',
  topicId: '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d',
  name: 'Change the delivery address',
};
const EXAMPLE_TOPIC: Json = {
  instanceId: EXAMPLE_ID,
  name: 'Gift wrapping',
  description: 'How a parcel is wrapped.',
  examples: ['Can you wrap it as a present?', 'I would like gift paper and a card'],
};

export function curationPaths(): Json {
  const headers = { ...RATE_LIMIT_HEADERS, ...WAIT_RESULT };
  const stored = (schema: string): Json => ({
    description: 'Stored.',
    headers: { ...headers, ...STREAM_POSITION },
    ...bodyOf(schema),
  });
  const tags = ['Steering'];
  const parameters = [IDEMPOTENCY_KEY, WAIT_FOR_POSITION];
  return {
    '/v1/curations/': {
      get: {
        operationId: 'listCurations',
        summary: 'List what people decided',
        description: 'Curations with time and key, the newest first, and what became of each.',
        tags,
        parameters: [...parametersOf(curationsParameterSchemas), WAIT_FOR_POSITION],
        responses: responses(
          { description: 'The asked-for page.', headers, ...bodyOf('CurationsResponse') },
          [404],
        ),
      },
      post: {
        operationId: 'curate',
        summary: 'Rename, pin, merge, move, hide or undo',
        description: 'Answers once it is stored durably; answers of queries follow when it is processed.',
        tags,
        parameters,
        requestBody: { required: true, ...bodyOf('Curation', EXAMPLE_CURATION) },
        responses: responses(stored('Curated'), [404, 409, 413], 201),
      },
    },
    '/v1/topics/': {
      post: {
        operationId: 'createTopic',
        summary: 'Make a topic of your own',
        description: 'It claims requests near its examples, from now on or from the beginning.',
        tags,
        parameters,
        requestBody: { required: true, ...bodyOf('NewTopic', EXAMPLE_TOPIC) },
        responses: responses(stored('NewTopicResponse'), [404, 409, 413], 201),
      },
    },
  };
}

export function curationSchemas(): Json {
  return {
    Curation: namedSchema('Curation', curationSchema, 'input'),
    Curated: namedSchema('Curated', curatedSchema, 'output'),
    NewTopic: namedSchema('NewTopic', newTopicSchema, 'input'),
    NewTopicResponse: namedSchema('NewTopicResponse', newTopicAnswerSchema, 'output'),
    CurationsResponse: namedSchema('CurationsResponse', curationsResponseSchema, 'output'),
  };
}
