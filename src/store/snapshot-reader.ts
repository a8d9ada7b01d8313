import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';
import { isDamage, noteDamage } from './damage.ts';
import {
  DatabaseError,
  openDatabase,
  quoted,
  type Bindings,
  type Connection,
  type Database,
  type Row,
} from './duckdb.ts';
import {
  filesOf,
  isCurrentLost,
  publishedTables,
  readGeneration,
  versionsOf,
  type Generation,
} from './publication.ts';
import type { PublishedTable, View } from './view-files.ts';

/** What was read once, and of which tables. */
interface Remembered {
  readonly name: string;
  readonly tables: readonly string[];
  readonly value: Promise<unknown>;
  /** Then the next who asks reads again, in whichever generation that is. */
  failed: boolean;
}

/** Results kept; the least recently used goes first. */
const REMEMBERED = 1000;

/** One generation of one shard, attached. */
interface Attached {
  readonly generation: Generation;
  /** Catalog names of its files, by path. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly directory: string;
  /** What was read once for all who ask: files never change. */
  readonly remembered: LRUCache<string, Remembered>;
  readers: number;
  retired: boolean;
}

/** A consistent picture: everything read through it belongs to one generation. */
export interface Snapshot {
  /** Stream sequence that it contains. */
  readonly sequence: number;
  /**
   * Runs a SELECT in which `@table[condition]` stands for the rows of a published table that meet a condition.
   * The condition may only use columns that never change for a row (its key, or what the key decides).
   */
  all(sql: string, bindings?: Bindings): Promise<Row[]>;
  /**
   * What `read` gave the first time that anybody asked for `name`: kept for as long as the published tables
   * named, all that `read` looks at, have the same rows.
   */
  remembered<T>(name: string, tables: readonly string[], read: () => Promise<T>): Promise<T>;
  /** Must be called once, when nothing more is read. */
  release(): void;
}

export interface SnapshotReaderOptions {
  /**
   * Folder of one shard as it is now (a rebuild moves it); null while there is none. When it throws, whoever
   * was answered before goes on being answered from the same files.
   */
  readonly directory: () => string | null;
  readonly views: readonly View[];
  readonly threads: number;
  /** Statements that run side by side. */
  readonly connections: number;
  readonly memoryLimit?: string;
  /** For a statement that needs more and runs alone. */
  readonly memoryLimitAlone?: string;
  readonly spillDirectory?: string;
}

const CURRENT_LOST = 'CURRENT is gone or cannot be read';

/**
 * Opens what the worker publishes, newest first, in its own in-memory DuckDB; never the live file. Of files
 * that are damaged it answers nothing: it leaves a note, from which the worker makes them anew.
 */
export class SnapshotReader {
  readonly #options: SnapshotReaderOptions;
  readonly #database: Database;
  readonly #admin: Connection;
  readonly #idle: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #tables: ReadonlyMap<string, PublishedTable>;
  /** Attached files, by path, with the generations that use them. */
  readonly #files = new Map<string, { alias: string; users: number }>();
  readonly #working = new Set<Promise<unknown>>();
  /** The end of the statements that want to be alone. */
  #alone: Promise<unknown> = Promise.resolve();
  #attached: Attached | null = null;
  #stamp = '';
  #aliases = 0;
  #refreshing: Promise<void> | null = null;

  private constructor(
    options: SnapshotReaderOptions,
    database: Database,
    admin: Connection,
    connections: Connection[],
  ) {
    this.#options = options;
    this.#database = database;
    this.#admin = admin;
    this.#idle = connections;
    this.#tables = new Map(publishedTables(options.views).map((table) => [table.name, table]));
  }

  static async open(options: SnapshotReaderOptions): Promise<SnapshotReader> {
    const database = await openDatabase({
      threads: options.threads,
      ...(options.memoryLimit === undefined ? {} : { memoryLimit: options.memoryLimit }),
      ...(options.spillDirectory === undefined ? {} : { spillDirectory: options.spillDirectory }),
    });
    const admin = await database.connect();
    // Planning is most of a short query's time. None of ours repeats a part that the first of these steps could
    // share; the second one would read a page's rows a second time to spare reading columns that are narrow.
    await admin.run(`set global disabled_optimizers = 'common_subplan,late_materialization'`);
    const connections = await Promise.all(
      Array.from({ length: options.connections }, () => database.connect()),
    );
    return new SnapshotReader(options, database, admin, connections);
  }

