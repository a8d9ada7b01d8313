import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseProcfile } from '../../../src/main/supervisor.ts';
import { openRegistry } from '../../../src/web/registry/registry.ts';
import { readActiveEpoch, shardDirectory } from '../../../src/store/epochs/epochs.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { connectionOptions } from '../../../src/stream/server/server.ts';
import { freePort } from '../../support/nats.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** As `npm start` pauses before the first restart. */
const RESTART_PAUSE_MS = 200;
const GIVE_UP_MS = 60_000;
/** Between two looks, at first; what takes long is looked at more seldom, as each look is work for the service. */
const LOOK_MS = 20;
const SELDOM_LOOK_MS = 250;

export const MEMBERS = ['nats', 'web', 'worker'] as const;
export type Member = (typeof MEMBERS)[number];

export interface StackOptions {
  /** Added to what every process is told. */
  readonly env?: Readonly<Record<string, string>>;
  /** Added to what one of them is told. */
  readonly envOf?: Partial<Readonly<Record<Member, Readonly<Record<string, string>>>>>;
  /** Folder for the data; else one of the stack's own, deleted in the end. */
  readonly dataDir?: string;
}

interface State {
  child: ChildProcess | null;
  /** While true, it is not started again. */
  held: boolean;
  /** Added to its environment. */
  readonly env: Readonly<Record<string, string>>;
  starts: number;
  fileBytes: number | null;
  log: string;
  ended: Promise<unknown>;
}

/**
 * The processes of the Procfile, run as `npm start` runs them and restarted when they end, each within reach
 * of a test: to kill, to hold down, to start with another environment.
 */
export class Stack {
  readonly dataDir: string;
  readonly url: string;
  readonly natsPort: number;
  readonly #env: NodeJS.ProcessEnv;
  readonly #envOf: NonNullable<StackOptions['envOf']>;
  readonly #ownFolder: string | null;
  readonly #commands: ReadonlyMap<string, string>;
  readonly #states = new Map<Member, State>();
  readonly #others: ChildProcess[] = [];
  #stopping = false;

