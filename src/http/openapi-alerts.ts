/** The routes about alerts. Covered by test/http/docs.test.ts. */
import { POSTED, type PostedType } from '../alerts/body-schema.ts';
import { newRuleSchema } from '../alerts/rule.ts';
import { alertDetailSchema, alertListSchema, alertTestSchema, newAlertSchema } from '../alerts/service.ts';
import { alertParameterSchemas } from './alert-routes.ts';
import {
  bodyOf,
  IDEMPOTENCY_KEY,
  namedSchema,
  parametersOf,
  RATE_LIMIT_HEADERS,
  responses,
  type Json,
} from './openapi-parts.ts';

/** The instance is that of an example: it has to be replaced. */
const EXAMPLE_ALERT: Json = {
  instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10',
  name: 'Many complaints',
  condition: { kind: 'count', groupBy: 'CSAT_DSAT', signalType: 'DSAT', window: 'DAY', atLeast: 40 },
  delivery: { url: 'https://example.com/undertone' },
};

const ID: Json = {
  name: 'id',
  in: 'path',
  description: 'The alert.',
  required: true,
  schema: { type: 'string', format: 'uuid' },
};

export function alertPaths(): Json {
  const tags = ['Alerts'];
  const answer = (description: string, schema: string): Json => ({
    description,
    headers: RATE_LIMIT_HEADERS,
    ...bodyOf(schema),
  });
  const parameters = parametersOf(alertParameterSchemas);
  return {
    '/v1/alerts/': {
      get: {
        operationId: 'listAlerts',
        summary: 'List alerts',
        description: 'The alerts of an instance, without their secrets.',
        tags,
        parameters,
        responses: responses(answer('All of them.', 'AlertList'), [404]),
      },
      post: {
        operationId: 'createAlert',
        summary: 'Make an alert, or a weekly digest',
        description:
          'From now on, what meets the condition is posted to the URL, once, signed as the Standard Webhooks ' +
          'specification says. Only windows that end after this request count.',
        tags,
        parameters: [IDEMPOTENCY_KEY],
        requestBody: { required: true, ...bodyOf('NewAlert', EXAMPLE_ALERT) },
        responses: responses(answer('The alert, and its secret.', 'NewAlertResponse'), [404, 409, 413], 201),
      },
    },
    '/v1/alerts/{id}/': {
      get: {
        operationId: 'readAlert',
        summary: 'See an alert and its messages',
        description: 'The alert, its newest messages, and what became of each.',
        tags,
        parameters: [ID, ...parameters],
        responses: responses(answer('The alert.', 'AlertDetail'), [404]),
      },
      delete: {
        operationId: 'deleteAlert',
        summary: 'Delete an alert',
        description: 'Messages that are not delivered yet are dropped.',
        tags,
        parameters: [ID, ...parameters],
        responses: responses({ description: 'It is deleted.', headers: RATE_LIMIT_HEADERS }, [404], 204),
      },
    },
    '/v1/alerts/{id}/test/': {
      post: {
        operationId: 'testAlert',
        summary: 'Send a test message',
        description:
          'It is sent and retried like every other message. If it arrives, it enables an alert that was disabled. ' +
          'At most 100 test messages of a project wait to be delivered: one more is a 429.',
        tags,
        parameters: [ID, ...parameters],
        responses: responses(answer('It is being sent.', 'AlertTest'), [404, 409], 202),
      },
    },
  };
}

/** What is posted to the URL of an alert of format `undertone`. */
const WEBHOOKS: Readonly<Record<PostedType, { readonly schema: string; readonly summary: string }>> = {
  'alert.fired': { schema: 'AlertFired', summary: 'An alert has fired' },
  'alert.held_back': { schema: 'AlertHeldBack', summary: 'An alert holds back what else fires in a window' },
  'alert.test': { schema: 'AlertTestMessage', summary: 'A test message' },
  'digest.weekly': { schema: 'WeeklyDigest', summary: 'A week in numbers' },
};

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

export function alertWebhooks(): Json {
  const webhooks = Object.entries(WEBHOOKS).map(([type, { schema, summary }]) => [
    type,
    {
      post: {
        operationId: `on${schema}`,
        summary,
        description: 'With the format slack, the body is what incoming webhooks of Slack take.',
        tags: ['Alerts'],
        security: [],
        parameters: SIGNED,
        requestBody: { required: true, ...bodyOf(schema) },
        responses: {
          '2XX': { description: 'It has arrived.' },
          410: { description: 'The alert is disabled.' },
          default: { description: 'It is sent again, for three days in all.' },
        },
      },
    },
  ]);
  return Object.fromEntries(webhooks) as Json;
}

export function alertSchemas(): Json {
  const posted = Object.entries(WEBHOOKS).map(([type, { schema }]) => [
    schema,
    namedSchema(schema, POSTED[type as PostedType], 'output'),
  ]);
  return {
    ...(Object.fromEntries(posted) as Json),
    NewAlert: namedSchema('NewAlert', newRuleSchema(false), 'input'),
    NewAlertResponse: namedSchema('NewAlertResponse', newAlertSchema, 'output'),
    AlertList: namedSchema('AlertList', alertListSchema, 'output'),
    AlertDetail: namedSchema('AlertDetail', alertDetailSchema, 'output'),
    AlertTest: namedSchema('AlertTest', alertTestSchema, 'output'),
  };
}
