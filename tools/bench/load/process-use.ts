/** What a process uses, as Linux tells it: 0 where the system does not, and once the process has ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of the clock in which /proc counts: 100 a second. */
const TICK_MS = 10;
const LOOK_MS = 20;

/** Resident memory, bytes: now and at most so far. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** Processor time of the threads of a process so far, milliseconds, by what Linux calls them. */
export async function processorMsByThread(pid: number): Promise<Map<string, number>> {
  const used = new Map<string, number>();
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const name = (await readFile(`/proc/${pid}/task/${thread}/comm`, 'utf8').catch(() => '')).trim();
    used.set(name, (used.get(name) ?? 0) + (await processorMsOf(pid, Number(thread))));
  }
  return used;
}

/** Processor time of user and system so far, milliseconds; of one thread alone if its id is given. */
export async function processorMsOf(pid: number, thread?: number): Promise<number> {
  const folder = thread === undefined ? `/proc/${pid}` : `/proc/${pid}/task/${thread}`;
  const stat = await readFile(`${folder}/stat`, 'utf8').catch(() => '');
  // They are the 14th and 15th field; the second is in brackets and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/** What a process used until it ended. */
export interface Use {
  readonly seconds: number;
  readonly processorMs: number;
  /** Resident memory at most, bytes. */
  readonly memory: number;
}

/** Runs a script of ours to its end; throws unless it ends well. It prints nothing but its errors. */
export async function runScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Use> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  let [memory, processorMs] = [0, 0];
  while (child.exitCode === null && child.signalCode === null) {
    memory = Math.max(memory, (await memoryOf(child.pid ?? 0)).peak);
    processorMs = Math.max(processorMs, await processorMsOf(child.pid ?? 0));
    await Promise.race([ended, sleep(LOOK_MS)]);
  }
  if (child.exitCode !== 0) throw new Error(`${script} ended with code ${child.exitCode}`);
  return { seconds: (performance.now() - startedAt) / 1000, processorMs, memory };
}
