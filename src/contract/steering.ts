/**
 * The routes by which people change topics, clusters and gaps, and check what was found.
 *
 * Test: test/web/curation-routes.test.ts, test/e2e/steering-rules.test.ts.
 */
import { z } from 'zod';
import { uuid } from '../domain/uuid.ts';
import { checkSchema } from '../web/ingest/check-body.ts';
import { curationSchema, labelSchema, newTopicSchema } from '../web/ingest/curation-body.ts';
import { checksParameterSchemas, checksResponseSchema } from '../query/checks/checks-schema.ts';
import { curationsParameterSchemas, curationsResponseSchema } from '../query/curations/curations-schema.ts';
import { declare, json, type Content, type Route } from './route.ts';

const curationId = uuid.describe('The curation: GET /v1/curations lists it, UNDO takes it back.');

export const curatedSchema = z.strictObject({
  curationId,
  topicClusterId: uuid.optional().describe('The cluster that newClusterName makes.'),
});

export const newTopicAnswerSchema = z.strictObject({ topicId: uuid.describe('The new topic.'), curationId });

export const labelAnswerSchema = z.strictObject({ labelId: uuid.describe('The label.'), curationId });

/** An example id, which the reader has to replace. */
const EXAMPLE_ID = '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10';

export const CURATIONS = declare({
  method: 'GET',
  path: '/curations',
  operationId: 'listCurations',
  summary: 'List what people decided',
  description: 'Curations with time and key, the newest first, and what became of each.',
  tag: 'Steering',
  scope: 'query',
  instance: 'parameters',
  parameters: curationsParameterSchemas,
  headers: ['X-Wait-For-Position'],
  answer: {
    description: 'The asked-for page.',
    headers: ['X-Wait-Result'],
    content: json('CurationsResponse', curationsResponseSchema),
  },
  fails: [404],
});

export const CHECKS = declare({
  method: 'GET',
  path: '/checks',
  operationId: 'readChecks',
  summary: 'See how sure a number is, and what to check next',
  description:
    'Draws sessions to read, those in which something was found and others, and estimates from the verdicts how ' +
    'often it is truly there: share, precision and recall, with 95 % intervals.',
  tag: 'Steering',
  scope: 'query',
  instance: 'parameters',
  parameters: checksParameterSchemas,
  examples: { of: 'TOPIC', id: '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d' },
  headers: ['X-Wait-For-Position'],
  answer: {
    description: 'The estimates, and the sessions to check next.',
    headers: ['X-Wait-Result'],
    content: json('ChecksResponse', checksResponseSchema),
  },
  fails: [404],
});

/** Declares a route that responds once a curation is stored durably. */
function deciding(
  rest: Pick<Route, 'path' | 'operationId' | 'summary' | 'description'>,
  body: Readonly<Record<string, Content>>,
  answer: Readonly<Record<string, Content>>,
): Route<z.ZodType<undefined>> {
  return declare({
    ...rest,
    method: 'POST',
    tag: 'Steering',
    scope: 'curate',
    instance: 'body',
    takesMessages: true,
    headers: ['Idempotency-Key', 'X-Wait-For-Position'],
    body: { required: true, content: body },
    answer: {
      status: 201,
      description: 'Stored.',
      headers: ['X-Wait-Result', 'X-Stream-Position'],
      content: answer,
    },
    fails: [404, 409, 413],
  });
}

export const CURATE = deciding(
  {
    path: '/curations',
    operationId: 'curate',
    summary: 'Rename, pin, merge, move, hide, track or undo',
    description: 'Answers once it is stored durably; answers of queries follow when it is processed.',
  },
  json('Curation', curationSchema, {
    instanceId: EXAMPLE_ID,
    action: 'RENAME',
    topicId: '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d',
    name: 'Change the delivery address',
  }),
  json('Curated', curatedSchema),
);

export const CREATE_TOPIC = deciding(
  {
    path: '/topics',
    operationId: 'createTopic',
    summary: 'Make a topic of your own',
    description: 'It claims requests near its examples, from now on or from the beginning.',
  },
  json('NewTopic', newTopicSchema, {
    instanceId: EXAMPLE_ID,
    name: 'Gift wrapping',
    description: 'How a parcel is wrapped.',
    examples: ['Can you wrap it as a present?', 'I would like gift paper and a card'],
  }),
  json('NewTopicResponse', newTopicAnswerSchema),
);

export const SAVE_LABEL = deciding(
  {
    path: '/labels',
    operationId: 'saveLabel',
    summary: 'Make or change a label',
    description:
      'Requests near its examples, and not nearer to its counterexamples, have the label, earlier ones too. A ' +
      'conversation may have several labels, which change no topic. UNDO takes a change back, or the label.',
  },
  json('Label', labelSchema, {
    instanceId: EXAMPLE_ID,
    name: 'Threatens to leave',
    examples: ['Then I will cancel', 'I am going to another provider', 'I want out of the contract'],
    counterexamples: ['How do I cancel one order?'],
  }),
  json('LabelResponse', labelAnswerSchema),
);

export const CHECK = deciding(
  {
    path: '/checks',
    operationId: 'check',
    summary: 'Say whether what was found is there',
    description: 'A verdict on one session. It changes no number; GET /v1/checks estimates from all of them.',
  },
  json('Check', checkSchema, {
    instanceId: EXAMPLE_ID,
    of: 'TOPIC',
    id: '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d',
    sessionId: '0c5a1f62-2f7d-4c0a-8f8e-6a3f9d1b2c44',
    verdict: 'YES',
  }),
  json('CheckResponse', z.strictObject({ curationId: uuid.describe('The verdict: UNDO takes it back.') })),
);
