/**
 * What a query can group by (docs/api.md): one declaration per grouping. Parameters, statements, answers and the
 * OpenAPI document follow from it. To add a grouping, add it here, the view that counts it and a test.
 */
import { z } from 'zod';
import { uuid } from './uuid.ts';
import { KINDS } from './kinds.ts';
import { dateTime, type Metric, type SortField } from './metrics.ts';
import { OUTCOME_WORDS, SESSION_OUTCOMES } from './session-outcomes.ts';

/** In the order in which errors and the document name them. */
export const GROUP_BYS = [
  'TOPIC',
  'TOPIC_CLUSTER',
  'REPEATED_REQUEST',
  'CSAT_DSAT',
  'GAP',
  'SESSION',
  'END_USER',
] as const;
export type GroupBy = (typeof GROUP_BYS)[number];

/** Filters that only some groupings have. */
export const FILTERS = [
  'topicIds',
  'clusterIds',
  'signalIds',
  'repeatedRequestIds',
  'gapIds',
  'endUserIds',
  'gapType',
  'language',
  'outcome',
  'externalId',
  'titleContains',
  'textContains',
] as const;
export type Filter = (typeof FILTERS)[number];

/** Tables that name the entities of `entity_rollup`; the column of an entity's number has the same name. */
export type NamesTable = 'topic' | 'cluster' | 'signal' | 'repeated_request' | 'gap';

/** Entities that are counted together: rows of the shared rollup, of one kind. */
export interface EntityCounts {
  readonly view: 'entity_rollup';
  readonly kind: number;
  readonly names: NamesTable;
  /** The filter that chooses what has to do with one of these entities. */
  readonly filter?: Exclude<Extract<Filter, `${string}Ids`>, 'endUserIds'>;
}

/** Sessions and end users: a rollup of their own, and a table of the same name as the column of their number. */
export interface OwnCounts {
  readonly view: 'session_rollup' | 'end_user_rollup';
  readonly names: 'session' | 'end_user';
}

/** Where a member of a row's entity is read. */
export type MemberSource =
  /** A column of the table of names. */
  | { readonly column: string }
  /** The id of the row of another table of names, whose number is in `column`. */
  | { readonly column: string; readonly idIn: NamesTable }
  /** The topics that occur most, from a table of facts; at most `limit`. */
  | { readonly topicsIn: 'message_fact' | 'hour_fact' | 'gap_micro'; readonly limit?: number }
  /** An instant of the row itself. */
  | { readonly instant: 'first_at' | 'last_at' };

/** A member of what a row stands for, besides its `id`. */
export interface Member<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly from: MemberSource;
  /** It is a dimension field: only there when `dimensionFields` asks for it. */
  readonly onRequest: boolean;
}

export interface Grouping {
  readonly metrics: readonly Metric[];
  /** Sortable besides the metrics. */
  readonly sorts: readonly SortField[];
  /** Rows are in descending order of this when `sort.field` is left out. */
  readonly order: SortField;
  readonly filters: readonly Filter[];
  readonly counts: EntityCounts | OwnCounts;
  /** The member of `dimensions` that says what a row stands for. */
  readonly name: string;
  readonly members: Readonly<Record<string, Member>>;
}

/** What groupings of the shared rollup have in common. */
const ENTITY = {
  metrics: ['sessions', 'users', 'messages', 'waitSeconds'],
  sorts: [],
  order: 'messages',
  filters: [],
} as const;
const TOPIC_METRICS = [...ENTITY.metrics, 'avgMessagesPerSession', 'sat', 'dsat', 'netSat'] as const;

const topics = z.array(z.strictObject({ id: uuid, name: z.string() }));

/** A member that is always there. */
function always<Schema extends z.ZodType>(schema: Schema, from: MemberSource | string): Member<Schema> {
  return { schema, from: typeof from === 'string' ? { column: from } : from, onRequest: false };
}

/** A dimension field. */
function onRequest<Schema extends z.ZodType>(
  schema: Schema,
  from: MemberSource | string,
): Member<z.ZodOptional<Schema>> {
  return { ...always(schema.optional(), from), onRequest: true };
}

/** How a session ended. */
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

/** In the order of the members of `dimensions` in the document. */
const DECLARED = {
  TOPIC: {
    ...ENTITY,
    metrics: TOPIC_METRICS,
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
    },
  },
  TOPIC_CLUSTER: {
    ...ENTITY,
    metrics: TOPIC_METRICS,
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
      'waitSeconds',
    ],
    sorts: ['createdAt', 'lastActiveAt'],
    order: 'lastActiveAt',
    filters: [
      'topicIds',
      'clusterIds',
      'signalIds',
      'repeatedRequestIds',
      'gapIds',
      'endUserIds',
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
    counts: { view: 'entity_rollup', kind: KINDS.signal, names: 'signal', filter: 'signalIds' },
    name: 'csatDsatSignal',
    members: {
      name,
      signalType: always(
        z.enum(['SAT', 'DSAT']).describe('SAT: satisfied; DSAT: dissatisfied.'),
        'signal_type',
      ),
      description,
    },
  },
  REPEATED_REQUEST: {
    ...ENTITY,
    counts: {
      view: 'entity_rollup',
      kind: KINDS.repeatedRequest,
      names: 'repeated_request',
      filter: 'repeatedRequestIds',
    },
    name: 'repeatedRequest',
    members: { name, description },
  },
  GAP: {
    ...ENTITY,
    filters: ['gapType'],
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
    },
  },
  END_USER: {
    metrics: ['sessions', 'messages', 'sat', 'dsat', 'netSat', 'repeatedRequests', 'waitSeconds'],
    sorts: ['createdAt', 'lastActiveAt'],
    order: 'lastActiveAt',
    filters: ['topicIds', 'clusterIds', 'externalId'],
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
} as const satisfies Readonly<Record<GroupBy, Grouping>>;

/** Every grouping, as the rest of the code sees it. */
export const GROUPINGS: Readonly<Record<GroupBy, Grouping>> = DECLARED;

/** What `dimensionFields` can ask for. */
export function dimensionFieldsOf(groupBy: GroupBy): readonly string[] {
  return Object.entries(GROUPINGS[groupBy].members).flatMap(([field, member]) =>
    member.onRequest ? [field] : [],
  );
}

/** The groupings that have a filter. */
export function groupingsWith(filter: Filter): readonly GroupBy[] {
  return GROUP_BYS.filter((groupBy) => GROUPINGS[groupBy].filters.includes(filter));
}

/** With the names of everything that each has, for types that follow from them. */
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

/** The schema of what a row of each grouping stands for, by its name in `dimensions`. */
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
