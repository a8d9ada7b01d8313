/**
 * Builds a shard's database from another one, without the stream: it reads the batch tables back from what the views of
 * that one kept, and folds them in large parts.
 *
 * Test: test/store/live/refold.test.ts.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { quoted, type Connection, type Row } from '../duckdb.ts';
import { parseDefinition } from '../epochs/definition.ts';
import type { KeptRows, View } from '../view-files.ts';
import { LiveDatabase } from './live-database.ts';
import type { StateStoreOptions } from './state-database.ts';

/**
 * Messages that are folded together. Larger parts cost less for each message, but their temporary tables must fit into
 * memory.
 */
const PART_ROWS = 250_000;

/** Rows that follow from the stream and the analysis, not from the views. */
const COPY_OWN = `
insert into request by name from kept.request;
insert into assign_state by name from kept.assign_state;
insert into session_state by name from kept.session_state;
insert into deferred by name from kept.deferred;
update meta set sequence = k.sequence, revision = k.sequence, last_entry = k.last_entry, instances = k.instances,
  sessions = k.sessions, end_users = k.end_users from kept.meta k
`;

/** New numbers start above the existing ones, and new revisions above those of the rows. */
const BEGIN_ANEW = `
insert into carried select i.id::varchar, k.sequence from kept.instance i, kept.meta k;
update meta set sequence = 0, last_entry = null
`;

export interface RefoldOptions extends StateStoreOptions {
  /** The database whose facts are read; no process may have it open for writing. */
  readonly from: string;
  /** Receives the folded and total messages before each part. Throws to end the work. */
  readonly onPart?: (done: number, of: number) => void | Promise<void>;
  /** Messages of a part. */
  readonly partRows?: number;
  /**
   * True if the rows are only a start: entries of other instances are then applied from the stream's first entry on.
   * Default false.
   */
  readonly carried?: boolean;
}

/** Returns true if the views of another definition kept all that these views need. */
export function canRefold(views: readonly View[], madeBy: string): boolean {
  const before = parseDefinition(madeBy).views;
  const keeping = views.filter((view) => view.kept !== undefined);
  return (
    keeping.length > 0 && keeping.every(({ name, kept }) => Number(before.get(name)) >= (kept?.since ?? 0))
  );
}

/**
 * Builds `state.duckdb` of `directory`, at the position of the database `from`. The file appears when it is complete;
 * remains of an interrupted attempt are deleted. Returns the number of messages.
 */
export async function refold(options: RefoldOptions): Promise<number> {
  const { directory, from, views, onPart = () => undefined, partRows = PART_ROWS, carried = false } = options;
  const own = carried ? `${COPY_OWN};${BEGIN_ANEW}` : COPY_OWN;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const live = await LiveDatabase.open({ ...options, directory: unfinished });
  let messages = 0;
  try {
    for (const { kept } of views) {
      if (kept === undefined) continue;
      const parts = await withKept(live, from, ({ connection }) => partsOf(connection, kept, partRows));
      const total = parts.reduce((sum, { rows }) => sum + rows, 0);
      for (const part of parts) {
        if (part.bounds !== null) await onPart(messages, total);
        await withKept(live, from, () => foldPart(live, views, kept, part));
        messages += part.rows;
      }
    }
    await withKept(live, from, ({ connection }) => connection.transaction(() => connection.run(own)));
  } finally {
    await live.close();
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  renameSync(join(unfinished, 'state.duckdb'), join(directory, 'state.duckdb'));
  rmSync(unfinished, { recursive: true, force: true });
  return messages;
}

interface Part {
  /** Range of the column by which parts are divided; null: the only part has no bounds. */
  readonly bounds: readonly [from: number, to: number] | null;
  readonly rows: number;
}

/** Attaches the other database before each try, as reopening for lack of memory detaches it. */
function withKept<T>(live: LiveDatabase, from: string, work: (live: LiveDatabase) => Promise<T>): Promise<T> {
  return live.withMemory(
    async () => {
      await live.connection.run(`attach if not exists ${quoted(from)} as kept (read_only)`);
      return work(live);
    },
    { raise: true },
  );
}

async function partsOf(connection: Connection, { parts }: KeptRows, partRows: number): Promise<Part[]> {
  if (parts === null) return [{ bounds: null, rows: 0 }];
  const { table, column } = parts;
  const found: Part[] = [];
  for (let last: number | null = null; ;) {
    const row: Row | undefined = await connection.one(
      `select min(${column}) as first, max(${column}) as last, count(*) as part_rows from (
         select ${column} from kept.${table} ${last === null ? '' : `where ${column} > ${last}`}
         order by ${column} limit ${partRows}
       )`,
    );
    const rows = row?.['part_rows'] as number;
    if (rows === 0) return found;
    last = row?.['last'] as number;
    found.push({ bounds: [row?.['first'] as number, last], rows });
  }
}

async function foldPart(
  { connection, temporary }: LiveDatabase,
  views: readonly View[],
  { statements }: KeptRows,
  { bounds }: Part,
): Promise<void> {
  try {
    await connection.transaction(async () => {
      const [from, to] = bounds ?? [0, 0];
      await connection.run(`set variable part_from = ${from}::bigint; set variable part_to = ${to}::bigint`);
      await connection.run('set variable seq = (select sequence from kept.meta)');
      await temporary.stageKept(statements);
      for (const view of views) for (const block of view.fold) await temporary.fold(view, block);
    });
  } catch (error) {
    temporary.rolledBack();
    throw error;
  }
}
