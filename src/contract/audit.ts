/**
 * The route of the audit log.
 *
 * Test: test/web/audit-route.test.ts.
 */
import { z } from 'zod';
import { AUDITED } from '../domain/audit.ts';
import { givenUuid, uuid } from '../domain/uuid.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import { declare, json } from './route.ts';

const MOST = 1000;

const auditSchema = z.strictObject({
  elements: z
    .array(
      z.strictObject({
        id: uuid.describe('The record.'),
        createdAt: z.iso.datetime().describe('When it was done, UTC.'),
        keyId: z.string().describe('The key by which it was done.'),
        action: z.enum(AUDITED).describe('What was done.'),
        instanceId: uuid.nullable().describe('The instance; null: it is about no single one.'),
        target: z
          .string()
          .nullable()
          .describe(
            'The curation, topic, alert, instance, link or erasure; of an export its grouping; of that of an end user a ' +
              'keyed digest, the same each time; null: none.',
          ),
      }),
    )
    .describe('The newest first.'),
  pagination: z.strictObject({
    limit: z.int().describe('The most records on a page, as asked.'),
    next: uuid.nullable().describe('The cursor of the next page; null: this is the last.'),
  }),
});

export const READ_AUDIT = declare({
  method: 'GET',
  path: '/audit',
  operationId: 'readAudit',
  summary: 'See who did what',
  description:
    "What was decided, exported, made, deleted and erased in the key's project, shared by links, and who signed in to the dashboard: kept " +
    'for 400 days.',
  tag: 'Keys',
  scope: 'query',
  instance: 'own',
  parameters: z.strictObject({
    limit: queryParameterSchemas.shape.limit
      .refine((limit) => limit <= MOST, `must be a whole number from 1 to ${MOST}`)
      .describe(`The most records to answer, up to ${MOST}.`),
    cursor: givenUuid
      .optional()
      .describe('Where the page begins: pagination.next of the page before. Left out: at the newest.'),
  }),
  answer: { description: 'The asked-for page.', content: json('Audit', auditSchema) },
  fails: [],
});
