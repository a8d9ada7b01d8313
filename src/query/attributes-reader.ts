/**
 * Lists the attributes of an instance's sessions, and the values of one, from one snapshot.
 *
 * Test: test/e2e/segment-rules.test.ts, test/doors/alerts/figures.test.ts.
 */
import type { SegmentChoice } from '../domain/attributes.ts';
import { formatInstant } from '../domain/time.ts';
import { GRANULARITY_NUMBER, KINDS } from '../domain/kinds.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import {
  MOST_LISTED_ATTRIBUTES,
  MOST_LISTED_VALUES,
  type AttributesParameters,
  type AttributesResponse,
} from './attributes-schema.ts';
import { rangeIn } from './routing.ts';
import { segmentCondition } from './segments.ts';
import type { TableRows } from '../store/published/segment-sql.ts';
import { InstanceReader, processedAt, readInstanceRow } from './instance-reader.ts';

/** So few values are listed, however few sessions have them. */
const FEW = 10;

type Listed = AttributesResponse['attributes'];

export class AttributesReader extends InstanceReader {
  /** The caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  read(parameters: AttributesParameters, caller = ''): Promise<AttributesResponse> {
    const { instanceId } = parameters;
    return this.options.readerOf(instanceId).read(async (snapshot) => {
      const row = await readInstanceRow(snapshot, instanceId);
      if (row === undefined) return { attributes: [], lastProcessedAt: null };
      const lastProcessedAt = processedAt(row, this.options);
      const attributes = await listedIn(snapshot, row['instance'] as number, rangeIn(parameters));
      return { attributes, lastProcessedAt };
    }, caller);
  }
}

/** The values of one attribute. Times are microseconds since 1970. */
export interface AttributeValues {
  /** When the first session that has the attribute began; null where none has. */
  readonly firstAt: number | null;
  /** Those that enough sessions have: the most frequent first, then in the order of text. */
  readonly values: readonly { readonly value: string; readonly sessions: number; readonly firstAt: number }[];
}

/** Returns the values of an attribute that at least so many sessions of a segment have. */
export async function attributeValues(
  snapshot: Snapshot,
  instance: number,
  { name, segment, atLeast }: { name: string; segment: readonly SegmentChoice[]; atLeast: number },
): Promise<AttributeValues> {
  const { sql, rows, bindings } = segmentCondition(segment, instance);
  const found = (await snapshot.all(
    `with counted as materialized (
  select value, count(*)::integer as sessions, min(first_at) as first_at
  from @attribute join (select session, first_at from @whole) using (session)
  where value is not null${sql === null ? '' : ` and ${sql}`} group by value
)
select value, sessions, first_at as "firstAt", (select min(first_at) from counted) as first
from counted where sessions >= $at_least order by sessions desc, value`,
    {
      rows: {
        ...rows,
        attribute: { table: 'session_attribute', equal: { instance }, and: 'name = $attribute_name' },
        whole: wholeSessions(instance),
      },
      bindings: { ...bindings, attribute_name: name, at_least: atLeast },
    },
  )) as unknown as readonly (AttributeValues['values'][number] & { readonly first: number })[];
  return {
    firstAt: found[0]?.first ?? null,
    values: found.map(({ value, sessions, firstAt }) => ({ value, sessions, firstAt })),
  };
}

/** The rows of the sessions as wholes, whatever their time. */
function wholeSessions(instance: number): TableRows {
  return {
    table: 'session_rollup',
    equal: { instance, granularity: GRANULARITY_NUMBER.ALL },
    // As in session-rows.ts.
    and: "bucket = '-infinity'",
  };
}

/** One that differs in nearly each session, such as a number of an order, makes no groups of them. */
const MAKES_GROUPS = `count(*) <= ${MOST_LISTED_VALUES} and (count(*) <= ${FEW} or sum(sessions) >= 2 * count(*))`;

interface ListedRow {
  readonly name: string;
  readonly value: string;
  readonly sessions: number;
  /** Microseconds since 1970; null where no session has a message. */
  readonly firstAt: number | null;
}

/** Lists the attributes with the sessions of a range; it changes neither which are listed nor their order. */
async function listedIn(
  snapshot: Snapshot,
  instance: number,
  { start, end }: ReturnType<typeof rangeIn>,
): Promise<Listed> {
  const attributes = await listed(snapshot, instance);
  if (start === -Infinity && end === Infinity) return attributes;
  const tables = ['message_fact', 'session_attribute'];
  const counts = await snapshot.cached(`attributes ${instance} ${start} ${end}`, tables, async () => {
    // A session of several end users has a chain of messages for each, so links to earlier ones would count it twice.
    const rows = await snapshot.all(
      `select name, value, count(*)::integer as sessions
from (select distinct session from @sent where not gone) join @attributes using (session)
where value is not null group by name, value`,
      {
        rows: {
          sent: {
            table: 'message_fact',
            equal: { instance, kind: KINDS.all },
            range: { from: start, to: end },
          },
          attributes: { table: 'session_attribute', equal: { instance } },
        },
      },
    );
    return new Map(
      rows.map(({ name, value, sessions }) => [JSON.stringify([name, value]), sessions as number]),
    );
  });
  return attributes.map(({ name, values }) => ({
    name,
    values: values.map((one) => ({ ...one, sessions: counts.get(JSON.stringify([name, one.value])) ?? 0 })),
  }));
}

function listed(snapshot: Snapshot, instance: number): Promise<Listed> {
  const tables = ['session_attribute', 'session_rollup'];
  return snapshot.cached(`attributes ${instance}`, tables, async () => {
    const rows = (await snapshot.all(
      `with counted as materialized (
  select name, value, count(*)::integer as sessions, min(first_at) as first_at
  from @attributes left join (select session, first_at from @whole) using (session)
  where value is not null group by name, value
), few as (
  select name, sum(sessions) as described from counted group by name having ${MAKES_GROUPS}
  order by described desc, name limit ${MOST_LISTED_ATTRIBUTES}
)
select name, value, sessions, first_at as "firstAt" from counted join few using (name)
order by described desc, name, sessions desc, value`,
      {
        rows: {
          attributes: { table: 'session_attribute', equal: { instance } },
          whole: wholeSessions(instance),
        },
        bindings: {},
      },
    )) as unknown as readonly ListedRow[];
    return [...Map.groupBy(rows, ({ name }) => name)].map(([name, values]) => ({
      name,
      values: values.map(({ value, sessions, firstAt }) => ({
        value,
        sessions,
        firstAt: firstAt === null ? null : formatInstant(firstAt),
      })),
    }));
  });
}
