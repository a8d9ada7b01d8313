/**
 * Lists the attributes of an instance's sessions, from one snapshot.
 *
 * Test: test/e2e/segment-rules.test.ts.
 */
import { formatInstant } from '../domain/time.ts';
import { GRANULARITY_NUMBER } from '../domain/kinds.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import {
  MOST_LISTED_ATTRIBUTES,
  MOST_LISTED_VALUES,
  type AttributesParameters,
  type AttributesResponse,
} from './attributes-schema.ts';
import { readInstanceRow, type InstanceReading } from './instance-row.ts';

/** So few values are listed, however few sessions have them. */
const FEW = 10;

type Listed = AttributesResponse['attributes'];

export class AttributesReader {
  readonly #options: InstanceReading;

  constructor(options: InstanceReading) {
    this.#options = options;
  }

  /** The caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  read({ instanceId }: AttributesParameters, caller = ''): Promise<AttributesResponse> {
    return this.#options.readerOf(instanceId).read(async (snapshot) => {
      const row = await readInstanceRow(snapshot, instanceId);
      if (row === undefined) return { attributes: [], lastProcessedAt: null };
      const since = this.#options.answeringSince?.() ?? 0;
      return {
        attributes: await listed(snapshot, row['instance'] as number),
        lastProcessedAt: formatInstant(Math.max(row['processed_at'] as number, since)),
      };
    }, caller);
  }
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
          whole: {
            table: 'session_rollup',
            equal: { instance, granularity: GRANULARITY_NUMBER.ALL },
            // As in session-rows.ts.
            and: "bucket = '-infinity'",
          },
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
