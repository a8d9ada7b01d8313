/**
 * Parses the bodies of POST /v1/curations/, POST /v1/topics/ and POST /v1/labels/.
 *
 * Test: test/web/ingest/curation-body.test.ts.
 */
import { z } from 'zod';
import type { AskedCuration } from '../../domain/asked-curations.ts';
import {
  LEAST_LABEL_EXAMPLES,
  LONGEST_CORRECTED,
  LONGEST_DESCRIPTION,
  LONGEST_EXAMPLE,
  LONGEST_NAME,
  MOST_EXAMPLES,
  otherTopicId,
  UNCLAIMED,
  type CorrectedEntity,
  type CuratedEntity,
} from '../../domain/curations.ts';
import { SESSION_OUTCOMES } from '../../domain/session-outcomes.ts';
import { givenUuid } from '../../domain/uuid.ts';
import { lifeBy, lifeSchema } from './life-body.ts';
import { line, tidy } from './line-text.ts';
import { checked, onlyOneOf } from './validation.ts';

/** A valid request: UUIDs in lower case, texts as they are stored. */
export interface CurationRequest {
  readonly instanceId: string;
  readonly asked: AskedCuration;
}

const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

const name = (description: string) =>
  line(LONGEST_NAME)
    .refine((text) => VISIBLE.test(text), 'must not be empty')
    .meta({ minLength: 1, maxLength: LONGEST_NAME, description });

const id = (description: string) => givenUuid.describe(description);

const instanceId = id('The instance of what is curated.');

/** The members of which RENAME and PIN take exactly one, with the entity that each names. */
const NAMED_BY = {
  topicId: 'TOPIC',
  topicClusterId: 'CLUSTER',
  gapId: 'GAP',
} as const satisfies Readonly<Record<string, CuratedEntity>>;
type NamedBy = keyof typeof NAMED_BY;
const NAMES = Object.keys(NAMED_BY) as [NamedBy, ...NamedBy[]];

const named = {
  topicId: id('The topic; this, topicClusterId or gapId is required.').optional(),
  topicClusterId: id('The topic cluster.').optional(),
  gapId: id('The gap.').optional(),
};

const refuseOthers = (
  body: Readonly<Partial<Record<NamedBy, string | undefined>>>,
  context: z.RefinementCtx,
): void => void onlyOneOf(NAMES, body, context);

const topicId = id('The topic.');

const quote = (longest: number) =>
  z
    .string('must be a string')
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine((text) => text.trim().length <= longest, `must be at most ${longest} characters long`)
    .meta({ minLength: 1, maxLength: longest });

/** What ASSIGN and EXCLUDE are of: exactly one, each with its member of `STANDS_BESIDE`. Only ASSIGN takes a session. */
const CORRECTED_BY = {
  topicId: 'TOPIC',
  signalId: 'SIGNAL',
  gapId: 'GAP',
  repeatedRequestId: 'REPEATED_REQUEST',
  sessionId: 'OUTCOME',
} as const satisfies Readonly<Record<string, 'TOPIC' | CorrectedEntity | 'OUTCOME'>>;
type CorrectedBy = keyof typeof CORRECTED_BY;
const CORRECTED = Object.keys(CORRECTED_BY) as [CorrectedBy, ...CorrectedBy[]];
const MESSAGE_CORRECTED = ['topicId', 'signalId', 'gapId', 'repeatedRequestId'] as const;
const STANDS_BESIDE = {
  topicId: 'text',
  signalId: 'position',
  gapId: 'position',
  repeatedRequestId: 'position',
  sessionId: 'outcome',
} as const satisfies Readonly<Record<CorrectedBy, string>>;

const corrected = {
  topicId: id('The topic; this, signalId, gapId or repeatedRequestId is required.').optional(),
  signalId: id('The signal.').optional(),
  gapId: id('The gap.').optional(),
  repeatedRequestId: id('The repeated request.').optional(),
  text: quote(LONGEST_CORRECTED).optional().describe('With topicId: the message, as its user wrote it.'),
  position: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .optional()
    .describe('With signalId, gapId or repeatedRequestId: the message, by its position in the transcript.'),
};

const ended = {
  sessionId: id(
    'The session, whose outcome is corrected; it may stand in the place of the others.',
  ).optional(),
  outcome: z
    .enum(SESSION_OUTCOMES, `must be one of ${SESSION_OUTCOMES.join(', ')}`)
    .optional()
    .describe('With sessionId: how the session really ended.'),
};

function refuseMixed(
  body: Readonly<Partial<Record<CorrectedBy, string | undefined>>> & {
    readonly action: 'ASSIGN' | 'EXCLUDE';
    readonly text?: string | undefined;
    readonly position?: number | undefined;
    readonly outcome?: string | undefined;
  },
  context: z.RefinementCtx,
): void {
  const first = onlyOneOf(body.action === 'ASSIGN' ? CORRECTED : MESSAGE_CORRECTED, body, context);
  if (first === undefined) return;
  const issue = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  const wanted = STANDS_BESIDE[first];
  if (body[wanted] === undefined) issue(wanted, `is required with ${first}`);
  for (const unwanted of new Set(Object.values(STANDS_BESIDE)))
    if (unwanted !== wanted && body[unwanted] !== undefined)
      issue(unwanted, `must not stand beside ${first}`);
}

