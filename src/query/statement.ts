/**
 * Builds one SQL statement on an instance from the views' read parts, with its bindings.
 *
 * Test: test/query/windows.test.ts, test/view-laws.test.ts.
 */
import { GRANULARITY_NUMBER } from '../domain/kinds.ts';
import { bucketStart, nextBucketStart, type Granularity } from '../domain/time.ts';
import type { Bindings, BindValue } from '../store/duckdb.ts';
import type { SegmentChoice } from '../domain/attributes.ts';
import type { TableRows } from '../store/published/segment-sql.ts';
import type { View, ViewRead } from '../store/view-files.ts';
import { wholeUnits, type Range } from './routing.ts';
import { segmentCondition } from './segments.ts';

/** A SELECT in which `@name` stands for rows of a published table (store/published/segment-sql.ts). */
export interface Plan {
  readonly sql: string;
  readonly bindings: Bindings;
  readonly rows: Readonly<Record<string, TableRows>>;
  /** Published tables that it reads. */
  readonly tables: readonly string[];
}

/** Views whose rows belong to one session each; a segment takes only those of its sessions. */
const OF_SESSIONS: ReadonlySet<string> = new Set(['fact', 'hour_fact', 'session_rollup']);

/** Collects the bindings and the tables of a statement under unique names. */
export class Statement {
  readonly #bindings: Record<string, BindValue> = {};
  readonly #rows: Record<string, TableRows> = {};
  readonly #instance: number;
  readonly #reads: ReadonlyMap<string, ViewRead>;
  readonly #segment: readonly SegmentChoice[];
  #parts = 0;

