/**
 * The groupings of queries (docs/api.md), one declaration each. Parameters, statements, answers and the OpenAPI
 * document follow from it. To add a grouping, add it here, the view that counts it and a test.
 *
 * Test: test/domain/groupings.test.ts.
 */
import { z } from 'zod';
import { uuid } from './uuid.ts';
import { KINDS } from './kinds.ts';
import { dateTime, type Metric, type SortField } from './metrics.ts';
import { lifeSchema } from './life-schema.ts';
import type { TrackedEntity } from './lives.ts';
import { OUTCOME_WORDS, SESSION_OUTCOMES } from './session-outcomes.ts';
import { SIGNAL_SOURCES } from './signal-kinds.ts';

/** Errors and the OpenAPI document use this order. */
export const GROUP_BYS = [
  'TOPIC',
  'TOPIC_CLUSTER',
  'REPEATED_REQUEST',
  'CSAT_DSAT',
  'GAP',
  'LABEL',
  'SESSION',
  'END_USER',
  'SEGMENT',
] as const;
export type GroupBy = (typeof GROUP_BYS)[number];

/** Filters, and other choices of what counts, that only some groupings accept. */
export const FILTERS = [
  'topicIds',
  'clusterIds',
  'signalIds',
  'repeatedRequestIds',
  'gapIds',
  'labelIds',
  'endUserIds',
  'gapType',
  'signalSource',
  'lifeStates',
  'signals',
  'language',
  'outcome',
  'externalId',
  'titleContains',
  'textContains',
  'segmentKey',
] as const;
export type Filter = (typeof FILTERS)[number];

/** Tables that name the entities of `entity_rollup`; the column of an entity's number has the table's name. */
export type NamesTable = 'topic' | 'cluster' | 'signal' | 'repeated_request' | 'gap' | 'label';

/** Entities of one kind in the shared rollup. */
export interface EntityCounts {
  readonly view: 'entity_rollup';
  readonly kind: number;
  readonly names: NamesTable;
  /** The filter by these entities. */
  readonly filter?: Exclude<Extract<Filter, `${string}Ids`>, 'endUserIds'>;
}

/** Sessions and end users have their own rollup, and a table with the name of their number's column. */
export interface OwnCounts {
  readonly view: 'session_rollup' | 'end_user_rollup';
  readonly names: 'session' | 'end_user';
}

/** Values of one attribute of sessions, numbered by each statement in their order. */
export interface AttributeCounts {
  readonly view: 'session_attribute';
  readonly names: 'segment';
}

/** The source of a member of a row's entity. */
export type MemberSource =
  /** A column of the naming table. */
  | { readonly column: string }
  /** The id of a row in another naming table, whose number is in `column`. */
  | { readonly column: string; readonly idIn: NamesTable }
  /** The most frequent topics from a table of facts; at most `limit`. */
  | { readonly topicsIn: 'message_fact' | 'hour_fact' | 'gap_micro'; readonly limit?: number }
  /** An instant of the row itself. */
  | { readonly instant: 'first_at' | 'last_at' }
  /** A column of the row itself. */
  | { readonly own: 'value' }
  /** The attribute that the query names. */
  | { readonly asked: 'segmentKey' }
  /** What verdicts of people tell of it, over all time. */
  | { readonly estimate: 'checked' | 'low' | 'high' }
  /** What people last said of its life. */
  | { readonly lifeOf: TrackedEntity };

/** A member of a row's entity, besides its `id`. */
export interface Member<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly from: MemberSource;
  /** A dimension field: present only if `dimensionFields` asks for it. */
  readonly onRequest: boolean;
}

export interface Grouping {
  readonly metrics: readonly Metric[];
  /** Sortable besides the metrics. */
  readonly sorts: readonly SortField[];
  /** Default of `sort.field`; rows descend by it. */
  readonly order: SortField;
  readonly filters: readonly Filter[];
  readonly counts: EntityCounts | OwnCounts | AttributeCounts;
  /** The member of `dimensions` that holds a row's entity. */
  readonly name: string;
  readonly members: Readonly<Record<string, Member>>;
}

