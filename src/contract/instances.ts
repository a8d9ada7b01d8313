/**
 * The routes of instances, session ids and the request's own key.
 *
 * Test: test/web/instances-route.test.ts, test/web/key-scopes.test.ts.
 */
import { z } from 'zod';
import { uuid } from '../domain/uuid.ts';
import { KEY_SCOPES } from '../domain/key-scopes.ts';
import {
  lengthOf,
  MAX_EXTERNAL_ID_LENGTH,
  MAX_EXTERNAL_IDS,
  MAX_INSTANCE_NAME_LENGTH,
} from '../domain/limits.ts';
import { isPlainName, NAME_RULE } from '../domain/printable.ts';
import { queryParameterSchemas, timeZone } from '../query/parameters.ts';
import { isLeftOutName, MOST_LEFT_OUT_BY_INSTANCE, MOST_VALUES } from '../domain/attributes.ts';
import { attributeNameSchema, attributeValueSchema } from '../query/segments.ts';
import { declare, json } from './route.ts';

const EXAMPLE_NAME = { name: 'Shop assistant' };

const name = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .refine(
    (text) => lengthOf(text) <= MAX_INSTANCE_NAME_LENGTH,
    `must be at most ${MAX_INSTANCE_NAME_LENGTH} characters long`,
  )
  .refine(isPlainName, NAME_RULE)
  .meta({ maxLength: MAX_INSTANCE_NAME_LENGTH });

const value = z
  .union([z.string(), z.number(), z.boolean()])
  .transform((given) => (typeof given === 'string' ? given : JSON.stringify(given)))
  .pipe(attributeValueSchema);
const values = z
  .union([value.transform((one) => [one]), z.array(value).min(1).max(MOST_VALUES)], {
    error: `must be a value, or 1 to ${MOST_VALUES} values`,
  })
  .transform((all): readonly string[] => [...new Set(all)].toSorted());
export const leaveOutSchema = z
  .record(
    attributeNameSchema.refine((name) => !isLeftOutName(name), 'must name an attribute, without a `!`'),
    values,
    'must be an object of attributes and their values',
  )
  .refine(
    (all) => Object.keys(all).length <= MOST_LEFT_OUT_BY_INSTANCE,
    `must name at most ${MOST_LEFT_OUT_BY_INSTANCE} attributes`,
  )
  .meta({ examples: [{ environment: ['test'] }] });

export const instanceSchema = z.strictObject({
  id: uuid.describe('Names the instance in every request.'),
  name: z.string().nullable().describe('What people call it; null: nothing.'),
  timeZone: z.string().describe('Whose days its questions mean where they do not say.'),
  leaveOut: z
    .record(z.string(), z.array(z.string()).readonly())
    .describe('Sessions that its questions leave out where they do not say: values by attribute.'),
  createdAt: z.iso.datetime().describe('When it was made, UTC.'),
});

export const instanceListSchema = z.strictObject({
  elements: z.array(instanceSchema).describe('Oldest first.'),
  pagination: z.strictObject({ total: z.number(), limit: z.number(), offset: z.number() }),
});

export const instanceListParameterSchemas = z.strictObject({
  limit: queryParameterSchemas.shape.limit.describe('The most instances to answer.'),
  offset: queryParameterSchemas.shape.offset.describe('How many instances to skip.'),
  default: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .describe('true: only the default instance of the project; none while nobody has asked for it.'),
});

export const LIST_INSTANCES = declare({
  method: 'GET',
  path: '/instances',
  operationId: 'listInstances',
  summary: 'List instances',
  description: "The instances of the key's project, oldest first.",
  tag: 'Instances',
  scope: 'query',
  instance: 'own',
  parameters: instanceListParameterSchemas,
  answer: { description: 'The asked-for page.', content: json('InstanceList', instanceListSchema) },
  fails: [],
});

export const newInstanceSchema = z.strictObject(
  {
    name: name.optional().describe('What people call it.'),
    default: z
      .boolean('must be true or false')
      .optional()
      .describe(
        'true: the default instance of the project, one for ever, is made when there is none, and answered. ' +
          'It keeps the name that it has.',
      ),
  },
  'must be a JSON object',
);

