/**
 * The parameters and the answer of GET /v1/curations.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import { z } from 'zod';
import { UNCLAIMED, type CurationAction, type CurationRefusal } from '../../domain/curations.ts';
import { releaseSchema } from '../../domain/life-schema.ts';
import { LIFE_STATES } from '../../domain/lives.ts';
import { SESSION_OUTCOMES } from '../../domain/session-outcomes.ts';
import { uuid } from '../../domain/uuid.ts';
import { dateTime } from '../../domain/metrics.ts';
import { pageLimit } from '../page-limit.ts';
import { queryParameterSchemas } from '../parameters.ts';

const count = z.int().min(0);

const MAX_PAGE = 1000;

export const curationsParameterSchemas = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId,
  limit: pageLimit(MAX_PAGE, 50).describe('The most curations to answer.'),
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, 'must be the pagination.next of the page before')
    .transform(Number)
    .optional()
    .describe('Where the page begins: pagination.next of the page before. Left out: with the newest.')
    .meta({ type: 'string' }),
});

export type CurationsParameters = z.output<typeof curationsParameterSchemas>;

const KINDS = [
  'RENAME',
  'PIN',
  'MERGE',
  'MOVE',
  'HIDE',
  'CREATE',
  'LABEL',
  'ASSIGN',
  'EXCLUDE',
  'ROUTE',
  'TRACK',
  'UNDO',
] as const satisfies readonly Exclude<CurationAction['kind'], 'CHECK'>[];

/** Explains each refusal to a person. */
export const REFUSALS: Readonly<Record<CurationRefusal, string>> = {
  UNKNOWN: 'What it names was not there when its turn came.',
  CIRCULAR: 'The two topics were one already.',
  NOT_UNDOABLE: 'What it undoes was refused, was undone before, or is an undo itself.',
  NO_REQUEST: 'The message holds no request that could have a topic of its own.',
  IS_OTHER: 'The topic Other merges into none: choose FOUND, or undo what chose OTHER.',
  TOO_MANY:
    'The instance has as many decisions, corrections, labels, or topics made by people, as it may have.',
};

const named = z.strictObject({
  id: uuid,
  name: z.string().nullable().describe('As it is shown now; null: it is not there.'),
});

const curationSchema = z.strictObject({
  curationId: uuid.describe('Names the curation: UNDO takes it.'),
  createdAt: dateTime.describe('When it was accepted, UTC.'),
  position: count.describe('Its place in the stream, among the messages.'),
  keyId: z.string().describe('The key that asked for it, as `npm run keys -- list` names it.'),
  action: z
    .enum(KINDS)
    .describe('What it does. CREATE: a topic of POST /v1/topics. LABEL: of POST /v1/labels.'),
  target: z
    .strictObject({
      type: z
        .enum(['TOPIC', 'TOPIC_CLUSTER', 'SIGNAL', 'GAP', 'REPEATED_REQUEST', 'LABEL', 'SESSION', 'CURATION'])
        .describe('What the id is of.'),
      ...named.shape,
    })
    .describe(
      'What it changes: of a correction of an outcome the session, whose name is its title; of UNDO the curation that it ' +
        'takes back, whose name is null.',
    ),
  details: z
    .strictObject({
      name: z.string().optional().describe('The name that it gives.'),
      intoTopic: named.optional().describe('MERGE: the topic that the target counts as.'),
      topicCluster: named.optional().describe('MOVE: the cluster that the target is put into.'),
      newClusterName: z.string().optional().describe('MOVE: the name of the cluster that it makes.'),
      description: z.string().optional().describe('CREATE, LABEL: what it is about.'),
      examples: z.array(z.string()).optional().describe('CREATE, LABEL: the requests that it was made with.'),
      counterexamples: z.array(z.string()).optional().describe('LABEL: the requests that do not have it.'),
      fromBeginning: z.boolean().optional().describe('CREATE: whether it claims earlier requests too.'),
      position: count
        .optional()
        .describe('ASSIGN, EXCLUDE of a signal, gap or repeated request: the message.'),
      outcome: z.enum(SESSION_OUTCOMES).optional().describe('ASSIGN of a session: how it ended.'),
      unclaimed: z
        .enum(UNCLAIMED)
        .optional()
        .describe('ROUTE: where requests count that no topic made by people claims.'),
      state: z.enum(LIFE_STATES).optional().describe('TRACK: where it stands.'),
      fixedAt: z.iso.datetime().optional().describe('TRACK: since when it is fixed, where that was said.'),
      release: releaseSchema.optional().describe('TRACK: in which release it is fixed.'),
      owner: z.string().optional().describe('TRACK: who takes care of it.'),
      note: z.string().optional().describe('TRACK: what there is to know.'),
      link: z.string().optional().describe('TRACK: where more is, such as an issue.'),
      fromTopic: named.optional().describe('CREATE: the found topic that it took over.'),
    })
    .describe('The other members of the action.'),
  status: z
    .enum(['APPLIED', 'REFUSED', 'UNDONE'])
    .describe('REFUSED: it changed nothing. UNDONE: a later curation took it back.'),
  reason: z
    .strictObject({
      code: z
        .enum(Object.keys(REFUSALS) as [CurationRefusal, ...CurationRefusal[]])
        .describe('For programs.'),
      message: z.string().describe('For people.'),
    })
    .nullable()
    .describe('Why it was refused; null: it was not.'),
  undoneBy: uuid.nullable().describe('The curation that took it back; null: none.'),
});

/** Strict: rejects members that are not declared. */
export const curationsResponseSchema = z.strictObject({
  elements: z.array(curationSchema).describe('The newest first.'),
  pagination: z.strictObject({
    limit: count,
    next: z.string().nullable().describe('The cursor of the page that follows; null: this is the last.'),
  }),
  lastProcessedAt: dateTime.nullable().describe('As in an answer of GET /v1/query/.'),
});

export type CurationsResponse = z.output<typeof curationsResponseSchema>;
export type ListedCuration = CurationsResponse['elements'][number];