const ACTIONS = [
  'RENAME',
  'PIN',
  'MERGE',
  'MOVE',
  'HIDE',
  'ASSIGN',
  'EXCLUDE',
  'ROUTE',
  'TRACK',
  'UNDO',
] as const;

export const curationSchema = z.discriminatedUnion(
  'action',
  [
    z
      .strictObject({
        action: z.literal('RENAME').describe('Gives a name.'),
        instanceId,
        ...named,
        name: name('The new name. White space is collapsed.'),
      })
      .superRefine(refuseOthers),
    z
      .strictObject({
        action: z.literal('PIN').describe('Keeps the name that it has now.'),
        instanceId,
        ...named,
      })
      .superRefine(refuseOthers),
    z
      .strictObject({
        action: z.literal('MERGE').describe('Counts everything in a topic for another one.'),
        instanceId,
        topicId,
        intoTopicId: id('The topic for which it counts.'),
      })
      .refine((body) => body.topicId.toLowerCase() !== body.intoTopicId.toLowerCase(), {
        path: ['intoTopicId'],
        message: 'must be another topic than topicId',
      }),
    z
      .strictObject({
        action: z.literal('MOVE').describe('Puts a topic into a topic cluster.'),
        instanceId,
        topicId,
        topicClusterId: id('The cluster; this or newClusterName is required.').optional(),
        newClusterName: name('Makes a cluster of this name for it.').optional(),
      })
      .superRefine(({ topicClusterId, newClusterName }, context) => {
        if ((topicClusterId === undefined) !== (newClusterName === undefined)) return;
        const isNone = topicClusterId === undefined;
        const path = [isNone ? 'topicClusterId' : 'newClusterName'];
        const message = isNone ? 'is required, or newClusterName' : 'must not stand beside topicClusterId';
        context.addIssue({ code: 'custom', path, message });
      }),
    z.strictObject({
      action: z.literal('HIDE').describe('Counts the requests of a topic as having no topic.'),
      instanceId,
      topicId,
    }),
    z
      .strictObject({
        action: z
          .literal('ASSIGN')
          .describe(
            'Counts a message for a topic, signal, gap or repeated request, or says how a session ended. Of a topic, requests that say nearly the same follow.',
          ),
        instanceId,
        ...corrected,
        ...ended,
      })
      .superRefine(refuseMixed),
    z
      .strictObject({
        action: z
          .literal('EXCLUDE')
          .describe('Counts a message not for a topic, signal, gap or repeated request, likewise.'),
        instanceId,
        ...corrected,
      })
      .superRefine(refuseMixed),
    z.strictObject({
      action: z
        .literal('ROUTE')
        .describe('Says where requests count that no topic made by people claims. The latest holds.'),
      instanceId,
      unclaimed: z
        .enum(UNCLAIMED, `must be one of ${UNCLAIMED.join(', ')}`)
        .describe('FOUND: under the topic found for them, as at first. OTHER: under the topic Other.'),
    }),
    lifeSchema,
    z.strictObject({
      action: z.literal('UNDO').describe('Takes a curation back.'),
      instanceId,
      curationId: id('The curation.'),
    }),
  ],
  {
    error: ({ input }) =>
      typeof input === 'object' && input !== null && !Array.isArray(input)
        ? `must be one of ${ACTIONS.join(', ')}`
        : 'must be a JSON object',
  },
);

export const newTopicSchema = z.strictObject(
  {
    instanceId: id('The instance that the topic is for.'),
    name: name('What it is called, for ever. White space is collapsed.'),
    description: line(LONGEST_DESCRIPTION)
      .optional()
      .meta({ maxLength: LONGEST_DESCRIPTION, description: 'What it is about, for people.' }),
    examples: z
      .array(quote(LONGEST_EXAMPLE), 'must be an array of strings')
      .min(1, 'must hold at least 1 example')
      .max(MOST_EXAMPLES, `must hold at most ${MOST_EXAMPLES} examples`)
      .describe('Requests as users write them. The topic claims requests near them.'),
    fromBeginning: z
      .boolean('must be true or false')
      .optional()
      .describe('true: it claims requests from the beginning; else from now on.'),
    fromTopicId: id('A found topic that it takes over, and whose name it may have.').optional(),
  },
  'must be a JSON object',
);

/** Throws AppError VALIDATION_ERROR. */
export function parseCuration(json: unknown): CurationRequest {
  const body = checked(curationSchema, json);
  return { instanceId: body.instanceId.toLowerCase(), asked: askedBy(body) };
}

