import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { RAW_SCHEMA, RAW_TABLES } from './raw-messages.ts';

/** What anybody would index for these questions. */
const INDEXES = `
create index on message (instance, sent_at);
create index on message (instance, topic, sent_at);
create index on message (instance, end_user);
create index on message (instance, session);
create index on message (instance, gap, sent_at) where gap is not null;
create index on message (instance, signal, sent_at) where signal is not null;
create index on session (instance, session);
create index on end_user (instance, end_user);
create index on topic (instance, topic);
create index on signal (instance, signal);
create index on gap (instance, gap);
vacuum analyze;
`;

/** Settings for a machine of its own; a loss of power is no concern here. */
const SETTINGS = [
  'listen_addresses=',
  'timezone=UTC',
  'shared_buffers=2GB',
  'work_mem=256MB',
  'maintenance_work_mem=512MB',
  'effective_cache_size=8GB',
  'random_page_cost=1.1',
  'max_wal_size=8GB',
  'fsync=off',
];

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  readonly psql: string;
}

/** The installed programs; null when one of them is missing. */
export function findPostgres(): PostgresPrograms | null {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').toSorted(),
  ];
  const find = (name: string): string | undefined =>
    folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  const [initdb, postgres, psql] = [find('initdb'), find('postgres'), find('psql')];
  return initdb === undefined || postgres === undefined || psql === undefined
    ? null
    : { initdb, postgres, psql };
}

/** A PostgreSQL server of our own with the raw messages in it, on a Unix socket. */
export class PostgresMessages {
  readonly #folder: string;
  readonly #server: ChildProcess;
  readonly #psql: ChildProcess;
  #output = '';
  #faults = '';
  #wake: (() => void) | null = null;

  private constructor(folder: string, server: ChildProcess, psql: ChildProcess) {
    this.#folder = folder;
    this.#server = server;
    this.#psql = psql;
    const take = (chunk: Buffer): void => {
      this.#output += chunk.toString();
      this.#wake?.();
    };
    psql.stdout?.on('data', take);
    psql.stderr?.on('data', (chunk: Buffer) => {
      this.#faults += chunk.toString();
    });
    psql.once('exit', () => this.#wake?.());
  }

  /** Makes and fills it from `<csvFolder>/<table>.csv`. PostgreSQL refuses root: then it runs as another user. */
  static async open(programs: PostgresPrograms, csvFolder: string): Promise<PostgresMessages> {
    const folder = mkdtempSync(join(tmpdir(), 'ut-pg-'));
    const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? otherUser() : {};
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
    const data = join(folder, 'data');
    const made = spawnSync(
      programs.initdb,
      ['-D', data, '-U', 'bench', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
      { ...owner, cwd: folder, encoding: 'utf8' },
    );
    if (made.status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`initdb failed: ${made.stderr}`);
    }
    const server = spawn(
      programs.postgres,
      ['-D', data, '-k', folder, ...SETTINGS.flatMap((setting) => ['-c', setting])],
      { ...owner, cwd: folder, stdio: 'ignore' },
    );
    const login = ['-X', '-q', '-A', '-t', '-h', folder, '-U', 'bench', '-d', 'postgres'];
    const deadline = performance.now() + 60_000;
    while (spawnSync(programs.psql, [...login, '-c', 'select 1']).status !== 0) {
      if (server.exitCode !== null || performance.now() > deadline) {
        server.kill('SIGQUIT');
        rmSync(folder, { recursive: true, force: true });
        throw new Error('postgres did not start');
      }
      await new Promise((done) => setTimeout(done, 100));
    }
    const psql = spawn(programs.psql, login, { stdio: ['pipe', 'pipe', 'pipe'] });
    const opened = new PostgresMessages(folder, server, psql);
    try {
      const copies = RAW_TABLES.map(
        (table) => `\\copy ${table} from '${join(csvFolder, `${table}.csv`)}' with (format csv)`,
      );
      await opened.#exchange(`${RAW_SCHEMA}\n${copies.join('\n')}\n${INDEXES}\n\\timing on\n`);
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Runs a SELECT: its rows, null as null, and how long it took, milliseconds. */
  async select(sql: string): Promise<{ rows: (string | null)[][]; ms: number }> {
    const lines = (await this.#exchange(`${sql};\n`)).split('\n').filter((line) => line !== '');
    const timing = /^Time: ([\d.]+) ms/.exec(lines.pop() ?? '');
    if (timing === null) throw new Error(`postgres told no time for: ${sql}`);
    return {
      rows: lines.map((line) => line.split('|').map((cell) => (cell === '' ? null : cell))),
      ms: Number(timing[1]),
    };
  }

  async close(): Promise<void> {
    this.#psql.kill();
    if (this.#server.exitCode === null && this.#server.signalCode === null) {
      const ended = once(this.#server, 'exit');
      this.#server.kill('SIGQUIT');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #exchange(text: string): Promise<string> {
    const mark = '--done--\n';
    this.#output = '';
    this.#faults = '';
    this.#psql.stdin?.write(`${text}\\echo --done--\n`);
    while (!this.#output.endsWith(mark)) {
      if (this.#psql.exitCode !== null) throw new Error(`psql ended: ${this.#faults}`);
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    if (/ERROR|FATAL/.test(this.#faults)) throw new Error(`postgres: ${this.#faults}`);
    return this.#output.slice(0, -mark.length);
  }
}

/** User and group ids of somebody who may run a server: its own user where there is one, else nobody. */
function otherUser(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((option) => spawnSync('id', [option, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('postgres refuses root, and there is no other user to run it');
}