  private constructor(options: StackOptions, webPort: number, natsPort: number) {
    this.#ownFolder = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), 'undertone-faults-')) : null;
    this.dataDir = options.dataDir ?? join(this.#ownFolder ?? '', 'data');
    this.url = `http://127.0.0.1:${webPort}`;
    this.natsPort = natsPort;
    this.#env = {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(webPort),
      NATS_PORT: String(natsPort),
      DATA_DIR: this.dataDir,
      SERVE: 'all',
      SHARDS: '1',
      AUTO_REBUILD: 'false',
      EMBEDDING_MODEL: 'undertone-small',
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_MESSAGES_PER_SECOND: '1000000',
      LOG_LEVEL: 'info',
      NATS_URL: '',
      NATS_TOKEN: '',
      ...options.env,
    };
    this.#envOf = options.envOf ?? {};
    const entries = parseProcfile(readFileSync(join(ROOT, 'Procfile'), 'utf8'));
    this.#commands = new Map(entries.map(({ name, command }) => [name, command]));
    process.on('exit', this.#killAll);
  }

  /** Resolves when the service is ready. Register `stop` right after it. */
  static async start(options: StackOptions = {}): Promise<Stack> {
    const stack = new Stack(options, await freePort(), await freePort());
    try {
      for (const member of MEMBERS) stack.#run(member);
      await stack.ready();
      await stack.waitForOutput('worker', /worker_ready/);
      return stack;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  /** Nothing will answer any more. */
  get stopped(): boolean {
    return this.#stopping;
  }

  /** Everything that a process printed, over all its starts. */
  log(member: Member): string {
    return this.#state(member).log;
  }

  pid(member: Member): number {
    const pid = this.#state(member).child?.pid;
    if (pid === undefined) throw new Error(`${member} does not run`);
    return pid;
  }

  starts(member: Member): number {
    return this.#state(member).starts;
  }

  /** kill -9; it is started again by itself. */
  async kill(member: Member): Promise<void> {
    const state = this.#state(member);
    state.child?.kill('SIGKILL');
    await state.ended;
  }

  /** Ends a process (kill -9, or in good order) and keeps it down until `release`. */
  async hold(member: Member, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const state = this.#state(member);
    state.held = true;
    state.child?.kill(signal);
    await state.ended;
  }

  /** Starts a process that is held down. */
  release(member: Member): void {
    const state = this.#state(member);
    if (!state.held) throw new Error(`${member} is not held down`);
    state.held = false;
    this.#run(member);
  }

  /** In good order, and started again. */
  async restart(member: Member): Promise<void> {
    await this.hold(member, 'SIGTERM');
    this.release(member);
  }

  /** No file that a process writes may grow beyond so many bytes, now and when it starts again; null: any may. */
  limitFiles(member: Member, bytes: number | null): void {
    const state = this.#state(member);
    state.fileBytes = bytes;
    if (state.child?.pid === undefined) return;
    execFileSync('prlimit', ['--pid', String(state.child.pid), `--fsize=${bytes ?? 'unlimited'}:`]);
  }

  /** Stops a process in its tracks, until `thaw`. */
  freeze(member: Member): void {
    process.kill(this.pid(member), 'SIGSTOP');
  }

  thaw(member: Member): void {
    process.kill(this.pid(member), 'SIGCONT');
  }

  /** One more process of a kind, not restarted; ended with the stack. */
  another(member: Member): { readonly process: ChildProcess; readonly log: () => string } {
    const child = this.#spawn(member, {});
    let log = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (log += text));
    this.#others.push(child);
    return { process: child, log: () => log };
  }

  /** Waits until a process has ended on its own. */
  async ended(member: Member): Promise<void> {
    await this.#state(member).ended;
  }

  /** Waits until `/readyz` says so. */
  async ready(): Promise<void> {
    let failure = '';
    await this.until(
      async () => {
        try {
          const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2000) });
          failure = await answer.text();
          return answer.ok;
        } catch (error) {
          failure = String(error);
          return false;
        }
      },
      () => `the service is not ready: ${failure}\n${this.#tails()}`,
    );
  }

  /** Waits until something holds; fails after a minute with what `describe` says. */
  async until(holds: () => boolean | Promise<boolean>, describe: () => string): Promise<void> {
    const startedAt = performance.now();
    while (!(await holds())) {
      const waitedMs = performance.now() - startedAt;
      if (waitedMs > GIVE_UP_MS) throw new Error(`waited too long: ${describe()}`);
      await sleep(Math.min(SELDOM_LOOK_MS, LOOK_MS + waitedMs / 10));
    }
  }

  /** Waits until a process has printed something that was not there `after` so many characters. */
  async waitForOutput(member: Member, words: RegExp, after = 0): Promise<void> {
    await this.until(
      () => words.test(this.log(member).slice(after)),
      () => `${member} did not say ${words}; it said\n${this.log(member).slice(-4000)}`,
    );
  }

  /** A key of a project of its own. */
  async newKey(project = 'faults'): Promise<string> {
    const connection = await this.connect();
    try {
      const registry = await openRegistry(connection);
      try {
        await registry.whenReady();
        return (await registry.createKey({ projectName: project, env: 'test' })).rawKey;
      } finally {
        await registry.close();
      }
    } finally {
      await connection.close();
    }
  }

  /** A link of the test's own to the stream; to be closed by the test. */
  connect(): Promise<StreamConnection> {
    return openConnection({
      ...connectionOptions({
        dataDir: this.dataDir,
        natsPort: this.natsPort,
        natsUrl: this.#env['NATS_URL'] === '' ? undefined : this.#env['NATS_URL'],
        natsToken: this.#env['NATS_TOKEN'],
      }),
      name: 'test of faults',
    });
  }

  /** Folder of a shard of the active views. */
  shardDirectory(shard = 0): string {
    const active = readActiveEpoch(this.dataDir);
    if (active === null) throw new Error('there are no active views');
    return shardDirectory(this.dataDir, active.epoch, shard);
  }

  /** Runs a command of `src/main` with the stack's environment, to its end. */
  async command(
    script: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ code: number | null; signal: string | null; output: string }> {
    const child = spawn(process.execPath, [join(ROOT, 'src', script), ...args], {
      cwd: ROOT,
      env: { ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return { code, signal, output };
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const other of this.#others) {
      if (other.exitCode !== null || other.signalCode !== null) continue;
      const closed = once(other, 'close');
      other.kill('SIGKILL');
      await closed;
    }
    for (const member of ['web', 'worker', 'nats'] as const) {
      const state = this.#states.get(member);
      if (state === undefined) continue;
      state.child?.kill('SIGTERM');
      const timer = setTimeout(() => state.child?.kill('SIGKILL'), 15_000);
      await state.ended;
      clearTimeout(timer);
    }
    process.off('exit', this.#killAll);
    if (this.#ownFolder !== null) rmSync(this.#ownFolder, { recursive: true, force: true });
  }

  readonly #killAll = (): void => {
    for (const { child } of this.#states.values()) child?.kill('SIGKILL');
    for (const other of this.#others) other.kill('SIGKILL');
  };

  #state(member: Member): State {
    const state = this.#states.get(member);
    if (state === undefined) throw new Error(`${member} was never started`);
    return state;
  }

  #run(member: Member): void {
    const known = this.#states.get(member);
    const state: State = known ?? {
      child: null,
      held: false,
      env: this.#envOf[member] ?? {},
      starts: 0,
      fileBytes: null,
      log: '',
      ended: Promise.resolve(),
    };
    this.#states.set(member, state);
    state.starts += 1;
    const child = this.#spawn(member, state.env);
    state.child = child;
    if (state.fileBytes !== null) this.limitFiles(member, state.fileBytes);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (state.log += text));
    state.ended = once(child, 'close').then(async ([code, signal]) => {
      state.log += `[ended: ${String(signal ?? code)}]\n`;
      state.child = null;
      if (this.#stopping || state.held) return;
      void sleep(RESTART_PAUSE_MS).then(() => {
        if (!this.#stopping && !state.held && state.child === null) this.#run(member);
      });
    });
  }

  #spawn(member: Member, env: Readonly<Record<string, string>>): ChildProcess {
    return spawn('sh', ['-c', `exec ${this.#commands.get(member)}`], {
      cwd: ROOT,
      env: { ...this.#env, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
  }

  #tails(): string {
    return [...this.#states].map(([name, { log }]) => `--- ${name}\n${log.slice(-1500)}`).join('\n');
  }
}
