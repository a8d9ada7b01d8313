/**
 * The routes that read and set an instance's masking.
 *
 * Test: test/web/masking-routes.test.ts.
 */
import { z } from 'zod';
import { USER_ID_FORMS } from '../domain/masking.ts';
import { declare, json } from './route.ts';

/** What is masked, in requests and in answers. */
export const maskingSchema = z.strictObject(
  {
    texts: z
      .boolean('must be true or false')
      .describe(
        'true: personal values in contents and in texts of metadata are stored as placeholders such as [EMAIL_1], equal ones ' +
          'of a session as the same.',
      ),
    userIds: z
      .enum(USER_ID_FORMS, 'must be asSent or digest')
      .describe(
        'asSent: userId is stored as it is sent; digest: as a keyed digest, the same for the same userId of the instance.',
      ),
  },
  'must be a JSON object',
);

export const READ_MASKING = declare({
  method: 'GET',
  path: '/instances/{instanceId}/masking',
  operationId: 'readMasking',
  summary: "See what is masked of an instance's messages",
  description: 'Of an instance of which nobody has said anything, nothing is masked.',
  tag: 'Instances',
  scope: 'erase',
  instance: 'path',
  id: 'The instance.',
  parameters: z.strictObject({}),
  answer: { description: 'What is masked.', content: json('Masking', maskingSchema) },
  fails: [404],
});

export const SET_MASKING = declare({
  method: 'PUT',
  path: '/instances/{instanceId}/masking',
  operationId: 'setMasking',
  summary: "Say what is masked of an instance's messages",
  description:
    'It holds for what is sent from now on, through every door; what is stored stays as it is. Every process knows it ' +
    'within a second.',
  tag: 'Instances',
  scope: 'erase',
  instance: 'path',
  id: 'The instance.',
  body: {
    required: true,
    content: json('NewMasking', maskingSchema, { texts: true, userIds: 'asSent' }),
  },
  answer: { description: 'What is masked now.', content: json('Masking', maskingSchema) },
  fails: [404, 413],
});
