/**
 * The parameters and the answers of GET /v1/gaps/{id}/brief and POST /v1/gaps/{id}/draft.
 *
 * Test: test/e2e/brief-rules.test.ts, test/e2e/draft-rules.test.ts.
 */
import { z } from 'zod';
import { dimensionShape } from '../../domain/groupings.ts';
import { metricsSchema, dateTime } from '../../domain/metrics.ts';
import { MASKED_KINDS } from '../../domain/placeholders.ts';
import { uuid } from '../../domain/uuid.ts';
import { queryParameterSchemas, rangeInOrder } from '../parameters.ts';

const count = z.int().min(0);
const { shape } = queryParameterSchemas;
const { id, name, gapType, description } = dimensionShape.gap.unwrap().shape;

export const briefParameterSchemas = z
  .strictObject({
    instanceId: shape.instanceId,
    'dateRange.start': shape['dateRange.start'],
    'dateRange.end': shape['dateRange.end'],
    timeZone: shape.timeZone,
    segment: shape.segment,
  })
  .refine(...rangeInOrder());

export type BriefParameters = z.output<typeof briefParameterSchemas>;

/** Limits of an answer, the largest groups and the newest sessions first. */
export const [MOST_GROUPS, MOST_QUESTIONS] = [20, 8];

const said = z.strictObject({
  sessionId: uuid.describe('The session of the message.'),
  position: count.describe('Stream position of the message.'),
  createdAt: dateTime,
  text: z.string().describe('What was said, without personal data, shortened.'),
});

export const briefResponseSchema = z.strictObject({
  gap: z
    .strictObject({ id, name, gapType, description })
    .describe('The gap; of one that has merged, its heir.'),
  fields: metricsSchema.describe('Its metrics in the range, as a query answers them.'),
  groups: z
    .array(
      z.strictObject({
        topic: z
          .strictObject({ id: uuid, name: z.string() })
          .nullable()
          .describe('What these requests are about; null: they have no topic.'),
        sessions: count.describe('Sessions that asked so first.'),
        questions: z.array(said).describe(`The most typical first; at most ${MOST_QUESTIONS}.`),
      }),
    )
    .describe(`Requests by topic, the most frequent first; at most ${MOST_GROUPS}.`),
  others: count.describe('Sessions of the groups that are not listed.'),
  read: count.describe(
    'How many requests were read for `arguments`: those of the newest sessions of each group.',
  ),
  arguments: z
    .array(
      z.strictObject({
        kind: z.enum(MASKED_KINDS).describe('As masking finds it; ID: a number, such as of an order.'),
        requests: count.describe('In how many of them it stands.'),
      }),
    )
    .describe('What the requests hold that an action may need, the most frequent first.'),
  answers: z.array(said).describe('What the assistant said instead; at most three.'),
  lastProcessedAt: dateTime.describe('As in an answer of GET /v1/query/.'),
});

export type BriefResponse = z.output<typeof briefResponseSchema>;

export const draftResponseSchema = z.strictObject({
  gap: briefResponseSchema.shape.gap,
  markdown: z
    .string()
    .describe(
      'The draft, under a line that says which model wrote it. `[to be filled in]` stands where the answer is unknown.',
    ),
  model: z.string().describe('The model that wrote it.'),
  lastProcessedAt: dateTime.describe('As in an answer of GET /v1/query/.'),
});

export type DraftResponse = z.output<typeof draftResponseSchema>;
