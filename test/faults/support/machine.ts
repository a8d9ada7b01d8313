/**
 * A machine of a fault run: web and worker with a network, a host name, process ids and a disk of their own. Processes
 * that end are started again until the machine stops.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Network } from './network.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const CLOCK = pathToFileURL(join(import.meta.dirname, 'clock.ts')).href;
const PORT = 8080;
const RESTART_PAUSE_MS = 300;
const LOOK_MS = 20;
/** Of the disk that holds what web copies. */
const MIRROR_BYTES = 400 * 2 ** 20;

export const PARTS = ['web', 'worker'] as const;
export type Part = (typeof PARTS)[number];

interface State {
  /** Runs the process; its own end is that of the process. */
  child: ChildProcess;
  ended: Promise<unknown>;
  isHeld: boolean;
  /** The signal or exit code of each end. */
  readonly ends: string[];
}

export interface MachineOptions {
  readonly network: Network;
  readonly name: string;
  /** Logs, clocks and data go there. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export class Machine {
  readonly name: string;
  readonly url: string;
  readonly #options: MachineOptions;
  readonly #dataDir: string;
  readonly #states = new Map<Part, State>();
  #init: ChildProcess | null = null;
  /** Process id of the first process of the machine. */
  #first = 0;
  #isStopped = false;

  private constructor(options: MachineOptions) {
    this.#options = options;
    this.name = options.name;
    this.url = `http://${options.network.addressOf(options.name)}:${PORT}`;
    this.#dataDir = join(options.folder, options.name);
  }