/** How the sessions of a row went and ended. */
const ENDINGS = [
  'handedOver',
  'droppedOff',
  'resolvedAtLeast',
  'resolvedAtMost',
  'cameBack',
  'dissatisfied',
  'excessDissatisfied',
] as const;
const WAITS = ['waitSeconds', 'waitSecondsP95'] as const;
/** What its messages took. */
const USAGE = ['inputTokens', 'outputTokens', 'costUsd'] as const;

/** Defaults of the groupings on the shared rollup. */
const ENTITY = {
  metrics: ['sessions', 'users', 'messages', ...WAITS, ...ENDINGS, ...USAGE],
  sorts: [],
  order: 'messages',
  filters: [],
} as const;
const TOPIC_METRICS = [...ENTITY.metrics, 'avgMessagesPerSession', 'sat', 'dsat', 'netSat'] as const;

const topics = z.array(z.strictObject({ id: uuid, name: z.string() }));

/** Declares a member that is always present. */
function always<Schema extends z.ZodType>(schema: Schema, from: MemberSource | string): Member<Schema> {
  return { schema, from: typeof from === 'string' ? { column: from } : from, onRequest: false };
}

/** Declares a dimension field. */
function onRequest<Schema extends z.ZodType>(
  schema: Schema,
  from: MemberSource | string,
): Member<z.ZodOptional<Schema>> {
  return { ...always(schema.optional(), from), onRequest: true };
}

export const sessionOutcome = z
  .enum(SESSION_OUTCOMES)
  .nullable()
  .describe(
    `${SESSION_OUTCOMES.map((outcome) => `${outcome}: ${OUTCOME_WORDS[outcome].meaning}`).join(' ')} ` +
      'Null: the user has asked for nothing yet.',
  );

const name = always(z.string(), 'name');
const description = always(z.string(), 'description');
const isNamed = onRequest(z.boolean().describe('A person gave or pinned its name.'), 'is_named');

const share = z.number().min(0).max(1).nullable();
/** How sure the number of sessions is. */
const sureness = {
  checkedSessions: onRequest(
    z
      .int()
      .min(0)
      .describe('Sessions in which it was found and of which people said, of all time, whether it is there.'),
    { estimate: 'checked' },
  ),
  precisionLow: onRequest(
    share.describe(
      'Where the interval begins that holds, with a confidence of 95 %, the share of sessions in which it was found that ' +
        'truly show it (GET /v1/checks, over all time); null: nobody has checked it.',
    ),
    { estimate: 'low' },
  ),
  precisionHigh: onRequest(share.describe('Where it ends.'), { estimate: 'high' }),
};

/** Where it stands. */
const lifeMember = (of: TrackedEntity) => onRequest(lifeSchema, { lifeOf: of });

