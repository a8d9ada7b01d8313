import type { Assignment } from '../../../src/domain/facts.ts';
import { SIGNALS } from '../../../src/domain/signal-kinds.ts';
import {
  openDatabase,
  quoted,
  type ColumnType,
  type Connection,
  type Database,
} from '../../../src/store/duckdb.ts';

/**
 * Messages as a service without views would keep them, one row each with what was found out about it, and
 * the names beside them.
 */
const RAW_SCHEMA = `
create table message (
  instance integer, session integer, end_user integer, sent_at timestamp, topic integer, signal integer,
  sat smallint, dsat smallint, repeated_request integer, gap integer
);
create table session (instance integer, session integer, id uuid);
create table end_user (instance integer, end_user integer, id uuid);
create table topic (instance integer, topic integer, id uuid);
create table signal (instance integer, signal integer, id uuid);
create table gap (instance integer, gap integer, id uuid);
`;

const RAW_TABLES = ['message', 'session', 'end_user', 'topic', 'signal', 'gap'] as const;

type Cell = number | string | null;

/** A DuckDB file of raw messages: what a plain SQL is asked of, beside the views. */
export class RawMessages {
  readonly #database: Database;
  readonly connection: Connection;
  #staged = false;

  private constructor(database: Database, connection: Connection) {
    this.#database = database;
    this.connection = connection;
  }

  /** Opens a file that exists, or makes one. */
  static async open(file: string, options: { readonly create: boolean }): Promise<RawMessages> {
    const database = await openDatabase({ threads: 2 });
    const connection = await database.connect();
    await connection.run(`attach ${quoted(file)} as raw${options.create ? '' : ' (read_only)'}; use raw`);
    if (options.create) await connection.run(RAW_SCHEMA);
    return new RawMessages(database, connection);
  }

  /** Adds what a batch brings. Every micro-cluster must be a topic of the same number, without change. */
  async add(
    work: Assignment,
    newUsers: readonly { instance: number; user: number; id: string }[],
  ): Promise<void> {
    await this.#append(
      'message',
      Array.from({ length: 10 }, (_, column) => (column === 3 ? 'bigint' : 'integer')),
      work.messages.map((message) => {
        const [signal = null, ...more] = message.signals;
        if (more.length > 0) throw new Error('a raw message holds one signal at most');
        const type = signal === null ? null : SIGNALS[signal]?.type;
        return [
          message.instance,
          message.session,
          message.user,
          message.at,
          message.micro,
          signal,
          Number(type === 'SAT'),
          Number(type === 'DSAT'),
          message.repeatedRequest,
          message.gap,
        ];
      }),
    );
    const named = [
      ['session', work.sessions.map((row) => [row.instance, row.session, row.id])],
      ['end_user', newUsers.map((row) => [row.instance, row.user, row.id])],
      ['topic', work.topics.map((row) => [row.instance, row.topic, row.id])],
      ['signal', work.signals.map((row) => [row.instance, row.signal, row.id])],
      ['gap', work.gaps.map((row) => [row.instance, row.gap, row.id])],
    ] as const;
    for (const [name, rows] of named) await this.#append(name, ['integer', 'integer', 'text'], rows);
  }

  async #append(
    table: (typeof RAW_TABLES)[number],
    columns: readonly ColumnType[],
    rows: readonly (readonly Cell[])[],
  ): Promise<void> {
    if (!this.#staged) {
      for (const name of RAW_TABLES) {
        const { connection } = this;
        await connection.run(
          name === 'message'
            ? 'create temp table new_message as select * replace (0::bigint as sent_at) from message limit 0'
            : `create temp table new_${name} as select * replace (''::varchar as id) from ${name} limit 0`,
        );
        if (name === 'message')
          await connection.run(
            'alter table temp.new_message alter sat type integer; alter table temp.new_message alter dsat type integer',
          );
      }
      this.#staged = true;
    }
    if (rows.length === 0) return;
    await this.connection.append(`new_${table}`, columns, rows);
    const columnsRead =
      table === 'message' ? '* replace (make_timestamp(sent_at) as sent_at)' : '* replace (id::uuid as id)';
    await this.connection.run(
      `insert into raw.${table} select ${columnsRead} from temp.new_${table}; truncate temp.new_${table}`,
    );
  }

  async close(): Promise<void> {
    await this.connection.run('use memory; detach raw');
    this.connection.close();
    this.#database.close();
  }
}