  static async start(options: MachineOptions): Promise<Machine> {
    const machine = new Machine(options);
    mkdirSync(machine.#mirror, { recursive: true, mode: 0o700 });
    process.on('exit', machine.#killAll);
    await machine.#boot();
    for (const part of PARTS) machine.#run(part);
    return machine;
  }

  /** kill -9; it is started again by itself. */
  async kill(part: Part): Promise<void> {
    const state = this.#state(part);
    await this.signal(part, 'SIGKILL');
    await state.ended;
  }

  /** kill -9 of both, which stay away until `release`. */
  async hold(): Promise<void> {
    for (const part of PARTS) this.#state(part).isHeld = true;
    await Promise.all(PARTS.map((part) => this.kill(part)));
  }

  release(): void {
    for (const part of PARTS) if (this.#state(part).isHeld) this.#run(part);
  }

  /** SIGSTOP, SIGCONT, or what ends it. */
  async signal(part: Part, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { child } = this.#state(part);
    const pid = await this.#pidOf(part);
    if (pid === null) return;
    if (signal === 'SIGKILL') send(pid, 'SIGCONT');
    send(pid, signal);
    // It stops and goes on with its child.
    if (signal === 'SIGCONT' || signal === 'SIGKILL') child.kill('SIGCONT');
  }

  /** Milliseconds by which the clock of a process is ahead. */
  setClock(part: Part, shiftMs: number): void {
    writeFileSync(this.#clockOf(part), String(shiftMs));
  }

  /** Everything that the machine kept goes. Its processes must be held. */
  loseDisk(): void {
    for (const folder of this.folders)
      for (const name of readdirSync(folder))
        if (join(folder, name) !== this.#mirror) rmSync(join(folder, name), { recursive: true, force: true });
  }

  /** Where it keeps everything: the disk of the copy is seen through its own root alone. */
  get folders(): readonly string[] {
    return [join(this.#inside, this.#mirror), this.#dataDir];
  }

  /** Leaves no room on the disk on which web keeps its copy, until `emptyMirror`. */
  fillMirror(): void {
    const file = openSync(join(this.#inside, this.#mirror, 'filling'), 'w');
    try {
      for (;;) writeFileSync(file, Buffer.alloc(2 ** 20));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  emptyMirror(): void {
    rmSync(join(this.#inside, this.#mirror, 'filling'), { force: true });
  }

  /** How each process ended. */
  endsOf(part: Part): readonly string[] {
    return this.#state(part).ends;
  }

  logOf(part: Part): string {
    return readFileSync(this.#logOf(part), 'utf8');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const ended = [...this.#states.values()].map((state) => state.ended);
    this.#killAll();
    await Promise.all(ended);
    process.off('exit', this.#killAll);
  }

  readonly #killAll = (): void => {
    this.#init?.kill('SIGKILL');
    for (const { child } of this.#states.values()) child.kill('SIGKILL');
  };

  get #mirror(): string {
    return join(this.#dataDir, 'mirror');
  }

  /** The root of the machine's files: the disk of the copy is seen there alone. */
  get #inside(): string {
    return `/proc/${this.#first}/root`;
  }

  #logOf(part: Part): string {
    return join(this.#options.folder, `${this.name}-${part}.log`);
  }

  #clockOf(part: Part): string {
    return join(this.#options.folder, `${this.name}-${part}.clock`);
  }

  #state(part: Part): State {
    const state = this.#states.get(part);
    if (state === undefined) throw new Error(`${this.name} has no ${part}`);
    return state;
  }

  /** The first process: with its end, all processes of the machine end. */
  async #boot(): Promise<void> {
    const { network, name } = this.#options;
    const [command = '', ...words] = network.prefixOf(name);
    const disk = `mount -t tmpfs -o size=${MIRROR_BYTES} tmpfs ${this.#mirror}`;
    const script = `hostname ${name} && ${disk} && echo up && exec sleep infinity`;
    const init = spawn(
      command,
      [...words, 'unshare', '--uts', '--pid', '--fork', '--mount-proc', '--kill-child', 'sh', '-c', script],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#init = init;
    const isUp = await Promise.race([
      once(init.stdout, 'data').then(() => true),
      once(init, 'exit').then(() => false),
    ]);
    const first = childOf(init.pid ?? 0);
    if (!isUp || first === null) throw new Error(`the machine ${name} did not start`);
    this.#first = first;
  }

  #run(part: Part): void {
    const before = this.#states.get(part);
    const log = openSync(this.#logOf(part), 'a');
    const child = spawn(
      'nsenter',
      [
        '--target',
        String(this.#first),
        '--net',
        '--uts',
        '--pid',
        '--mount',
        process.execPath,
        join(ROOT, `src/main/${part}.ts`),
      ],
      { cwd: ROOT, env: this.#environmentOf(part), stdio: ['ignore', log, log] },
    );
    closeSync(log);
    const ends = before?.ends ?? [];
    const ended = once(child, 'exit').then(([code, signal]) => {
      ends.push(String(signal ?? code));
      const state = this.#state(part);
      if (this.#isStopped || state.isHeld) return;
      void sleep(RESTART_PAUSE_MS).then(() => {
        if (!this.#isStopped && !state.isHeld) this.#run(part);
      });
    });
    this.#states.set(part, { child, ended, isHeld: false, ends });
  }

  #environmentOf(part: Part): NodeJS.ProcessEnv {
    const { network, name, env } = this.#options;
    return {
      ...process.env,
      DATA_DIR: this.#dataDir,
      HOST: network.addressOf(name),
      PORT: String(PORT),
      EMBEDDING_MODEL: 'undertone-small',
      LOG_LEVEL: 'info',
      AUTO_REBUILD: 'false',
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_MESSAGES_PER_SECOND: '1000000',
      MALLOC_ARENA_MAX: '2',
      NODE_OPTIONS: `--import=${CLOCK}`,
      CLOCK_FILE: this.#clockOf(part),
      ...env,
    };
  }

  /** Process id of a part; null while it does not run. */
  async #pidOf(part: Part): Promise<number | null> {
    const { child } = this.#state(part);
    while (child.exitCode === null && child.signalCode === null) {
      const pid = childOf(child.pid ?? 0);
      if (pid !== null) return pid;
      await sleep(LOOK_MS);
    }
    return null;
  }
}

/** The only child of a process; null if it has none. */
function childOf(parent: number): number | null {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parentOf] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(parentOf) === parent) return Number(name);
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