  /** The newest generation; null while nothing is published. Throws AppError SERVICE_UNAVAILABLE on damage. */
  async snapshot(): Promise<Snapshot | null> {
    await this.#refresh();
    const attached = this.#attached;
    if (attached === null) {
      const directory = this.#options.directory();
      if (directory === null) return null;
      // What has come to be just now is not nothing.
      if (!isCurrentLost(directory)) return readGeneration(directory) === null ? null : this.snapshot();
      if (await isFirstPublication(directory)) return this.snapshot();
      noteDamage(directory, 'levels', CURRENT_LOST);
      throw beingMade();
    }
    attached.readers += 1;
    let released = false;
    return {
      sequence: attached.generation.seq,
      all: (sql, bindings) =>
        this.#track(
          this.#run((connection) => connection.all(this.#expand(sql, attached, bindings ?? {}), bindings)),
        ).catch((error: unknown) => {
          if (!isDamage(error)) throw error;
          noteDamage(attached.directory, 'levels', reasonOf(error));
          throw beingMade(error);
        }),
      remembered: <T>(name: string, tables: readonly string[], read: () => Promise<T>) => {
        const key = rememberedKey(name, tables, attached);
        const known = attached.remembered.get(key);
        if (known !== undefined && !known.failed) return known.value as Promise<T>;
        const value = read();
        const remembered: Remembered = { name, tables, value, failed: false };
        attached.remembered.set(key, remembered);
        value.catch(() => {
          remembered.failed = true;
        });
        return value;
      },
      release: () => {
        if (released) return;
        released = true;
        attached.readers -= 1;
        if (attached.retired && attached.readers === 0)
          void this.#track(this.#detach(attached)).catch(() => undefined);
      },
    };
  }

  /** Waits until a generation contains `sequence`, at most `timeoutMs`; true when it does. */
  async waitFor(sequence: number, timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      await this.#refresh();
      if ((this.#attached?.generation.seq ?? -1) >= sequence) return true;
      if (performance.now() >= deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Waits for what is being read or detached, then closes everything. Nothing may be asked afterwards. */
  async close(): Promise<void> {
    // Closing a connection under a running statement brings the process down.
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    for (const connection of [...this.#idle, this.#admin]) connection.close();
    this.#database.close();
  }

  /** Keeps work in sight until it has ended, so that `close` can wait for it. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work);
    const ended = (): boolean => this.#working.delete(work);
    work.then(ended, ended);
    return work;
  }

  async #refresh(): Promise<void> {
    while (this.#refreshing !== null) await this.#refreshing;
    const stamp = this.#currentStamp();
    if (stamp === null || stamp === this.#stamp) return;
    this.#refreshing = this.#track(this.#attach(stamp)).finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
  }

  #directory(): string | null {
    try {
      return this.#options.directory();
    } catch (error) {
      if (this.#attached === null) throw error;
      return null;
    }
  }

  #currentStamp(): string | null {
    const directory = this.#directory();
    if (directory === null) return null;
    const stat = statSync(join(directory, 'CURRENT'), { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? null : `${directory}:${stat.ino}:${stat.mtimeNs}:${stat.size}`;
  }

  async #attach(stamp: string): Promise<void> {
    // A file can be replaced between reading CURRENT and opening it: look again, then give up with the reason.
    for (let attempt = 1; ; attempt++) {
      const directory = this.#directory();
      if (directory === null) return;
      const generation = readGeneration(directory);
      if (generation === null) {
        if (isCurrentLost(directory)) noteDamage(directory, 'levels', CURRENT_LOST);
        return;
      }
      if (!isDeepStrictEqual(generation.views, versionsOf(this.#options.views))) {
        // What was read last is right still; without it, an empty answer would be a wrong one.
        if (this.#attached !== null) return;
        throw new AppError(
          'SERVICE_UNAVAILABLE',
          'The views on disk are of another version of this service. Rebuild them: npm run rebuild.',
          { retryAfter: 60 },
        );
      }
      if (sameFiles(directory, generation, this.#attached)) {
        this.#stamp = stamp;
        return;
      }
      try {
        await this.#swap(directory, generation);
        this.#stamp = stamp;
        return;
      } catch (error) {
        if (attempt < 5) continue;
        if (isDamage(error)) noteDamage(directory, 'levels', reasonOf(error));
        // An old answer is better than none; without any, the caller must know.
        if (this.#attached === null) throw isDamage(error) ? beingMade(error) : error;
        return;
      }
    }
  }

  async #swap(directory: string, generation: Generation): Promise<void> {
    const files = [...filesOf(generation)].map((file) => join(directory, file));
    const aliases = new Map<string, string>();
    try {
      for (const file of files) aliases.set(file, await this.#use(file));
    } catch (error) {
      for (const file of aliases.keys()) await this.#leave(file);
      throw error;
    }
    const previous = this.#attached;
    const attached = {
      generation,
      aliases,
      directory,
      remembered: new LRUCache<string, Remembered>({ max: REMEMBERED }),
      readers: 0,
      retired: false,
    };
    // The least recently used first, as they came.
    for (const known of previous?.remembered.rvalues() ?? []) {
      if (known === undefined || known.failed) continue;
      const key = rememberedKey(known.name, known.tables, attached);
      if (previous?.remembered.peek(key) === known) attached.remembered.set(key, known);
    }
    this.#attached = attached;
    if (previous !== null) {
      previous.retired = true;
      if (previous.readers === 0) await this.#detach(previous);
    }
  }

  async #use(file: string): Promise<string> {
    const known = this.#files.get(file);
    if (known !== undefined) {
      known.users += 1;
      return known.alias;
    }
    const alias = `level${(this.#aliases += 1)}`;
    await this.#admin.run(`attach ${quoted(file)} as ${alias} (read_only)`);
    this.#files.set(file, { alias, users: 1 });
    return alias;
  }

  async #detach(attached: Attached): Promise<void> {
    for (const file of attached.aliases.keys()) await this.#leave(file);
  }

  async #leave(file: string): Promise<void> {
    const known = this.#files.get(file);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users > 0) return;
    this.#files.delete(file);
    await this.#admin.run(`detach ${known.alias}`);
  }

  /** Runs on a connection; again, alone and with more memory, when the memory did not suffice. */
  async #run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
    } finally {
      this.#give(connection);
    }
    const turn = this.#alone.then(async () => {
      const all: Connection[] = [];
      try {
        while (all.length < this.#options.connections) all.push(await this.#take());
        await this.#limitMemory(this.#options.memoryLimitAlone);
        return await work(all[0] as Connection);
      } finally {
        try {
          await this.#limitMemory(this.#options.memoryLimit);
        } finally {
          for (const each of all) this.#give(each);
        }
      }
    });
    this.#alone = turn.catch(() => undefined);
    return turn;
  }

  async #limitMemory(limit: string | undefined): Promise<void> {
    if (limit !== undefined) await this.#admin.run(`set global memory_limit = ${quoted(limit)}`);
  }

  async #take(): Promise<Connection> {
    return this.#idle.pop() ?? (await new Promise<Connection>((resolve) => this.#waiting.push(resolve)));
  }

  #give(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next(connection);
  }

  #expand(sql: string, attached: Attached, bindings: Bindings): string {
    return sql.replaceAll(/@(\w+)\[([^\]]*)\]/g, (_, name: string, condition: string) => {
      const table = this.#tables.get(name);
      if (table === undefined) throw new Error(`no view publishes ${name}`);
      const where = condition.trim() === '' ? '' : ` where ${condition}`;
      const fixed = fixedColumns(condition);
      // The planner pays for each column of a join: those that the condition fixes need no comparing.
      const compared = table.key.filter((column) => !fixed.has(column));
      const key = (compared.length === 0 ? table.key : compared).join(', ');
      const { from, to } = boundsOf(table, condition, bindings);
      // The lowest level stays, whatever it holds: it has the table's columns.
      const read = (attached.generation.tables[name] ?? []).filter(
        (level, index) =>
          index === 0 || level.from === null || level.to === null || (level.from < to && level.to >= from),
      );
      const levels = read.map((level) => ({
        replaces: level.replaces,
        rows: `${attached.aliases.get(join(attached.directory, level.file))}.${name}${where}`,
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
}

/** The first files of a shard are there for a moment before its first `CURRENT`; waits for it so long. */
const FIRST_PUBLICATION_MS = 1000;

async function isFirstPublication(directory: string): Promise<boolean> {
  const deadline = performance.now() + FIRST_PUBLICATION_MS;
  while (!existsSync(join(directory, 'CURRENT'))) {
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return !isCurrentLost(directory);
}

function beingMade(cause?: unknown): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    'Files of the views are damaged and are being made anew. Try again in a moment.',
    { retryAfter: 1, cause },
  );
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof DatabaseError && error.fault === 'out-of-memory';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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

/** A name for what was read from tables, other than every name for what was read from other rows of them. */
function rememberedKey(name: string, tables: readonly string[], { generation, directory }: Attached): string {
  const levels = tables.map((table) => generation.tables[table]?.map((level) => level.file).join());
  return [name, tables.join(' '), directory, ...levels].join(' of ');
}

function sameFiles(directory: string, generation: Generation, attached: Attached | null): boolean {
  return (
    attached !== null &&
    attached.directory === directory &&
    attached.generation.seq === generation.seq &&
    JSON.stringify(attached.generation.tables) === JSON.stringify(generation.tables)
  );
}
