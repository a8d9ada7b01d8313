/**
 * Parses the view files of `views/`. A malformed declaration is an error that names the file.
 *
 * Test: test/store/view-files.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { expandUpsert, type Upsert } from './upsert.ts';

/** Words of the header's directives: `-- word: value`. */
const DIRECTIVES: ReadonlySet<string> = new Set(['view', 'version', 'after', 'publish', 'kept', 'carried']);

/** The text after `-- publish:`. */
const PUBLISHED = new RegExp(
  String.raw`^(\w+) key\(([^)]+)\) order\(([^)]+)\)` +
    String.raw`(?: time\((\w+)\))?(?: alive\(([^)]+)\))?(?: replaces\(([^)]+)\))?$`,
);

/** A table of a view that readers query. */
export interface PublishedTable {
  readonly name: string;
  /** Columns that identify a row; they never change for a row. */
  readonly key: readonly string[];
  /** Columns by which a compacted segment is sorted. */
  readonly order: readonly string[];
  /** Condition that is true for rows that are no tombstones; null: the table has no tombstones. */
  readonly alive: string | null;
  /** Column by whose range whole segments are skipped, or null. Infinite values do not count. */
  readonly time: string | null;
  /** Condition that is true for rows which may replace a published version; null: every row may. */
  readonly replaces: string | null;
}

/** One statement of a fold. */
export interface FoldStatement {
  readonly sql: string;
  /** Temporary table that it creates; null if it creates none. */
  readonly makes: string | null;
}

/** Statements that are run together, or skipped together. */
export interface FoldBlock {
  /** Temporary tables; while all of them are empty, the block is skipped. Null: it always runs. */
  readonly when: readonly string[] | null;
  readonly statements: readonly FoldStatement[];
}

/** The rows that a name stands for in a view's read part; the query supplies the values of the conditions. */
export interface RowsDeclaration {
  readonly name: string;
  readonly table: string;
  /** Columns that equal the value of the same name. */
  readonly equal: readonly string[];
  /** Names of the values that bound the table's time column, from (included) and to (excluded); null: all times. */
  readonly range: readonly [from: string, to: string] | null;
}

/** A SELECT in which `@name` stands for declared rows, and `$name` for a value of the query. */
export interface ViewRead {
  readonly sql: string;
  readonly rows: readonly RowsDeclaration[];
}

/** Statements that fill the batch tables from the tables of a view, in a database attached as `kept`. */
export interface KeptRows {
  /** First version of the view whose tables hold what the statements read. */
  readonly since: number;
  /** Column over whose values the statements run in parts, from `part_from` to `part_to`; null: they run once. */
  readonly parts: { readonly table: string; readonly column: string } | null;
  /** Statements that each insert into one batch table. */
  readonly statements: readonly { readonly sql: string; readonly fills: string }[];
}

/** Statements that give the tables of an earlier version the columns that `@kept` reads, in a copy of its database. */
export interface CarriedTables {
  /** First version of the view whose tables the statements can be run on. */
  readonly from: number;
  readonly sql: string;
}

/** One file of `views/`. */
export interface View {
  readonly name: string;
  /** Raised when the meaning of the rows changes. */
  readonly version: number;
  readonly after: readonly string[];
  readonly publishes: readonly PublishedTable[];
  /** Statements that create the tables. */
  readonly schema: string;
  /** Blocks that apply one batch, in this order. */
  readonly fold: readonly FoldBlock[];
  /** The read part for queries; undefined when they read only the tables. */
  readonly read: ViewRead | undefined;
  /** Undefined when the rows follow from the batch tables of other views. */
  readonly kept: KeptRows | undefined;
  /** Undefined when `@kept` reads the tables of no version before `kept.since`. */
  readonly carried: CarriedTables | undefined;
}

/**
 * Reads all view files of a folder, ordered so that each view comes after those in its `after` (ties by name). Throws
 * SetupError with the name of the faulty file.
 */
