/**
 * Keeps the processes of a Procfile running: restarts each with growing pauses, and stops them in order.
 *
 * Test: test/main/supervisor.test.ts.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Stream } from 'node:stream';
import { SETUP_FAULT_CODE } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';

/** One line of a Procfile. */
export interface ProcfileEntry {
  readonly name: string;
  readonly command: string;
}

/** Parses `name: command` lines; skips blank lines and comments. */
export function parseProcfile(text: string): ProcfileEntry[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([A-Za-z0-9_-]+):\s*(\S.*?)\s*$/.exec(line);
    return match === null ? [] : [{ name: match[1] ?? '', command: match[2] ?? '' }];
  });
}

export interface SupervisorOptions {
  /** Entries in starting order; they stop in the order of `stopOrder`, where `worker` includes `worker2`. */
  readonly entries: readonly ProcfileEntry[];
  readonly stopOrder: readonly string[];
  readonly cwd: string;
  /** Time for a process to end before it is killed. */
  readonly stopMs: number;
  /** Receives each line that a process prints. */
  readonly onLine: (name: string, line: string) => void;
  readonly onMessage: (name: string, message: unknown) => void;
  /** Called when a process cannot run with this configuration, so that everything has to end. */
  readonly onGivenUp: (reason: string) => void;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Processes whose configuration faults end nothing: the others work without them. */
  readonly dispensable?: readonly string[];
  /** An open file that every process inherits, except those named. */
  readonly held?: { readonly stream: Stream; readonly exceptBy: readonly string[] };
  readonly timing?: Partial<SupervisorTiming>;
}

export interface SupervisorTiming {
  /** A process that ran for less failed quickly, which doubles the pause before its next start. */
  readonly quickMs: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
}

const TIMING: SupervisorTiming = { quickMs: 10_000, firstPauseMs: 200, maxPauseMs: 30_000 };
/** Number of consecutive quick failures that are logged as an error. */
const QUICK_FAILURES = 3;

export interface Supervisor {
  start(): void;
  readonly processes: readonly SupervisedProcess[];
  /** Ends all processes in order. */
  stop(): Promise<void>;
  /** Kills all running processes at once. */
  killAll(): void;
}

/** State of one process. */
export interface SupervisedProcess {
  readonly name: string;
  /** Null while it does not run. */
  readonly pid: number | null;
  /** Number of restarts. */
  readonly restarts: number;
  /** Times of the newest restarts, milliseconds since 1970. */
  readonly restartedAt: readonly number[];
  /** Description of its last end, with the last error that it printed; null if it never ended. */
  readonly lastEnd: string | null;
}

/** Maximum restart times kept. */
const RESTARTS_REMEMBERED = 10;

interface Member {
  readonly entry: ProcfileEntry;
  child: ChildProcess | null;
  runs: number;
  /** Consecutive quick failures, or 1 after a long run. */
  failures: number;
  restartedAt: number[];
  lastEnd: string | null;
  restart: NodeJS.Timeout | null;
}

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  /** Last error that the process printed; '' without one. */
  readonly lastError: string;
  readonly ranMs: number;
}

/** Creates a supervisor; no process runs before `start`. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const timing = { ...TIMING, ...options.timing };
  const members = options.entries.map((entry): Member => {
    return { entry, child: null, runs: 0, failures: 0, restartedAt: [], lastEnd: null, restart: null };
  });
  let stopping = false;

  function run(member: Member): void {
    const { name, command } = member.entry;
    const startedAt = performance.now();
    member.restart = null;
    if (member.runs > 0) {
      member.restartedAt = [...member.restartedAt, Date.now()].slice(-RESTARTS_REMEMBERED);
    }
    member.runs += 1;
    const { held } = options;
    const holds = held === undefined || held.exceptBy.includes(kindOf(name)) ? [] : [held.stream];
    // A process group of its own keeps Ctrl-C away, so that the supervisor decides the order of stopping. `exec`
    // replaces the shell, so that signals reach the program.
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: options.cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...holds],
    });
    member.child = child;
    let lastError = '';
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lastError = (stream === child.stderr ? line.trim() : fatalReason(line)) || lastError;
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

  function onEnded(member: Member, end: End): void {
    const { name } = member.entry;
    const how = end.signal === null ? `ended with code ${end.code}` : `was ended by ${end.signal}`;
    member.lastEnd =
      end.lastError === '' || end.signal !== null ? how : `${how}: ${end.lastError.replace(/\.$/, '')}`;
    if (end.code === SETUP_FAULT_CODE && member.runs === 1 && !isDispensable(name)) {
      options.onGivenUp(`${name} cannot start: ${end.lastError || how}`);
      return;
    }
    member.failures = end.ranMs < timing.quickMs ? member.failures + 1 : 1;
    const pauseMs = Math.min(timing.firstPauseMs * 2 ** (member.failures - 1), timing.maxPauseMs);
    const again = member.failures > 1 ? ` It failed ${member.failures} times in a row.` : '';
    options.log[member.failures < QUICK_FAILURES ? 'warn' : 'error'](
      { event: 'process_ended', process: name, failures: member.failures, pauseMs },
      `${name} ${member.lastEnd}.${again} It is started again in ${pauseMs / 1000} s; the others go on.`,
    );
    member.restart = setTimeout(() => run(member), pauseMs);
  }

  function isDispensable(name: string): boolean {
    return options.dispensable?.includes(kindOf(name)) ?? false;
  }

  async function stopMember(member: Member): Promise<void> {
    const { child } = member;
    if (child === null) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => {
      options.log.error(
        { event: 'process_killed', process: member.entry.name },
        `${member.entry.name} did not end within ${options.stopMs / 1000} s and is killed`,
      );
      child.kill('SIGKILL');
    }, options.stopMs);
    await closed;
    clearTimeout(timer);
  }

  return {
    start() {
      for (const member of members) run(member);
    },
    get processes() {
      return members.map(({ entry, child, runs, restartedAt, lastEnd }) => {
        const restarts = Math.max(0, runs - 1);
        return { name: entry.name, pid: child?.pid ?? null, restarts, restartedAt, lastEnd };
      });
    },
    async stop() {
      stopping = true;
      for (const member of members) {
        if (member.restart !== null) clearTimeout(member.restart);
      }
      const rank = ({ entry }: Member): number => {
        const at = options.stopOrder.indexOf(kindOf(entry.name));
        return at === -1 ? -1 : at;
      };
      // Several workers stop at once, so that none takes over the shards of another.
      const ranks = [...new Set(members.map(rank))].toSorted((a, b) => a - b);
      for (const next of ranks)
        await Promise.all(members.filter((member) => rank(member) === next).map(stopMember));
    },
    killAll() {
      for (const { child } of members) child?.kill('SIGKILL');
    },
  };
}

/** Returns `worker` for `worker2`. */
function kindOf(name: string): string {
  return name.replace(/\d+$/, '');
}

/** Returns the reason in a fatal log line; '' for other lines. */
function fatalReason(line: string): string {
  if (!line.startsWith('{"level":60')) return '';
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    return err?.message ?? msg ?? '';
  } catch {
    return '';
  }
}