/** The OpenAPI document keeps the order of the members. */
const DECLARED = {
  TOPIC: {
    ...ENTITY,
    metrics: TOPIC_METRICS,
    filters: ['signals', 'lifeStates'],
    counts: { view: 'entity_rollup', kind: KINDS.topic, names: 'topic', filter: 'topicIds' },
    name: 'topic',
    members: {
      name,
      clusterId: always(uuid.nullable().describe('Null: the topic is in no cluster.'), {
        column: 'cluster',
        idIn: 'cluster',
      }),
      description: onRequest(
        z.string().nullable().describe('What a person wrote about it; null: the topic was found.'),
        'description',
      ),
      isOwn: onRequest(z.boolean().describe('A person made it; else it was found.'), 'is_own'),
      isNamed,
      isHidden: onRequest(
        z.boolean().describe('What it holds counts as without a topic. Rows of queries are never hidden.'),
        'is_hidden',
      ),
      ...sureness,
      life: lifeMember('TOPIC'),
    },
  },
  TOPIC_CLUSTER: {
    ...ENTITY,
    metrics: TOPIC_METRICS,
    filters: ['signals'],
    counts: { view: 'entity_rollup', kind: KINDS.cluster, names: 'cluster', filter: 'clusterIds' },
    name: 'cluster',
    members: { name, isNamed },
  },
  SESSION: {
    metrics: [
      'messages',
      'duration',
      'lastActiveAt',
      'sat',
      'dsat',
      'netSat',
      'repeatedRequests',
      ...WAITS,
      ...USAGE,
    ],
    sorts: ['createdAt', 'lastActiveAt'],
    order: 'lastActiveAt',
    filters: [
      'topicIds',
      'clusterIds',
      'signalIds',
      'repeatedRequestIds',
      'gapIds',
      'labelIds',
      'endUserIds',
      'signals',
      'language',
      'outcome',
      'externalId',
      'titleContains',
      'textContains',
    ],
    counts: { view: 'session_rollup', names: 'session' },
    name: 'session',
    members: {
      title: onRequest(z.string().nullable().describe('Null: the user has said nothing yet.'), 'title'),
      summary: onRequest(z.string().nullable().describe('Null: the user has said nothing yet.'), 'summary'),
      topics: onRequest(topics.describe('The most discussed first.'), { topicsIn: 'message_fact' }),
      language: onRequest(
        z.string().nullable().describe('ISO 639-1, of the user turns; null: too little text, or undecided.'),
        'language',
      ),
      outcome: onRequest(sessionOutcome, 'outcome'),
      externalId: onRequest(
        z
          .string()
          .nullable()
          .describe("The caller's own name: metadata.session.externalId, as last sent; null: none."),
        'external_id',
      ),
    },
  },
  CSAT_DSAT: {
    ...ENTITY,
    filters: ['signalSource', 'lifeStates'],
    counts: { view: 'entity_rollup', kind: KINDS.signal, names: 'signal', filter: 'signalIds' },
    name: 'csatDsatSignal',
    members: {
      name,
      signalType: always(
        z.enum(['SAT', 'DSAT']).describe('SAT: satisfied; DSAT: dissatisfied.'),
        'signal_type',
      ),
      description,
      source: onRequest(
        z
          .enum(SIGNAL_SOURCES)
          .describe(
            'INFERRED: found in the text of the message; GIVEN: feedback of an end user; OBSERVED: shown by what the ' +
              'assistant does. No count of SAT or DSAT holds what is observed.',
          ),
        'source',
      ),
      ...sureness,
      life: lifeMember('SIGNAL'),
    },
  },
  REPEATED_REQUEST: {
    ...ENTITY,
    filters: ['lifeStates'],
    counts: {
      view: 'entity_rollup',
      kind: KINDS.repeatedRequest,
      names: 'repeated_request',
      filter: 'repeatedRequestIds',
    },
    name: 'repeatedRequest',
    members: { name, description, ...sureness, life: lifeMember('REPEATED_REQUEST') },
  },
  GAP: {
    ...ENTITY,
    filters: ['gapType', 'lifeStates'],
    counts: { view: 'entity_rollup', kind: KINDS.gap, names: 'gap', filter: 'gapIds' },
    name: 'gap',
    members: {
      name,
      description,
      gapType: always(
        z
          .enum(['TOOL', 'KNOWLEDGE'])
          .describe('TOOL: an action that the assistant cannot perform; KNOWLEDGE: what it does not know.'),
        'gap_type',
      ),
      isNamed,
      topics: always(topics.describe('Topics in which it occurred, the most frequent first.').optional(), {
        topicsIn: 'gap_micro',
      }),
      ...sureness,
      life: lifeMember('GAP'),
    },
  },
  LABEL: {
    ...ENTITY,
    metrics: TOPIC_METRICS,
    filters: ['signals'],
    counts: { view: 'entity_rollup', kind: KINDS.label, names: 'label', filter: 'labelIds' },
    name: 'label',
    members: {
      name,
      description: always(
        z.string().describe('What a person wrote about it; empty: nothing.'),
        'description',
      ),
      ...sureness,
    },
  },
  END_USER: {
    metrics: [
      'sessions',
      'messages',
      'sat',
      'dsat',
      'netSat',
      'repeatedRequests',
      ...WAITS,
      ...ENDINGS,
      ...USAGE,
    ],
    sorts: ['createdAt', 'lastActiveAt'],
    order: 'lastActiveAt',
    filters: ['topicIds', 'clusterIds', 'signals', 'externalId'],
    counts: { view: 'end_user_rollup', names: 'end_user' },
    name: 'endUser',
    members: {
      externalId: onRequest(
        z
          .string()
          .describe(
            'The userId of the messages; of more than 1,024 characters the beginning and an ellipsis.',
          ),
        'external_id',
      ),
      topTopics: onRequest(topics.describe('At most five, the most discussed first.'), {
        topicsIn: 'hour_fact',
        limit: 5,
      }),
      createdAt: onRequest(dateTime.describe('First activity of all time, whatever the range.'), {
        instant: 'first_at',
      }),
      lastActiveAt: onRequest(
        dateTime.nullable().describe('Last activity of all time, whatever the range.'),
        { instant: 'last_at' },
      ),
    },
  },
  SEGMENT: {
    ...ENTITY,
    filters: ['signals', 'segmentKey'],
    metrics: TOPIC_METRICS,
    counts: { view: 'session_attribute', names: 'segment' },
    name: 'segment',
    members: {
      attribute: always(z.string().describe('The attribute: segmentKey of the query.'), {
        asked: 'segmentKey',
      }),
      value: always(z.string().describe('Its value, as text.'), { own: 'value' }),
    },
  },
} as const satisfies Readonly<Record<GroupBy, Grouping>>;

