/** Covered by test/query/windows.test.ts and test/view-laws.test.ts. */
import { GRANULARITY_NUMBER } from '../domain/kinds.ts';
import { bucketStart, nextBucketStart, type Granularity } from '../domain/time.ts';
import type { Bindings, BindValue } from '../store/duckdb.ts';
import type { TableRows } from '../store/published/segment-sql.ts';
import type { View, ViewRead } from '../store/view-files.ts';
import { wholeDays, type Range } from './routing.ts';

/** A SELECT in which `@name` stands for rows of a published table (store/published/segment-sql.ts). */
export interface Plan {
  readonly sql: string;
  readonly bindings: Bindings;
  readonly rows: Readonly<Record<string, TableRows>>;
  /** Published tables that it reads. */
  readonly tables: readonly string[];
}

/** Collects the bindings of a statement about one instance, and the rows that it reads, under names of its own. */
export class Statement {
  readonly #bindings: Record<string, BindValue> = {};
  readonly #rows: Record<string, TableRows> = {};
  readonly #instance: number;
  readonly #reads: ReadonlyMap<string, ViewRead>;
  #parts = 0;

  constructor(views: readonly View[], instance: number) {
    this.#instance = instance;
    this.#reads = new Map(
      views.flatMap(({ name, read }) => (read === undefined ? [] : [[name, read] as const])),
    );
  }

  bind(value: BindValue): string {
    const name = `v${Object.keys(this.#bindings).length}`;
    this.#bindings[name] = value;
    return `$${name}`;
  }

  /** The rows of the instance in a table of names. */
  names(table: string): string {
    const name = `r${Object.keys(this.#rows).length}`;
    this.#rows[name] = { table, equal: { instance: this.#instance } };
    return `@${name}`;
  }

  /** The rows of a rollup whose buckets begin in `[from, to)`; `kind` for the rollup of entities. */
  rollup(
    view: string,
    granularity: Granularity,
    { from, to }: { readonly from: number; readonly to: number },
    kind?: number,
  ): string {
    const numbers = { granularity: GRANULARITY_NUMBER[granularity], ...(kind === undefined ? {} : { kind }) };
    return this.#read(view, numbers, { from, to });
  }

  /** The facts of one kind in a range, hour by hour where hours are whole. */
  hourFacts(kind: number, { start, end }: Range): string {
    const [fromHour, toHour] = [nextBucketStart('HOUR', start), bucketStart('HOUR', end)];
    const headEnd = Math.min(fromHour, end);
    const hours = { from_hour: fromHour, to_hour: toHour };
    const rest = { start, head_end: headEnd, tail_start: Math.max(toHour, headEnd), end };
    return this.#read('hour_fact', { kind }, { ...hours, ...rest });
  }

  /** The facts of one kind in a range, each message by itself, with all that a fact has. */
  facts(kind: number, { start, end }: Range): string {
    return this.#read('fact', { kind }, { start, end });
  }

  /** The same as `hourFacts`, each message by itself. */
  messageFacts(kind: number, { start, end }: Range): string {
    const none = { from_hour: start, to_hour: start };
    return this.#read('hour_fact', { kind }, { ...none, start, head_end: end, tail_start: end, end });
  }

  /**
   * Rows that add up to the counts of a range: those of its whole days, less what returned from one of these days
   * to another, and its messages before and after.
   */
  counts(
    view: string,
    kind: number,
    range: Range,
    select: {
      /** Columns of a fact. `isFirst`: the link in that column leads to nothing in the range. */
      readonly message: (isFirst: (previous: string) => string) => string;
      /** Only facts for which this holds. */
      readonly messageIf?: string;
      /** Columns of the rollup. */
      readonly day: string;
      /** Columns of a returning visit. */
      readonly returns: string;
    },
  ): string {
    const { rollup: days, cuts } = wholeDays(range);
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

  /** `column in (the UUIDs)`. */
  among(column: string, ids: readonly string[]): string {
    return `${column} in (select unnest(string_split(${this.bind(ids.join(','))}, ','))::uuid)`;
  }

  plan(sql: string): Plan {
    const tables = new Set(Object.values(this.#rows).map(({ table }) => table));
    return { sql, bindings: this.#bindings, rows: this.#rows, tables: [...tables] };
  }

  /** Condition on a link to the previous occurrence: there is none from `start` on. */
  #firstSince(start: number): (previous: string) => string {
    if (start === -Infinity) return (previous) => `${previous} = '-infinity'`;
    let since = '';
    return (previous) => {
      // A binding that no part of the statement names would be an error.
      since ||= this.bind({ at: start });
      return `${previous} < ${since}`;
    };
  }

  /** A view's read part with the numbers of its columns, and its instants in microseconds or ±Infinity. */
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
    return read.sql.replaceAll(/([@$])(\w+)/g, (_, sign: string, name: string) => {
      if (sign === '$') this.#bindings[`${prefix}${name}`] = { at: given(instants, name) };
      return `${sign}${prefix}${name}`;
    });
  }
}