  /** `segment`: only the sessions of it count. Default: all. */
  constructor(views: readonly View[], instance: number, segment: readonly SegmentChoice[] = []) {
    this.#instance = instance;
    this.#segment = segment;
    this.#reads = new Map(
      views.flatMap(({ name, read }) => (read === undefined ? [] : [[name, read] as const])),
    );
  }

  bind(value: BindValue): string {
    const name = `v${Object.keys(this.#bindings).length}`;
    this.#bindings[name] = value;
    return `$${name}`;
  }

  /** Returns a reference to the instance's rows of a naming table. */
  names(table: string): string {
    return this.#refer({ table });
  }

  /**
   * Returns SQL for the rows of a rollup whose buckets begin in `[from, to)`; `kind` selects from the rollup of
   * entities.
   */
  rollup(
    view: string,
    granularity: Granularity,
    { from, to }: { readonly from: number; readonly to: number },
    kind?: number,
  ): string {
    const numbers = { granularity: GRANULARITY_NUMBER[granularity], ...(kind === undefined ? {} : { kind }) };
    return this.#read(view, numbers, { from, to });
  }

  /** Returns SQL for the facts of one kind in a range, grouped by hour where the range covers whole hours. */
  hourFacts(kind: number, { start, end }: Range): string {
    const [fromHour, toHour] = [nextBucketStart('HOUR', start), bucketStart('HOUR', end)];
    const headEnd = Math.min(fromHour, end);
    const hours = { from_hour: fromHour, to_hour: toHour };
    const rest = { start, head_end: headEnd, tail_start: Math.max(toHour, headEnd), end };
    return this.#read('hour_fact', { kind }, { ...hours, ...rest });
  }

  /** Returns SQL for the facts of one kind in a range, one row for each message, with all columns. */
  facts(kind: number, { start, end }: Range): string {
    return this.#read('fact', { kind }, { start, end });
  }

  /** As `hourFacts`, but one row for each message. */
  messageFacts(kind: number, { start, end }: Range): string {
    const none = { from_hour: start, to_hour: start };
    return this.#read('hour_fact', { kind }, { ...none, start, head_end: end, tail_start: end, end });
  }

  /**
   * Returns SQL for rows that sum to the counts of a range: those of its whole days, minus subjects that returned from
   * one of these days to another, plus the messages before and after.
   */
  counts(
    view: string,
    kind: number,
    range: Range,
    select: {
      /** Columns of a fact. `isFirst`: true if the link in that column leads out of the range. */
      readonly message: (isFirst: (previous: string) => string) => string;
      /** Condition on facts. */
      readonly messageIf?: string;
      readonly day: string;
      /** Columns of a return. */
      readonly returns: string;
    },
  ): string {
    const { rollup: days, cuts } = wholeUnits('DAY', range);
    const isFirst = this.#firstSince(range.start);
    const { message, messageIf, day, returns } = select;
    const filter = messageIf === undefined ? '' : ` where ${messageIf}`;
    const parts = cuts.map(
      (cut) => `select ${message(isFirst)}\n  from (${this.#read('fact', { kind }, { ...cut })})${filter}`,
    );
    if (days !== null) {
      const kindOfRows = view === 'entity_rollup' ? kind : undefined;
      parts.push(
        `select ${day}\n  from (${this.rollup(view, 'DAY', days, kindOfRows)})`,
        `select ${returns}\n  from (${this.#read('return_fact', { kind }, { ...days, start: range.start })})`,
      );
    }
    return parts.join('\n  union all\n  ');
  }

  /** Returns a reference to the usage of messages in a range. */
  usage({ start, end }: Range): string {
    return this.#refer({ table: 'message_usage', range: { from: start, to: end } });
  }

  /** Returns a reference to the rows of an attribute: `session` and `value`. */
  attributeRows(name: string): string {
    return this.#refer({ table: 'session_attribute', and: `name = ${this.bind(name)}` });
  }

  /**
   * Returns SQL for the sessions that have an attribute (`session`, and `segment`: the number of the value in their
   * order), and for its values (`segment`, `value`, and `id` in the instance of this UUID: an MD5 digest with the marks
   * of UUIDv8).
   */
  attribute(name: string): { readonly sessions: string; readonly valuesIn: (instanceId: string) => string } {
    const rows = this.attributeRows(name);
    const numbered = `select value, name, row_number() over (partition by name order by value)::integer as segment
  from (select distinct name, value from ${rows} where value is not null)`;
    return {
      sessions: `select session, segment from ${rows} join (${numbered}) using (value)`,
      valuesIn: (instanceId) => `select segment, value, regexp_replace(
  md5(concat_ws(chr(31), ${this.bind(instanceId)}, name, value)), '^(.{12}).(.{3}).', '\\18\\2a')::uuid as id
from (${numbered})`,
    };
  }

  /** Returns `column in (the UUIDs)`. */
  among(column: string, ids: readonly string[]): string {
    return `${column} in (select unnest(string_split(${this.bind(ids.join(','))}, ','))::uuid)`;
  }

  plan(sql: string): Plan {
    const tables = new Set(Object.values(this.#rows).map(({ table }) => table));
    return { sql, bindings: this.#bindings, rows: this.#rows, tables: [...tables] };
  }

  /** Returns a reference to rows of the instance. */
  #refer(rows: Omit<TableRows, 'equal'>): string {
    const name = `r${Object.keys(this.#rows).length}`;
    this.#rows[name] = { ...rows, equal: { instance: this.#instance } };
    return `@${name}`;
  }

  /** Condition: the link to the previous occurrence leads to before `start`. */
  #firstSince(start: number): (previous: string) => string {
    if (start === -Infinity) return (previous) => `${previous} = '-infinity'`;
    let since = '';
    return (previous) => {
      // DuckDB rejects a binding that the statement does not use, so it is bound on first use.
      since ||= this.bind({ at: start });
      return `${previous} < ${since}`;
    };
  }

  /**
   * Returns the SQL of a view's read part with bindings. `numbers`: values of columns; `instants`: microseconds or
   * ±Infinity.
   */
  #read(
    view: string,
    numbers: Readonly<Record<string, number>>,
    instants: Readonly<Record<string, number>>,
  ): string {
    const read = this.#reads.get(view);
    if (read === undefined) throw new Error(`view ${view} has no read part`);
    const given = (values: Readonly<Record<string, number>>, name: string): number => {
      const value = values[name];
      if (value === undefined) throw new Error(`view ${view} reads ${name}, which the plan does not give`);
      return value;
    };
    const all = { ...numbers, instance: this.#instance };
    const prefix = `p${(this.#parts += 1)}_`;
    for (const { name, table, equal, range } of read.rows) {
      this.#rows[`${prefix}${name}`] = {
        table,
        equal: Object.fromEntries(equal.map((column) => [column, given(all, column)])),
        ...(range === null
          ? {}
          : { range: { from: given(instants, range[0]), to: given(instants, range[1]) } }),
      };
    }
    const sql = read.sql.replaceAll(/([@$])(\w+)/g, (_, sign: string, name: string) => {
      if (sign === '$') this.#bindings[`${prefix}${name}`] = { at: given(instants, name) };
      return `${sign}${prefix}${name}`;
    });
    return this.#ofSegment(view, sql);
  }

  #ofSegment(view: string, sql: string): string {
    const { sql: condition, rows, bindings } = segmentCondition(this.#segment, this.#instance);
    if (condition === null) return sql;
    if (!OF_SESSIONS.has(view)) throw new Error(`rows of ${view} belong to no single session`);
    Object.assign(this.#rows, rows);
    Object.assign(this.#bindings, bindings);
    return `select * from (${sql}) where ${condition}`;
  }
}
