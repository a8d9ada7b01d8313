/**
 * The routes that read and set an instance's retention.
 *
 * Test: test/web/retention-routes.test.ts.
 */
import { z } from 'zod';
import { declare, json } from './route.ts';

const MOST_DAYS = 36_500;

const days = (what: string) =>
  z
    .int('must be a whole number of days')
    .min(1, 'must be at least 1 day')
    .max(MOST_DAYS, `must be at most ${MOST_DAYS} days`)
    .nullable()
    .describe(`${what} Null: for ever.`);

const TEXT_DAYS =
  'Days after which texts, titles, summaries, quotes and vectors go, of conversations of which nothing was said since. ' +
  'What was counted stays.';
const PEOPLE_DAYS =
  'Days after which an end user of whom nothing was said since gets a name that leads to nobody, still counted once; ' +
  'metadata of them and of their conversations goes.';
const COUNT_DAYS = 'Days after which messages no longer count.';
const AT_LEAST_DAYS = 'None of the others may be less: for those who have to keep logs.';

export const newRetentionSchema = z
  .strictObject(
    {
      textDays: days(TEXT_DAYS),
      peopleDays: days(PEOPLE_DAYS),
      countDays: days(COUNT_DAYS),
      keepAtLeastDays: days(AT_LEAST_DAYS)
        .optional()
        .describe(`${AT_LEAST_DAYS} Left out: as it is. Null: none.`),
    },
    'must be a JSON object',
  )
  .superRefine(({ keepAtLeastDays = null, ...kept }, context) => {
    if (keepAtLeastDays === null) return;
    for (const [name, most] of Object.entries(kept)) {
      if (most === null || most >= keepAtLeastDays) continue;
      const message = `must be at least keepAtLeastDays, ${keepAtLeastDays}`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

const count = (what: string) => z.int().min(0).describe(what);

const runSchema = z.strictObject({
  startedAt: z.iso.datetime().describe('UTC.'),
  doneAt: z.iso.datetime().nullable().describe('UTC; null: it is not done yet.'),
  textsBefore: z.iso.datetime().nullable().describe('Texts from before are gone; null: none.'),
  peopleBefore: z.iso.datetime().nullable().describe('Names from before are gone; null: none.'),
  countsBefore: z.iso.datetime().nullable().describe('Messages from before are gone; null: none.'),
  messages: count('Messages that went.'),
  sessions: count('Sessions of which no message is left.'),
  texts: count('Sessions that lost title and summary.'),
  people: count('End users who got a name that leads to nobody.'),
  entries: count('Entries of the stream that were written anew.'),
  fault: z.string().nullable().describe('Why it failed last; null: it did not. It is tried again.'),
});

export const retentionSchema = z.strictObject({
  textDays: days(TEXT_DAYS),
  peopleDays: days(PEOPLE_DAYS),
  countDays: days(COUNT_DAYS),
  keepAtLeastDays: days(AT_LEAST_DAYS),
  lastRun: runSchema.nullable().describe('The newest run; null: there was none.'),
});

export type NewRetention = z.input<typeof newRetentionSchema>;
export type RetentionAnswer = z.output<typeof retentionSchema>;

const EXAMPLE = { textDays: 90, peopleDays: 365, countDays: null, keepAtLeastDays: null };

export const READ_RETENTION = declare({
  method: 'GET',
  path: '/instances/{instanceId}/retention',
  operationId: 'readRetention',
  summary: 'See how long an instance keeps what was said',
  description: 'In days, and what the newest run took away.',
  tag: 'Instances',
  scope: 'erase',
  instance: 'path',
  id: 'The instance.',
  parameters: z.strictObject({}),
  answer: { description: 'How long it is kept.', content: json('Retention', retentionSchema) },
  fails: [404],
});

export const SET_RETENTION = declare({
  method: 'PUT',
  path: '/instances/{instanceId}/retention',
  operationId: 'setRetention',
  summary: 'Say how long an instance keeps what was said',
  description:
    'Days are whole days in UTC, by the event time of messages. What is old enough goes within a minute, and then once a ' +
    'day. What is gone does not come back when more days are set.',
  tag: 'Instances',
  scope: 'erase',
  instance: 'path',
  id: 'The instance.',
  body: { required: true, content: json('NewRetention', newRetentionSchema, EXAMPLE) },
  answer: { description: 'How long it is kept now.', content: json('Retention', retentionSchema) },
  fails: [404, 413],
});