export function loadViews(directory: string): readonly View[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .toSorted();
  return inOrder(files.map((file) => parseView(file, readFileSync(join(directory, file), 'utf8'))));
}

/** The published tables of all views. */
export function publishedTables(views: readonly View[]): PublishedTable[] {
  return views.flatMap((view) => view.publishes);
}

/** Parses one view file; `file` names it in errors. Throws SetupError. */
export function parseView(file: string, text: string): View {
  const [header, ...sections] = text.split(/^-- @/m);
  // Prose begins a line of this shape with a capital, as in `-- Law: …`.
  const directives = [...(header as string).matchAll(/^-- ([a-z]+): *(.+)$/gm)];
  const unknown = directives.find(([, word]) => !DIRECTIVES.has(word as string));
  if (unknown !== undefined)
    throw new SetupError(
      `views/${file}: "${unknown[0]}": the header knows "${[...DIRECTIVES].join('", "')}". A comment must not ` +
        'begin with a lower-case word and a colon.',
    );
  const values = (name: string): string[] =>
    directives.filter((match) => match[1] === name).map((match) => (match[2] as string).trim());
  const name = values('view')[0];
  const version = Number(values('version')[0]);
  if (name === undefined || !/^[a-z_]+$/.test(name))
    throw new SetupError(`views/${file}: needs a line "-- view: name"`);
  if (!Number.isInteger(version) || version < 1)
    throw new SetupError(`views/${file}: needs a line "-- version: N"`);
  const section = (title: string): string | undefined => {
    const found = sections.find((part) => part.startsWith(`${title}\n`));
    return found?.slice(title.length + 1);
  };
  return {
    name,
    version,
    after: values('after').flatMap((list) => list.split(',').map((item) => item.trim())),
    publishes: values('publish').map((line) => {
      const match = PUBLISHED.exec(line);
      if (match === null)
        throw new SetupError(
          `views/${file}: "-- publish: ${line}" is not "table key(columns) order(columns) [time(column)] ` +
            '[alive(condition)] [replaces(condition)]"',
        );
      const columns = (list: string): string[] => list.split(',').map((item) => item.trim());
      return {
        name: match[1] as string,
        key: columns(match[2] as string),
        order: columns(match[3] as string),
        time: match[4] ?? null,
        alive: match[5] ?? null,
        replaces: match[6] ?? null,
      };
    }),
    schema: section('schema') ?? '',
    fold: foldBlocks(file, section('fold') ?? ''),
    read: parseRead(file, section('read')),
    kept: parseKept(file, values('kept')[0], section('kept')),
    carried: parseCarried(file, values('carried')[0], section('carried')),
  };
}

/** Parses `-- carried: from version N`, which belongs to a section `-- @carried`. */
function parseCarried(
  file: string,
  line: string | undefined,
  sql: string | undefined,
): CarriedTables | undefined {
  if (line === undefined && sql === undefined) return undefined;
  const from = /^from version (\d+)$/.exec(line ?? '')?.[1];
  if (from === undefined || sql === undefined)
    throw new SetupError(
      `views/${file}: "-- @carried" needs a line "-- carried: from version N", and the line needs the section`,
    );
  return { from: Number(from), sql };
}

/** Parses `-- kept: since version N [in parts of table(column)]`, which belongs to a section `-- @kept`. */
function parseKept(file: string, line: string | undefined, text: string | undefined): KeptRows | undefined {
  if (line === undefined && text === undefined) return undefined;
  const match = /^since version (\d+)(?: in parts of (\w+)\((\w+)\))?$/.exec(line ?? '');
  if (match === null || text === undefined)
    throw new SetupError(
      `views/${file}: "-- @kept" needs a line "-- kept: since version N [in parts of table(column)]", and the ` +
        'line needs the section',
    );
  const [, since, table, column] = match;
  return {
    since: Number(since),
    parts: table === undefined || column === undefined ? null : { table, column },
    statements: statements(text).map((sql) => {
      const fills = /^insert into (\w+)/i.exec(sql)?.[1];
      if (fills === undefined)
        throw new SetupError(`views/${file}: "${sql}" in "-- @kept" does not insert into a batch table`);
      return { sql, fills };
    }),
  };
}

