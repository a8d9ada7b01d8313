/**
 * The routes of erasures.
 *
 * Test: test/web/erasure-routes.test.ts.
 */
import { z } from 'zod';
import { ERASED_KINDS, ERASURE_SOURCES, ERASURE_STATES } from '../domain/erasures.ts';
import { givenUuid, uuid } from '../domain/uuid.ts';
import { newErasureSchema } from '../web/ingest/erasure-body.ts';
import { pageLimit } from '../query/page-limit.ts';
import { declare, json } from './route.ts';

const MOST = 1000;
const count = (what: string) => z.int().min(0).describe(what);

const receiptSchema = z.strictObject({
  messages: count('Messages that went.'),
  sessions: count('Sessions that went whole.'),
  entries: count('Entries of the stream that were written anew without them.'),
  bytes: count('By how many bytes these entries are smaller.'),
  deadLetters: count('Dead letters that went, or were written anew.'),
  unreadableDeadLetters: count('Dead letters that nobody can read: they may hold what was to go.'),
  madeFrom: z
    .enum(ERASURE_SOURCES)
    .nullable()
    .describe(
      'What the views without it are made from. STREAM: they are as if it had never been sent; FACTS: numbers are, and ' +
        'topics keep their shape without what single requests said, because the stream no longer holds everything; null: ' +
        'it is still in them.',
    ),
});

const backupSchema = z.strictObject({
  id: uuid.describe('The backup, as `npm run backup -- list` shows it.'),
  takenAt: z.iso.datetime().describe('UTC. When it was begun.'),
  expiresAt: z.iso
    .datetime()
    .nullable()
    .describe('UTC. When its key is destroyed; null: it has none, and stays until somebody deletes it.'),
});

export const erasureSchema = z.strictObject({
  id: uuid.describe('The erasure.'),
  instanceId: uuid.describe('The instance in which it erases.'),
  kind: z
    .enum(ERASED_KINDS)
    .describe('What goes. Which session or end user it was, nobody can tell any more.'),
  state: z
    .enum(ERASURE_STATES)
    .describe(
      'ACCEPTED: it waits its turn; ERASING: texts are taken out of the stream; RECOUNTING: numbers are counted without ' +
        'them; REBUILDING: no answer has any of it, and topics and names are found anew without it; DONE: nothing is left; ' +
        'FAILED: it is tried again, and fault says why.',
    ),
  reason: z.string().nullable().describe('As it was given; null: none.'),
  requestedBy: z.string().describe('The key or the person that asked for it.'),
  requestedAt: z.iso.datetime().describe('UTC. What was sent later stays.'),
  doneAt: z.iso.datetime().nullable().describe('UTC; null: it is not done yet.'),
  receipt: receiptSchema.nullable().describe('What went, counted; null: nothing yet.'),
  fault: z.string().nullable().describe('Why it failed last; null: it did not.'),
  backups: z
    .array(backupSchema)
    .describe(
      'Backups that may still hold it, as of now, the oldest first: begun before it was done, and not destroyed.',
    ),
});

export const erasureListSchema = z.strictObject({
  elements: z.array(erasureSchema).describe('The newest first.'),
  pagination: z.strictObject({
    limit: z.int().describe('The most erasures on a page, as asked.'),
    next: uuid.nullable().describe('The cursor of the next page; null: this is the last.'),
  }),
});

export type ErasureAnswer = z.output<typeof erasureSchema>;
export type ErasureList = z.output<typeof erasureListSchema>;

export const erasureListParameterSchemas = z.strictObject({
  limit: pageLimit(MOST, 50).describe('The most erasures to answer.'),
  cursor: givenUuid
    .optional()
    .describe('Where the page begins: pagination.next of the page before. Left out: at the newest.'),
});

export const CREATE_ERASURE = declare({
  method: 'POST',
  path: '/erasures',
  operationId: 'erase',
  summary: 'Erase a session, an end user, messages or an instance',
  description:
    'Answers once it is accepted durably, and works on: GET /v1/erasures/{id} says when it is done. What was sent before ' +
    'it goes, what is sent later stays. It cannot be undone.',
  tag: 'Erasures',
  scope: 'erase',
  instance: 'body',
  takesMessages: true,
  headers: ['Idempotency-Key', 'X-Wait-For-Position'],
  body: {
    required: true,
    content: json('NewErasure', newErasureSchema, {
      // Example ids, which the reader has to replace.
      instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10',
      externalId: 'ana',
      reason: 'Request 4711',
    }),
  },
  answer: {
    status: 202,
    description: 'Accepted.',
    headers: ['X-Wait-Result', 'X-Stream-Position'],
    content: json('Erasure', erasureSchema),
  },
  fails: [404, 409, 413],
});

export const LIST_ERASURES = declare({
  method: 'GET',
  path: '/erasures',
  operationId: 'listErasures',
  summary: 'List erasures',
  description: "The erasures of the key's project, the newest first.",
  tag: 'Erasures',
  scope: 'erase',
  instance: 'own',
  parameters: erasureListParameterSchemas,
  answer: { description: 'The asked-for page.', content: json('ErasureList', erasureListSchema) },
  fails: [],
});

export const READ_ERASURE = declare({
  method: 'GET',
  path: '/erasures/{id}',
  operationId: 'readErasure',
  summary: 'See how far an erasure is, and what went',
  description: 'Its state, when texts are gone its receipt, and the backups that still hold it.',
  tag: 'Erasures',
  scope: 'erase',
  instance: 'own',
  id: 'The erasure.',
  parameters: z.strictObject({}),
  answer: { description: 'The erasure.', content: json('Erasure', erasureSchema) },
  fails: [404],
});