function askedBy(body: z.output<typeof curationSchema>): AskedCuration {
  switch (body.action) {
    case 'RENAME':
      return { kind: 'RENAME', ...targetOf(body), name: tidy(body.name) };
    case 'PIN':
      return { kind: 'PIN', ...targetOf(body) };
    case 'MERGE':
      return { kind: 'MERGE', id: body.topicId.toLowerCase(), into: body.intoTopicId.toLowerCase() };
    case 'MOVE': {
      const topic = body.topicId.toLowerCase();
      return body.newClusterName === undefined
        ? { kind: 'MOVE', id: topic, cluster: (body.topicClusterId ?? '').toLowerCase() }
        : { kind: 'MOVE', id: topic, cluster: null, clusterName: tidy(body.newClusterName) };
    }
    case 'HIDE':
      return { kind: 'HIDE', id: body.topicId.toLowerCase() };
    case 'ASSIGN':
    case 'EXCLUDE':
      return correctionBy(body);
    case 'ROUTE':
      return {
        kind: 'ROUTE',
        id: otherTopicId(body.instanceId.toLowerCase()),
        unclaimed: body.unclaimed,
      };
    case 'TRACK':
      return lifeBy(body);
    case 'UNDO':
      return { kind: 'UNDO', id: body.curationId.toLowerCase() };
    default:
      return body satisfies never;
  }
}

/** The schema ensures that the members fit. */
function correctionBy(
  body: Extract<z.output<typeof curationSchema>, { action: 'ASSIGN' | 'EXCLUDE' }>,
): AskedCuration {
  const { action, text = '', position = 0 } = body;
  if (body.action === 'ASSIGN' && body.sessionId !== undefined && body.outcome !== undefined)
    return { kind: 'ASSIGN', of: 'OUTCOME', id: body.sessionId.toLowerCase(), outcome: body.outcome };
  const given = MESSAGE_CORRECTED.find((by) => body[by] !== undefined) ?? 'topicId';
  const target = (body[given] ?? '').toLowerCase();
  const of = CORRECTED_BY[given];
  return of === 'TOPIC'
    ? { kind: action, of, id: target, text: asSent(text) }
    : { kind: action, of, id: target, position };
}

function asSent(text: string): string {
  return text.toWellFormed().trim();
}

/** Returns the target; the schema ensures that exactly one is given. */
function targetOf(body: Readonly<Partial<Record<NamedBy, string | undefined>>>): {
  readonly entity: CuratedEntity;
  readonly id: string;
} {
  const given = NAMES.find((by) => body[by] !== undefined) ?? 'topicId';
  return { entity: NAMED_BY[given], id: (body[given] ?? '').toLowerCase() };
}

export const labelSchema = z.strictObject(
  {
    instanceId: id('The instance that the label is for.'),
    labelId: id('The label that it changes. Left out: it makes one.').optional(),
    name: name('What it is called. White space is collapsed.'),
    description: line(LONGEST_DESCRIPTION)
      .optional()
      .meta({ maxLength: LONGEST_DESCRIPTION, description: 'What it marks, for people.' }),
    examples: z
      .array(quote(LONGEST_EXAMPLE), 'must be an array of strings')
      .min(LEAST_LABEL_EXAMPLES, `must hold at least ${LEAST_LABEL_EXAMPLES} examples`)
      .max(MOST_EXAMPLES, `must hold at most ${MOST_EXAMPLES} examples`)
      .describe('Requests as users write them. Requests near them have the label.'),
    counterexamples: z
      .array(quote(LONGEST_EXAMPLE), 'must be an array of strings')
      .max(MOST_EXAMPLES, `must hold at most ${MOST_EXAMPLES} examples`)
      .optional()
      .describe('Requests that do not have it: what is nearer to them than to the examples has it neither.'),
  },
  'must be a JSON object',
);

/** Throws AppError VALIDATION_ERROR. */
export function parseLabel(json: unknown): CurationRequest {
  const body = checked(labelSchema, json);
  return {
    instanceId: body.instanceId.toLowerCase(),
    asked: {
      kind: 'LABEL',
      id: body.labelId?.toLowerCase() ?? null,
      name: tidy(body.name),
      description: tidy(body.description ?? ''),
      examples: body.examples.map(asSent),
      counterexamples: (body.counterexamples ?? []).map(asSent),
    },
  };
}

/** Throws AppError VALIDATION_ERROR. */
export function parseNewTopic(json: unknown): CurationRequest {
  const body = checked(newTopicSchema, json);
  return {
    instanceId: body.instanceId.toLowerCase(),
    asked: {
      kind: 'CREATE',
      name: tidy(body.name),
      description: tidy(body.description ?? ''),
      examples: body.examples.map(asSent),
      fromBeginning: body.fromBeginning ?? false,
      ...(body.fromTopicId === undefined ? {} : { from: body.fromTopicId.toLowerCase() }),
    },
  };
}