export const CREATE_INSTANCE = declare({
  method: 'POST',
  path: '/instances',
  operationId: 'createInstance',
  summary: 'Make an instance',
  description: 'In the project of the key. An ingest request without `instanceId` makes one, too.',
  tag: 'Instances',
  scope: 'ingest',
  headers: ['Idempotency-Key'],
  body: { required: false, content: json('NewInstance', newInstanceSchema, EXAMPLE_NAME) },
  answer: { status: 201, description: 'The instance was made.', content: json('Instance', instanceSchema) },
  otherwise: {
    status: 200,
    description: 'The default instance, which was there.',
    content: json('Instance', instanceSchema),
  },
  fails: [409, 413],
});

export const instanceChangeSchema = z
  .strictObject(
    {
      name: name.nullable().optional().describe('The new name; null: none.'),
      timeZone: timeZone
        .nullable()
        .optional()
        .describe('Whose days its questions mean where they do not say; null: those of UTC.'),
      leaveOut: leaveOutSchema
        .nullable()
        .optional()
        .describe('Sessions that its questions leave out where they do not say; null: none.'),
    },
    'must be a JSON object',
  )
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    path: ['name'],
    message: 'is required where neither timeZone nor leaveOut is given',
  });

export const CHANGE_INSTANCE = declare({
  method: 'PATCH',
  path: '/instances/{instanceId}',
  operationId: 'changeInstance',
  summary: 'Rename an instance, set its time zone, or what it leaves out',
  description: 'What is left out stays as it is. Every process knows the change within a second.',
  tag: 'Instances',
  scope: 'ingest',
  instance: 'path',
  id: 'The instance to change.',
  body: { required: true, content: json('InstanceChange', instanceChangeSchema, EXAMPLE_NAME) },
  answer: { description: 'The instance as it is now.', content: json('Instance', instanceSchema) },
  fails: [404, 413],
});

const externalId = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .refine(
    (text) => lengthOf(text) <= MAX_EXTERNAL_ID_LENGTH,
    `must be at most ${MAX_EXTERNAL_ID_LENGTH} characters long`,
  )
  .refine((text) => text.isWellFormed(), 'must not contain an unpaired surrogate')
  .meta({ maxLength: MAX_EXTERNAL_ID_LENGTH });

export const TOO_MANY_IDS = `must hold at most ${MAX_EXTERNAL_IDS} ids`;

export const externalIdsSchema = z.strictObject(
  {
    externalIds: z
      .array(externalId, 'must be an array')
      .min(1, 'must not be empty')
      .max(MAX_EXTERNAL_IDS, TOO_MANY_IDS)
      .describe('What you call the sessions.'),
  },
  'must be a JSON object',
);

export const sessionIdsSchema = z.strictObject({
  sessionIds: z.array(uuid).describe('In the order of the externalIds.'),
});

export const ISSUE_SESSION_IDS = declare({
  method: 'POST',
  path: '/instances/{instanceId}/session-ids',
  operationId: 'issueSessionIds',
  summary: 'Get session ids for ids of your own',
  description:
    'The same external id always gets the same session id; nothing is stored. A session under such an id is ingested faster ' +
    'than one under an id that you chose: the id says which instance it belongs to.',
  tag: 'Instances',
  scope: 'ingest',
  instance: 'path',
  id: 'The instance of the sessions.',
  body: {
    required: true,
    content: json('ExternalIds', externalIdsSchema, { externalIds: ['ticket-123', 'ticket-124'] }),
  },
  answer: { description: 'The session ids.', content: json('SessionIds', sessionIdsSchema) },
  fails: [404, 413],
});

export const keySchema = z.strictObject({
  keyId: z.string().describe('The name of the key in lists; it tells nothing about the key.'),
  projectId: uuid.describe('The project of the key.'),
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .describe(
      'What the key may do: `ingest`: send messages, make and rename instances; `query`: read everything; ' +
        '`curate`: change topics, clusters and gaps; `erase`: erase what was sent, see what was erased, and say what ' +
        'is masked.',
    ),
  drafts: z.boolean().describe('True: the service has a writer, so `POST /v1/gaps/{id}/draft` drafts.'),
});

export const READ_KEY = declare({
  method: 'GET',
  path: '/key',
  operationId: 'readKey',
  summary: 'See what the key may do',
  description: "The request's own key: its project and its scopes. It needs no scope.",
  tag: 'Keys',
  scope: null,
  instance: 'own',
  parameters: z.strictObject({}),
  answer: { description: 'The key.', content: json('Key', keySchema) },
  fails: [],
});
