/**
 * The routes of alerts and the digest, and the webhooks that alerts send. The contract imports the alerts door only
 * here.
 *
 * Test: test/web/alert-routes.test.ts, test/e2e/alerts-rules.test.ts.
 */
import { z } from 'zod';
import { POSTED, type PostedType } from '../doors/alerts/body-schema.ts';
import { digestParameterSchemas, digestResponseSchema } from '../doors/alerts/digest-reader.ts';
import { newRuleSchema } from '../doors/alerts/rule.ts';
import {
  alertDetailSchema,
  alertListSchema,
  alertTestSchema,
  newAlertSchema,
} from '../doors/alerts/service.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import { reading, TEXT } from './query.ts';
import { declare, json, type NamedSchema } from './route.ts';

export type { DigestAnswer, DigestParameters } from '../doors/alerts/digest-reader.ts';
export type { Condition, Counted, Format, NewRule, Reach, Window } from '../doors/alerts/rule.ts';
export type { Alert, AlertDetail, AlertService, NewAlert } from '../doors/alerts/service.ts';

/** Parameters of every route of alerts but POST /v1/alerts/. */
const parameters = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId.describe('The instance of the alerts.'),
});
const ID = 'The alert.';

export const LIST_ALERTS = declare({
  method: 'GET',
  path: '/alerts',
  operationId: 'listAlerts',
  summary: 'List alerts',
  description: 'The alerts of an instance, without their secrets.',
  tag: 'Alerts',
  scope: 'query',
  instance: 'parameters',
  parameters,
  answer: { description: 'All of them.', content: json('AlertList', alertListSchema) },
  fails: [404],
});

export const CREATE_ALERT = declare({
  method: 'POST',
  path: '/alerts',
  operationId: 'createAlert',
  summary: 'Make an alert, or a weekly digest',
  description:
    'From now on, what meets the condition is posted to the URL, once, signed as the Standard Webhooks ' +
    'specification says. Only windows that end after this request count.',
  tag: 'Alerts',
  scope: 'curate',
  instance: 'body',
  headers: ['Idempotency-Key'],
  body: {
    required: true,
    content: json('NewAlert', newRuleSchema({ allowPrivate: false, hasMail: true }), {
      // An example id, which the reader has to replace.
      instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10',
      name: 'Many complaints',
      condition: { kind: 'count', groupBy: 'CSAT_DSAT', signalType: 'DSAT', window: 'DAY', atLeast: 40 },
      delivery: { url: 'https://example.com/undertone' },
    }),
  },
  answer: {
    status: 201,
    description: 'The alert, and its secret.',
    content: json('NewAlertResponse', newAlertSchema),
  },
  fails: [404, 409, 413],
});

export const READ_ALERT = declare({
  method: 'GET',
  path: '/alerts/{id}',
  operationId: 'readAlert',
  summary: 'See an alert and its messages',
  description: 'The alert, its newest messages, and what became of each.',
  tag: 'Alerts',
  scope: 'query',
  instance: 'parameters',
  id: ID,
  parameters,
  answer: { description: 'The alert.', content: json('AlertDetail', alertDetailSchema) },
  fails: [404],
});

export const DELETE_ALERT = declare({
  method: 'DELETE',
  path: '/alerts/{id}',
  operationId: 'deleteAlert',
  summary: 'Delete an alert',
  description: 'Messages that are not delivered yet are dropped.',
  tag: 'Alerts',
  scope: 'curate',
  instance: 'parameters',
  isBodiless: true,
  id: ID,
  parameters,
  answer: { status: 204, description: 'It is deleted.' },
  fails: [404],
});

export const TEST_ALERT = declare({
  method: 'POST',
  path: '/alerts/{id}/test',
  operationId: 'testAlert',
  summary: 'Send a test message',
  description:
    'It is sent and retried like every other message. If it arrives, it enables an alert that was disabled. ' +
    'At most 100 test messages of a project wait to be delivered: one more is a 429.',
  tag: 'Alerts',
  scope: 'curate',
  instance: 'parameters',
  isBodiless: true,
  id: ID,
  parameters,
  answer: { status: 202, description: 'It is being sent.', content: json('AlertTest', alertTestSchema) },
  fails: [404, 409],
});

export const DIGEST = reading(
  {
    path: '/digest',
    operationId: 'readDigest',
    summary: 'Tell a week in words',
    description:
      'What a week was like against the week before: its numbers, what is new, rising and falling, gaps and repeated ' +
      'requests. As HTML it is one page that needs nothing else, to keep or to pass on.',
    parameters: digestParameterSchemas,
  },
  'The digest.',
  'Digest',
  digestResponseSchema,
  { 'text/html': TEXT },
);

/** Messages that are posted to the URL of an alert of format `undertone`, by type. */
export const WEBHOOKS: Readonly<Record<PostedType, NamedSchema & { readonly summary: string }>> = {
  'alert.fired': { name: 'AlertFired', schema: POSTED['alert.fired'], summary: 'An alert has fired' },
  'alert.held_back': {
    name: 'AlertHeldBack',
    schema: POSTED['alert.held_back'],
    summary: 'An alert holds back what else fires in a window',
  },
  'alert.test': { name: 'AlertTestMessage', schema: POSTED['alert.test'], summary: 'A test message' },
  'digest.weekly': { name: 'WeeklyDigest', schema: POSTED['digest.weekly'], summary: 'A week in numbers' },
};
