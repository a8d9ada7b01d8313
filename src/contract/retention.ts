/**
 * The routes that read and set the retention of instances and projects.
 *
 * Test: test/web/retention-routes.test.ts.
 */
import { z } from 'zod';
import { MOST_RETENTION_DAYS, periodsBelow, RETENTION_SOURCES } from '../domain/retention.ts';
import { declare, json } from './route.ts';

const days = (what: string) =>
  z
    .int('must be a whole number of days')
    .min(1, 'must be at least 1 day')
    .max(MOST_RETENTION_DAYS, `must be at most ${MOST_RETENTION_DAYS} days`)
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
    for (const name of periodsBelow(kept, keepAtLeastDays)) {
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

export const projectRetentionSchema = z.strictObject({
  textDays: days(TEXT_DAYS),
  peopleDays: days(PEOPLE_DAYS),
  countDays: days(COUNT_DAYS),
  keepAtLeastDays: days(AT_LEAST_DAYS),
});

export const retentionSchema = z.strictObject({
  ...projectRetentionSchema.shape,
  from: z
    .enum(RETENTION_SOURCES)
    .describe(
      'Where these days were set: for the INSTANCE itself, for its PROJECT, or nowhere (NOTHING: for ever).',
    ),
  lastRun: runSchema.nullable().describe('The newest run; null: there was none.'),
});

export type NewRetention = z.input<typeof newRetentionSchema>;
export type RetentionAnswer = z.output<typeof retentionSchema>;
export type ProjectRetentionAnswer = z.output<typeof projectRetentionSchema>;

const EXAMPLE = { textDays: 90, peopleDays: 365, countDays: null, keepAtLeastDays: null };

export const READ_RETENTION = declare({
  method: 'GET',
  path: '/instances/{instanceId}/retention',
  operationId: 'readRetention',
  summary: 'See how long an instance keeps what was said',
  description: 'In days, where these were set, and what the newest run took away.',
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
    'day. What is gone does not come back when more days are set. These days take the place of those of the project, ' +
    'and none may be less than its keepAtLeastDays.',
  tag: 'Instances',
  scope: 'erase',
  instance: 'path',
  id: 'The instance.',
  body: { required: true, content: json('NewRetention', newRetentionSchema, EXAMPLE) },
  answer: { description: 'How long it is kept now.', content: json('Retention', retentionSchema) },
  fails: [404, 413],
});

export const RESET_RETENTION = declare({
  method: 'DELETE',
  path: '/instances/{instanceId}/retention',
  operationId: 'resetRetention',
  summary: 'Let an instance keep what was said as long as its project',
  description:
    'Gives up the days of the instance, so that those of the project hold. What is gone stays gone.',
  tag: 'Instances',
  scope: 'erase',
  instance: 'path',
  isBodiless: true,
  id: 'The instance.',
  parameters: z.strictObject({}),
  answer: { description: 'How long it is kept now.', content: json('Retention', retentionSchema) },
  fails: [404],
});

export const READ_PROJECT_RETENTION = declare({
  method: 'GET',
  path: '/retention',
  operationId: 'readProjectRetention',
  summary: 'See how long the instances of a project keep what was said',
  description: "The days of the key's project, which hold for its instances that have none of their own.",
  tag: 'Instances',
  scope: 'erase',
  parameters: z.strictObject({}),
  answer: { description: 'How long it is kept.', content: json('ProjectRetention', projectRetentionSchema) },
  fails: [],
});

export const SET_PROJECT_RETENTION = declare({
  method: 'PUT',
  path: '/retention',
  operationId: 'setProjectRetention',
  summary: 'Say how long the instances of a project keep what was said',
  description:
    "The days hold for all instances of the key's project that have none of their own. An instance that is made later " +
    'follows them from the next midnight in UTC on. keepAtLeastDays is a floor for days of instances, too: one that ' +
    'is more than an instance has is refused. Null four times: nothing is set.',
  tag: 'Instances',
  scope: 'erase',
  body: { required: true, content: json('NewRetention', newRetentionSchema, EXAMPLE) },
  answer: {
    description: 'How long it is kept now.',
    content: json('ProjectRetention', projectRetentionSchema),
  },
  fails: [409, 413],
});
