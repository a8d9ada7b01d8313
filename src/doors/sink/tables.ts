/**
 * Declares the tables that a sink writes; `npm run generate` lists their columns in docs/sink.md. Names and types are a
 * contract: a change raises SCHEMA_VERSION.
 *
 * Test: test/doors/sink/tables.test.ts.
 */
import { GROUPINGS, type GroupBy } from '../../domain/groupings.ts';
import { GRANULARITY_NUMBER } from '../../domain/kinds.ts';
import { SESSION_OUTCOMES } from '../../domain/session-outcomes.ts';
import type { Granularity } from '../../domain/time.ts';
import { LAST_STEP, secondsOfStep } from '../../domain/waits.ts';

/** Raised when columns or partitions change; the next run then writes all files again. */
export const SCHEMA_VERSION = 7;

/** Types that Parquet, ClickHouse, Spark and DuckDB share: ids are text, instants are UTC microseconds. */
export type ColumnType = 'VARCHAR' | 'BIGINT' | 'INTEGER' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMPTZ';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** SQL expression over the table's `from`. */
  readonly sql: string;
  readonly what: string;
  /** Set if the column may be null. */
  readonly optional?: true;
}

/** Partitioning of an instance's rows; `at` is an instant of the row (SQL). */
export type Division =
  | { readonly by: 'none' }
  /** `moves`: the instant may become earlier. Otherwise it is the time column of the published table. */
  | { readonly by: 'day'; readonly at: string; readonly moves: boolean }
  | { readonly by: 'granularity and month'; readonly at: string };

export interface SinkTable {
  readonly name: string;
  readonly what: string;
  /** The published table of the rows, with the alias `r`. */
  readonly rows: { readonly table: string; readonly granularity?: Granularity };
  /** SQL of joins to `r`, and the condition on rows. */
  readonly joined: string;
  readonly where?: string;
  readonly division: Division;
  readonly columns: readonly Column[];
  /** Columns that order the rows and identify each. */
  readonly key: readonly string[];
}

/** Name of each fact kind in the API, by number. */
const KIND_NAMES: readonly string[] = [
  'MESSAGE',
  ...(Object.entries(GROUPINGS) as [GroupBy, (typeof GROUPINGS)[GroupBy]][])
    .flatMap(([groupBy, { counts }]) =>
      counts.view === 'entity_rollup' ? [{ groupBy, kind: counts.kind }] : [],
    )
    .sort((a, b) => a.kind - b.kind)
    .map(({ groupBy }) => groupBy),
];
const KIND_NAME = `[${KIND_NAMES.map((name) => `'${name}'`).join(', ')}][r.kind + 1]`;

/** Ids of all entities that facts refer to. */
const ENTITIES = ['topic', 'cluster', 'signal', 'repeated_request', 'gap', 'label']
  .map((table, index) => `select ${index + 1} as kind, instance, ${table} as entity, id from @${table}`)
  .join(' union all ');

/** A fact's wait in seconds; step 0, no wait, is null. */
const WAIT_SECONDS = `[${Array.from({ length: LAST_STEP }, (_, index) => `${secondsOfStep(index + 1)}::double`).join(', ')}][r.wait]`;

const id = (name: string, sql: string, what: string): Column => ({ name, type: 'VARCHAR', sql, what });
const text = (name: string, what: string, sql = `r.${name}`): Column => ({
  name,
  type: 'VARCHAR',
  sql,
  what,
});
const instant = (name: string, sql: string, what: string): Column => ({
  name,
  type: 'TIMESTAMPTZ',
  sql,
  what,
});
const number = (name: string, what: string): Column => ({ name, type: 'INTEGER', sql: `r.${name}`, what });
const flag = (name: string, what: string): Column => ({ name, type: 'BOOLEAN', sql: `r.${name}`, what });
const optional = (column: Column): Column => ({ ...column, optional: true });

const NAME = text('name', 'its name');
const DESCRIPTION = text('description', 'what it is about, in a sentence');
const IS_NAMED = flag('is_named', 'a person gave or pinned the name');
const SAT = number('sat', 'SAT signals on them');
const DSAT = number('dsat', 'DSAT signals on them');
const REPEATED_REQUESTS = number('repeated_requests', 'repeated requests on them');
const SESSIONS = number('sessions', 'distinct sessions');
const MESSAGES = number('messages', 'messages; of a signal, gap or repeated request: occurrences');
const COUNTS = [
  SESSIONS,
  number('users', 'distinct end users'),
  MESSAGES,
  number('sat', 'SAT signals on these messages'),
  number('dsat', 'DSAT signals on these messages'),
];
const KIND = text('kind', `${KIND_NAMES.slice(1).join(', ')}`, KIND_NAME);
const ENTITY = id(
  'entity_id',
  'r.id',
  'the id of the topic, cluster, signal, repeated request, gap or label',
);