/** Parses `-- rows: name = table equal(columns) range(from, to)`, which declares `@name`. */
function parseRead(file: string, text: string | undefined): ViewRead | undefined {
  if (text === undefined) return undefined;
  const rows = [...text.matchAll(/^-- rows: *(.+)$/gm)].map(([, line = '']) => {
    const match = /^(\w+) = (\w+)(?: equal\(([^)]+)\))?(?: range\((\w+), (\w+)\))?$/.exec(line.trim());
    if (match === null)
      throw new SetupError(
        `views/${file}: "-- rows: ${line}" is not "name = table [equal(columns)] [range(from, to)]"`,
      );
    const [, name = '', table = '', equal, from, to] = match;
    const range = from === undefined || to === undefined ? null : ([from, to] as const);
    return { name, table, equal: equal?.split(',').map((column) => column.trim()) ?? [], range };
  });
  return { sql: text.replaceAll(/^--.*$/gm, '').trim(), rows };
}

/** Makes a block of the statements from `-- when: table, …` to `-- end`, and of every other statement. */
function foldBlocks(file: string, sql: string): FoldBlock[] {
  const blocks: FoldBlock[] = [];
  let when: string[] | null = null;
  let text = '';
  const take = (): void => {
    const found = statements(text).map((statement) => foldStatements(file, statement));
    if (when !== null && found.length > 0)
      blocks.push({ when, statements: found.flatMap((each) => each.statements) });
    else blocks.push(...found);
    text = '';
  };
  for (const line of sql.split('\n')) {
    const tables = /^-- when:(.*)$/.exec(line)?.[1];
    if (tables === undefined && line !== '-- end') {
      text += `${line}\n`;
      continue;
    }
    if ((tables === undefined) !== (when !== null))
      throw new SetupError(
        `views/${file}: each "-- when: tables" needs an "-- end" before the next, and each "-- end" a "-- when:"`,
      );
    take();
    when = tables?.split(',').map((table) => table.trim()) ?? null;
  }
  if (when !== null) throw new SetupError(`views/${file}: "-- when: ${when.join(', ')}" has no "-- end"`);
  take();
  return blocks;
}

/** Makes a block of one statement. An upsert from a table is skipped while that table is empty. */
function foldStatements(file: string, statement: string): FoldBlock {
  let upsert: Upsert | null;
  try {
    upsert = expandUpsert(statement);
  } catch (error) {
    throw new SetupError(`views/${file}: "${statement}": ${(error as Error).message}`, { cause: error });
  }
  if (upsert !== null) {
    const { source, merges } = upsert;
    return {
      when: source === null ? null : [source],
      statements: merges.map((sql) => ({ sql, makes: null })),
    };
  }
  const makes = /^create or replace temp table (\w+)/i.exec(statement)?.[1] ?? null;
  return { when: null, statements: [{ sql: statement, makes }] };
}

/** Splits at semicolons that end a line, and drops comments. */
function statements(sql: string): string[] {
  return sql
    .replaceAll(/^--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

function inOrder(views: readonly View[]): View[] {
  const placed: View[] = [];
  const waiting = views.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  while (waiting.length > 0) {
    const next = waiting.findIndex((view) =>
      view.after.every((name) => placed.some((other) => other.name === name)),
    );
    if (next < 0) {
      throw new SetupError(
        `views: ${waiting.map((view) => view.name).join(', ')} wait for each other or for a view that is missing`,
      );
    }
    placed.push(...waiting.splice(next, 1));
  }
  return placed;
}
