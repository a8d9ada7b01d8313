/**
 * The parameters and the lines of GET /v1/subjects/{externalId}/export.
 *
 * Test: test/web/subject-route.test.ts, test/e2e/subject-rules.test.ts.
 */
import { z } from 'zod';
import { dateTime } from '../domain/metrics.ts';
import { uuid } from '../domain/uuid.ts';
import { AppError } from '../errors.ts';
import { queryParameterSchemas } from './parameters.ts';
import { messageSchema, sessionSchema } from './session-schema.ts';

export const subjectParameterSchemas = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId.describe('The instance in which the end user is known.'),
});

const count = z.int().min(0);
const metadata = z.record(z.string(), z.unknown());
const { topic, gap } = messageSchema.shape;
const isNamed = z.boolean().describe('A person gave it its name, or pinned it.');

const endUserSchema = z.strictObject({
  kind: z.literal('END_USER').describe('The first line: the end user.'),
  id: uuid.describe('Of the end user, as queries say it.'),
  externalId: z.string().describe('The userId of their messages, to the letter.'),
  createdAt: dateTime
    .nullable()
    .describe('Event time of the first message that belongs to them, UTC; null: none.'),
  lastActiveAt: dateTime
    .nullable()
    .describe('Event time of the last message that belongs to them, UTC; null: none.'),
  sessions: count.describe('Sessions in which a message belongs to them.'),
  messages: count.describe('Messages that belong to them: theirs, and the replies.'),
  metadata: metadata.describe('What metadata.users said of them; the last write of each member wins.'),
});

const subjectFeedbackSchema = z.strictObject({
  kind: z.literal('FEEDBACK').describe('A piece of feedback that they gave, in the order of the stream.'),
  sessionId: uuid.describe('The session that it names.'),
  position: count.nullable().describe('The message that it is on; null: the message is not there.'),
  value: z.union([z.literal(-1), z.literal(0), z.literal(1)]).describe('0: taken back.'),
  rating: z.int().min(1).max(5).nullable().describe('1 to 5; null: none.'),
  comment: z.string().nullable().describe('As it is stored; null: none, or it is no longer held.'),
  createdAt: dateTime.describe('When the service accepted it, UTC.'),
});

const { endUser: _starter, ...ofSession } = sessionSchema.shape;

const subjectSessionSchema = z.strictObject({
  kind: z.literal('SESSION').describe('A session of theirs. Its messages are on the lines behind it.'),
  ...ofSession,
  isTheirs: z.boolean().describe('They started it.'),
});

const { externalId: _author, ...ofMessage } = messageSchema.shape;

const subjectMessageSchema = z.strictObject({
  kind: z.literal('MESSAGE').describe('A message of one of these sessions.'),
  sessionId: uuid.describe('Its session.'),
  ...ofMessage,
  isTheirs: z
    .boolean()
    .describe(
      'It belongs to them: they wrote it, or it replies to them. False: it belongs to somebody else.',
    ),
  topic: topic
    .unwrap()
    .extend({ isOwn: z.boolean().describe('A person made the topic.'), isNamed })
    .nullable()
    .describe('The topic under discussion, and what people decided about it; null: none.'),
  gap: gap
    .unwrap()
    .extend({ isNamed })
    .nullable()
    .describe('The gap that it admits, and what people decided about it; null: none.'),
});

const endSchema = z.strictObject({
  kind: z.literal('END').describe('The last line. Without it, the export was cut off.'),
  lines: count.describe('How many lines stand before it.'),
});

export const subjectLineSchema = z.union([
  endUserSchema,
  subjectFeedbackSchema,
  subjectSessionSchema,
  subjectMessageSchema,
  endSchema,
]);

export type SubjectLine = z.infer<typeof subjectLineSchema>;

/** The error omits the id, which may be a name. */
export function noSubject(): AppError {
  return new AppError(
    'NOT_FOUND',
    'Nothing of this end user is known in this instance, or nothing of it was counted yet. If messages were only just ' +
      'sent, send their X-Stream-Position as X-Wait-For-Position.',
  );
}