/** Declares the table of one kind of entity; an instance has one file. */
function dimension(name: string, table: string, columns: readonly Column[], merges = false): SinkTable {
  const key = `${table}_id`;
  const heir = optional(id('merged_into', 'h.id', 'the one that it merged into; null while it lives'));
  return {
    name,
    what: `${name.replaceAll('_', ' ')} by name, one row for each`,
    rows: { table },
    joined: merges ? `left join @${table} h on h.instance = r.instance and h.${table} = r.heir` : '',
    division: { by: 'none' },
    columns: [id(key, 'r.id', 'its id'), ...columns, ...(merges ? [heir] : [])],
    key: [key],
  };
}

/** Referenced tables come first, so that readers find new entities before rows that refer to them. */
export const SINK_TABLES: readonly SinkTable[] = [
  dimension('topic_clusters', 'cluster', [NAME, IS_NAMED]),
  {
    ...dimension('topics', 'topic', []),
    joined: `left join @topic h on h.instance = r.instance and h.topic = r.heir
left join @cluster c on c.instance = r.instance and c.cluster = r.cluster`,
    columns: [
      id('topic_id', 'r.id', 'its id'),
      NAME,
      optional(id('cluster_id', 'c.id', 'its topic cluster; null: none')),
      optional(text('description', 'what a person wrote about it; null: the topic was found')),
      flag('is_own', 'a person made it; else it was found'),
      IS_NAMED,
      flag('is_hidden', 'what it holds counts as without a topic'),
      optional(id('merged_into', 'h.id', 'the one that it merged into; null while it lives')),
    ],
  },
  dimension('signals', 'signal', [
    NAME,
    text('signal_type', 'SAT or DSAT'),
    text(
      'source',
      'INFERRED from texts, GIVEN by end users as feedback, or OBSERVED in what the assistant does',
    ),
    DESCRIPTION,
  ]),
  dimension('repeated_requests', 'repeated_request', [NAME, DESCRIPTION], true),
  dimension('labels', 'label', [NAME, DESCRIPTION, flag('is_gone', 'its making was undone')]),
  dimension('gaps', 'gap', [NAME, DESCRIPTION, text('gap_type', 'TOOL or KNOWLEDGE'), IS_NAMED], true),
  {
    name: 'end_users',
    what: 'end users with their counts of all time; `date` is the day of `created_at`',
    rows: { table: 'end_user_rollup', granularity: 'ALL' },
    joined: 'join @end_user u on u.end_user = r.end_user',
    division: { by: 'day', at: 'r.first_at', moves: true },
    columns: [
      id('end_user_id', 'r.id', 'its id'),
      text('external_id', 'the `userId` of the messages', 'u.external_id'),
      instant('created_at', 'r.first_at', 'the first message that belongs to the end user'),
      instant('last_active_at', 'r.last_at', 'the last of them'),
      SESSIONS,
      number('messages', 'messages that belong to the end user, the assistant’s among them'),
      SAT,
      DSAT,
      REPEATED_REQUESTS,
    ],
    key: ['created_at', 'end_user_id'],
  },
  {
    name: 'sessions',
    what: 'sessions with their counts of all time; `date` is the day of `created_at`',
    rows: { table: 'session_rollup', granularity: 'ALL' },
    joined: `join @session s on s.session = r.session
left join @end_user u on u.end_user = s.end_user`,
    division: { by: 'day', at: 'r.first_at', moves: true },
    columns: [
      id('session_id', 'r.id', 'its id'),
      optional(id('end_user_id', 'u.id', 'who started the conversation; null: nobody named')),
      optional(text('external_id', 'the caller’s own name of it', 's.external_id')),
      optional(text('title', 'as in /v1/query', 's.title')),
      optional(text('summary', 'as in /v1/query', 's.summary')),
      optional(text('language', 'ISO 639-1; null: undecided', 's.language')),
      optional(
        text(
          'outcome',
          `${SESSION_OUTCOMES.join(', ')}; null: the user has asked for nothing yet`,
          's.outcome',
        ),
      ),
      instant('created_at', 'r.first_at', 'its first message'),
      instant('last_active_at', 'r.last_at', 'its last message'),
      number('messages', 'messages of any role'),
      SAT,
      DSAT,
      REPEATED_REQUESTS,
    ],
    key: ['created_at', 'session_id'],
  },
  {
    name: 'attributes',
    what: 'attributes of sessions, as last sent: what `segment.NAME` of /v1/query chooses by',
    rows: { table: 'session_attribute' },
    joined: 'join @session s on s.session = r.session',
    where: 'r.value is not null',
    division: { by: 'none' },
    columns: [
      id('session_id', 's.id', 'the session'),
      text('name', 'the attribute'),
      text('value', 'its value, as text'),
    ],
    key: ['session_id', 'name'],
  },
  {
    name: 'facts',
    what: 'which message counts for what: one row for each message (kind MESSAGE), and one for each thing found in it',
    rows: { table: 'message_fact' },
    joined: `join @session s on s.session = r.session
left join @end_user u on u.end_user = r.end_user
left join (${ENTITIES}) e on e.instance = r.instance and e.kind = r.kind and e.entity = r.entity`,
    where: 'not r.gone',
    division: { by: 'day', at: 'r.event_at', moves: false },
    columns: [
      text('kind', KIND_NAMES.join(', '), KIND_NAME),
      instant('event_at', 'r.event_at', 'event time of the message'),
      {
        name: 'message_id',
        type: 'BIGINT',
        sql: 'r.position',
        what: 'the message; the same for all its facts',
      },
      optional(
        id(
          'entity_id',
          'e.id',
          'the topic, cluster, signal, repeated request, gap or label; null for MESSAGE',
        ),
      ),
      id('session_id', 's.id', 'the session of the message'),
      optional(id('end_user_id', 'u.id', 'whom the message belongs to; null: nobody')),
      number('sat', 'SAT signals on the message'),
      number('dsat', 'DSAT signals on the message'),
      number('repeated_requests', '1 when the message repeats a request, else 0'),
      {
        name: 'wait_seconds',
        type: 'DOUBLE',
        sql: WAIT_SECONDS,
        what: 'how long the user waited for the reply, as `waitSeconds` of /v1/query counts it; null: no wait',
        optional: true,
      },
    ],
    key: ['kind', 'event_at', 'message_id', 'entity_id'],
  },
  {
    name: 'rollups',
    what: 'counts of each entity in each bucket; `month` is the month of `bucket`',
    rows: { table: 'entity_rollup' },
    joined: '',
    where: `r.messages > 0 and r.granularity <> ${GRANULARITY_NUMBER.ALL}`,
    division: { by: 'granularity and month', at: 'r.bucket' },
    columns: [
      KIND,
      instant('bucket', 'r.bucket', 'start of the bucket (UTC; weeks from Monday)'),
      ENTITY,
      ...COUNTS,
    ],
    key: ['kind', 'bucket', 'entity_id'],
  },
  {
    name: 'totals',
    what: 'counts of each entity of all time: distinct sessions and end users cannot be added up from buckets',
    rows: { table: 'entity_rollup', granularity: 'ALL' },
    joined: '',
    where: 'r.messages > 0',
    division: { by: 'none' },
    columns: [KIND, ENTITY, ...COUNTS],
    key: ['kind', 'entity_id'],
  },
  {
    name: 'verdicts',
    what:
      'what people who read conversations, and language models, said of what was found; ' +
      'the latest of a session, entity and reader holds',
    rows: { table: 'curation' },
    joined: '',
    where: "r.action = 'CHECK' and r.refused is null and r.undone_by is null",
    division: { by: 'none' },
    columns: [
      id('verdict_id', 'r.id', 'its id'),
      instant('said_at', 'r.created_at', 'when it was accepted'),
      text('key_id', 'the key that said it; empty: a language model did'),
      text('kind', 'TOPIC, SIGNAL, GAP, REPEATED_REQUEST or LABEL', 'r.entity'),
      id('entity_id', 'r.entity_id', 'the id of the topic, signal, gap, repeated request or label'),
      id('session_id', "json_extract_string(r.detail, '$.session')", 'the session that was read'),
      text('verdict', 'YES, NO or UNSURE: whether it is there', "json_extract_string(r.detail, '$.verdict')"),
      optional(
        text(
          'reader',
          'the language model that said it; null: a person',
          "json_extract_string(r.detail, '$.reader')",
        ),
      ),
    ],
    key: ['said_at', 'verdict_id'],
  },
  {
    name: 'lives',
    what:
      'where people said that something stands (TRACK); the latest of an entity, and of what merged into it, holds, and ' +
      'is the whole: what it leaves out is empty',
    rows: { table: 'curation' },
    joined: '',
    where: "r.action = 'TRACK' and r.refused is null and r.undone_by is null",
    division: { by: 'none' },
    columns: [
      id('life_id', 'r.id', 'the curation that said so'),
      instant('said_at', 'r.created_at', 'when it was accepted'),
      {
        name: 'place',
        type: 'INTEGER',
        sql: 'r.curation',
        what: 'its place among the decisions of the instance: ascends',
      },
      text('key_id', 'the key that said it'),
      text('kind', 'TOPIC, SIGNAL, GAP or REPEATED_REQUEST', 'r.entity'),
      id('entity_id', 'r.entity_id', 'the id of the topic, signal, gap or repeated request'),
      text('state', 'OPEN, PLANNED, FIXED or WONT_DO', "json_extract_string(r.detail, '$.state')"),
      optional(
        instant(
          'fixed_at',
          "case when json_extract_string(r.detail, '$.state') = 'FIXED' and json_extract(r.detail, '$.release') is null " +
            "then coalesce(make_timestamp(json_extract(r.detail, '$.fixedAt')::bigint), r.created_at) end",
          'FIXED: since when; null: another state, or it is fixed in a release',
        ),
      ),
      optional(
        text(
          'release_name',
          'FIXED: the attribute of sessions',
          "json_extract_string(r.detail, '$.release.name')",
        ),
      ),
      optional(text('release_value', 'FIXED: its value', "json_extract_string(r.detail, '$.release.value')")),
      optional(text('owner', 'who takes care of it', "json_extract_string(r.detail, '$.owner')")),
      optional(text('note', 'what there is to know', "json_extract_string(r.detail, '$.note')")),
      optional(text('link', 'where more is', "json_extract_string(r.detail, '$.link')")),
    ],
    key: ['place'],
  },
];
