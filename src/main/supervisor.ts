import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** One line of a Procfile. */
export interface ProcfileEntry {
  readonly name: string;
  readonly command: string;
}

/** Reads `name: command` lines; blank lines and comments are skipped. */
export function parseProcfile(text: string): ProcfileEntry[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([A-Za-z0-9_-]+):\s*(\S.*?)\s*$/.exec(line);
    return match === null ? [] : [{ name: match[1] ?? '', command: match[2] ?? '' }];
  });
}

export interface SupervisorOptions {
  /** In the order of starting; they are stopped in the order of `stopOrder`, `worker2` where `worker` stands. */
  readonly entries: readonly ProcfileEntry[];
  readonly stopOrder: readonly string[];
  readonly cwd: string;
  /** How long a process may take to end before it is killed. */
  readonly stopMs: number;
  /** A line that a process printed, or that is said about it. */
  readonly onLine: (name: string, line: string) => void;
  readonly onMessage: (name: string, message: unknown) => void;
  /** A process failed in a way that restarting does not mend: everything has to end. */
  readonly onGivenUp: (reason: string) => void;
  readonly timing?: Partial<SupervisorTiming>;
}

export interface SupervisorTiming {
  /** A process that ends by itself in its first so many milliseconds could not start. */
  readonly startMs: number;
  /** A process that ran for less failed quickly. */
  readonly quickMs: number;
  /** So many quick failures in a row, and we give up. */
  readonly quickFailures: number;
  /** Before the first restart; doubled by each quick failure, up to `maxPauseMs`. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

const TIMING: SupervisorTiming = {
  startMs: 10_000,
  quickMs: 10_000,
  quickFailures: 6,
  firstPauseMs: 200,
  maxPauseMs: 5000,
};

/** Keeps the processes of a Procfile running. */
export interface Supervisor {
  start(): void;
  /** From here on the service is up: a process that ends is restarted. */
  markReady(): void;
  /** Ends all processes in order. */
  stop(): Promise<void>;
  /** Kills whatever still runs, at once. */
  killAll(): void;
}

/** What is known about one process. */
interface Member {
  readonly entry: ProcfileEntry;
  child: ChildProcess | null;
  runs: number;
  failures: number;
  restart: NodeJS.Timeout | null;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const timing = { ...TIMING, ...options.timing };
  const members = options.entries.map((entry): Member => {
    return { entry, child: null, runs: 0, failures: 0, restart: null };
  });
  let ready = false;
  let stopping = false;

  function run(member: Member): void {
    const { name, command } = member.entry;
    const startedAt = performance.now();
    member.restart = null;
    member.runs += 1;
    // In a group of its own, so that Ctrl-C reaches us alone and the order of stopping is ours. A Procfile
    // command is a shell's; `exec` makes the child the program itself, so that signals reach it.
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: options.cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    member.child = child;
    let lastError = '';
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        if (stream === child.stderr && line.trim() !== '') lastError = line;
        options.onLine(name, line);
      });
    }
    child.on('message', (message) => options.onMessage(name, message));
    child.on('error', (error) => {
      lastError = error.message;
    });
    child.on('close', (code, signal) => {
      member.child = null;
      if (!stopping) onEnded(member, { code, signal, lastError, ranMs: performance.now() - startedAt });
    });
  }

  function onEnded(
    member: Member,
    end: { code: number | null; signal: string | null; lastError: string; ranMs: number },
  ): void {
    const { name } = member.entry;
    const how = end.signal === null ? `ended with code ${end.code}` : `was ended by ${end.signal}`;
    const because = end.lastError === '' || end.signal !== null ? '' : `: ${end.lastError}`;
    const starting = !ready || (member.runs === 1 && end.ranMs < timing.startMs);
    if (end.signal === null && starting) {
      options.onGivenUp(`${name} could not start (it ${how})${because}`);
      return;
    }
    member.failures = end.ranMs < timing.quickMs ? member.failures + 1 : 1;
    if (member.failures >= timing.quickFailures) {
      options.onGivenUp(`${name} ${how}, ${member.failures} times in a row${because}`);
      return;
    }
    const pauseMs = Math.min(timing.firstPauseMs * 2 ** (member.failures - 1), timing.maxPauseMs);
    options.onLine(name, `${how}; starting it again in ${pauseMs} ms`);
    member.restart = setTimeout(() => run(member), pauseMs);
  }

  async function stopMember(member: Member): Promise<void> {
    const { child } = member;
    if (child === null) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => {
      options.onLine(member.entry.name, `did not end within ${options.stopMs} ms: killing it`);
      child.kill('SIGKILL');
    }, options.stopMs);
    await closed;
    clearTimeout(timer);
  }

  return {
    start() {
      for (const member of members) run(member);
    },
    markReady() {
      ready = true;
    },
    async stop() {
      stopping = true;
      for (const member of members) {
        if (member.restart !== null) clearTimeout(member.restart);
      }
      const rank = ({ entry }: Member): number => {
        const at = options.stopOrder.indexOf(entry.name.replace(/\d+$/, ''));
        return at === -1 ? -1 : at;
      };
      // Several workers at once: what one passes on, the other need not take up.
      const ranks = [...new Set(members.map(rank))].toSorted((a, b) => a - b);
      for (const next of ranks)
        await Promise.all(members.filter((member) => rank(member) === next).map(stopMember));
    },
    killAll() {
      for (const { child } of members) child?.kill('SIGKILL');
    },
  };
}