/** The groupings, without the literal types of their declarations. */
export const GROUPINGS: Readonly<Record<GroupBy, Grouping>> = DECLARED;

/** Returns the values that `dimensionFields` accepts. */
export function dimensionFieldsOf(groupBy: GroupBy): readonly string[] {
  return Object.entries(GROUPINGS[groupBy].members).flatMap(([field, member]) =>
    member.onRequest ? [field] : [],
  );
}

/** The same without what single entities answer beside their dimensions: what verdicts tell, and lives. */
export function describingFieldsOf(groupBy: GroupBy): readonly string[] {
  const { members } = GROUPINGS[groupBy];
  return dimensionFieldsOf(groupBy).filter(
    (field) => !('estimate' in members[field]!.from || 'lifeOf' in members[field]!.from),
  );
}

/** Returns the groupings that accept a filter. */
export function groupingsWith(filter: Filter): readonly GroupBy[] {
  return GROUP_BYS.filter((groupBy) => GROUPINGS[groupBy].filters.includes(filter));
}

/** The declarations with their literal types, from which other types follow. */
export type DeclaredGroupings = typeof DECLARED;
type Declared = DeclaredGroupings;
type EntityShape<G extends GroupBy> = { id: typeof uuid } & {
  [M in keyof Declared[G]['members']]: Declared[G]['members'][M] extends Member<infer Schema>
    ? Schema
    : never;
};
type DimensionShape = {
  [G in GroupBy as Declared[G]['name']]: z.ZodOptional<z.ZodObject<EntityShape<G>, z.core.$strict>>;
};

/** Schemas of the entities, by their name in `dimensions`. */
export const dimensionShape = Object.fromEntries(
  (Object.keys(DECLARED) as GroupBy[]).map((groupBy) => {
    const members = Object.entries(GROUPINGS[groupBy].members);
    const asked = members.some(([, member]) => member.onRequest)
      ? ': the id, and the dimensionFields that were asked for.'
      : '.';
    const schema = z.strictObject({
      id: uuid,
      ...Object.fromEntries(members.map(([field, member]) => [field, member.schema])),
    });
    return [GROUPINGS[groupBy].name, schema.describe(`With groupBy=${groupBy}${asked}`).optional()];
  }),
) as unknown as DimensionShape;
