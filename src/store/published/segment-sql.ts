import type { Bindings } from '../duckdb.ts';
import type { Segment } from './manifest.ts';
import type { PublishedTable } from '../view-files.ts';

/** Levels of a generation, and what their files are called in statements. */
export interface NamedSegments {
  /** The levels of a published table, the oldest first. */
  segmentsOf(table: string): readonly Segment[];
  /** The catalog that a level's file is attached as. */
  catalogOf(segment: Segment): string;
}

/** Writes what `@table[condition]` stands for: the rows of all levels, without those that a newer one replaces. */
export function expandSegments(
  sql: string,
  tables: ReadonlyMap<string, PublishedTable>,
  named: NamedSegments,
  bindings: Bindings,
): string {
  return sql.replaceAll(/@(\w+)\[([^\]]*)\]/g, (_, name: string, condition: string) => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`no view publishes ${name}`);
    const where = condition.trim() === '' ? '' : ` where ${condition}`;
    const fixed = fixedColumns(condition);
    // The planner pays for each column of a join: those that the condition fixes need no comparing.
    const compared = table.key.filter((column) => !fixed.has(column));
    const key = (compared.length === 0 ? table.key : compared).join(', ');
    const { from, to } = boundsOf(table, condition, bindings);
    // The lowest level stays, whatever it holds: it has the table's columns.
    const read = named
      .segmentsOf(name)
      .filter(
        (level, index) =>
          index === 0 || level.from === null || level.to === null || (level.from < to && level.to >= from),
      );
    const levels = read.map((level) => ({
      replaces: level.replaces,
      rows: `${named.catalogOf(level)}.${name}${where}`,
    }));
    const parts = levels.map((level, index) => {
      const newer = levels.slice(index + 1).filter((other) => other.replaces);
      return newer.length === 0
        ? `from ${level.rows}`
        : `from (from ${level.rows}) anti join (${newer.map((other) => `select ${key} from ${other.rows}`).join(' union all ')}) using (${key})`;
    });
    return `(${parts.join(' union all ')})`;
  });
}

/** The range `[from, to)` of a table's time column that a condition asks for; all of it when `from` is open. */
function boundsOf(
  table: PublishedTable,
  condition: string,
  bindings: Bindings,
): { readonly from: number; readonly to: number } {
  const bound = (comparison: string): number | null => {
    const name = new RegExp(`\\b${table.time} ${comparison} \\$(\\w+)`).exec(condition)?.[1];
    const value = name === undefined ? null : (bindings[name] ?? null);
    return value !== null && typeof value === 'object' && Number.isFinite(value.at) ? value.at : null;
  };
  const from = table.time === null || /\bor\b/i.test(condition) ? null : bound('>=');
  return from === null ? { from: -Infinity, to: Infinity } : { from, to: bound('<') ?? Infinity };
}

/** Columns that a condition sets equal to one value. */
function fixedColumns(condition: string): ReadonlySet<string> {
  if (/\bor\b/i.test(condition)) return new Set();
  return new Set([...condition.matchAll(/(\w+) = (?:\$\w+|-?\d+)/g)].map((match) => match[1] as string));
}
