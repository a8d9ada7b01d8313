import { readdir, readFile } from 'node:fs/promises';
import { memoryOf, processorMsByThread, processorMsOf } from './process-use.ts';

/** What a process of a service has and has used. */
export interface MemberUse {
  /** Resident memory, MB: now and at most so far. */
  readonly mb: number;
  readonly peakMb: number;
  /** Processor time of all of its threads, milliseconds. */
  readonly processorMs: number;
  /** That of the first of them. */
  readonly mainThreadMs: number;
}

/** What threads of the worker do, by what Linux calls them. */
const STAGES: readonly (readonly [string, string])[] = [
  ['WorkerThread', 'analysis'],
  ['MainThread', 'reading and rows'],
  ['libuv-worker', 'views'],
  ['V8Worker', 'garbage and compiling'],
];

/** Processor time of the worker so far by stage, milliseconds. */
export async function workerStagesOf(dataDir: string): Promise<Map<string, number>> {
  const used = new Map(STAGES.map(([, stage]) => [stage, 0]));
  for (const { pid, name } of await membersOf(dataDir)) {
    if (name !== 'worker') continue;
    for (const [thread, ms] of await processorMsByThread(pid)) {
      const stage = STAGES.find(([start]) => thread.startsWith(start))?.[1] ?? 'reading and rows';
      used.set(stage, (used.get(stage) ?? 0) + ms);
    }
  }
  return used;
}

/** What the processes of the service that keeps its data in `dataDir` have, by name. Linux only: empty elsewhere. */
export async function useOf(dataDir: string): Promise<Map<string, MemberUse>> {
  const found = new Map<string, MemberUse>();
  for (const { pid, name } of await membersOf(dataDir)) {
    const { now, peak } = await memoryOf(pid);
    if (now === 0) continue;
    const known = found.get(name) ?? { mb: 0, peakMb: 0, processorMs: 0, mainThreadMs: 0 };
    found.set(name, {
      mb: known.mb + now / 2 ** 20,
      peakMb: known.peakMb + peak / 2 ** 20,
      processorMs: known.processorMs + (await processorMsOf(pid)),
      mainThreadMs: known.mainThreadMs + (await processorMsOf(pid, pid)),
    });
  }
  return found;
}

/** Processor time of the workers and of the webs of some services, milliseconds. */
export async function useOfAll(
  services: readonly { readonly dataDir: string }[],
): Promise<Map<string, number>> {
  const all = new Map([
    ['worker', 0],
    ['web', 0],
  ]);
  for (const { dataDir } of services)
    for (const [name, { processorMs }] of await useOf(dataDir))
      all.set(name, (all.get(name) ?? 0) + processorMs);
  return all;
}

/** What members used from one look to the next, and the memory that they have at the later one. */
export function useBetween(
  before: ReadonlyMap<string, MemberUse>,
  after: ReadonlyMap<string, MemberUse>,
): Map<string, MemberUse> {
  return new Map(
    [...after].map(([name, use]) => {
      const { processorMs = 0, mainThreadMs = 0 } = before.get(name) ?? {};
      const since = {
        processorMs: use.processorMs - processorMs,
        mainThreadMs: use.mainThreadMs - mainThreadMs,
      };
      return [name, { ...use, ...since }];
    }),
  );
}

/** The processes of the service that keeps its data in `dataDir`, by name. Linux only: empty elsewhere. */
export async function membersOf(dataDir: string): Promise<{ readonly pid: number; readonly name: string }[]> {
  const members: { pid: number; name: string }[] = [];
  const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
  for (const pid of await processes()) {
    const environment = await read(`/proc/${pid}/environ`);
    if (!environment.split('\0').includes(`DATA_DIR=${dataDir}`)) continue;
    const name = nameOf(await read(`/proc/${pid}/cmdline`));
    if (name !== null) members.push({ pid, name });
  }
  return members;
}

async function processes(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

function nameOf(command: string): string | null {
  return (
    /main\/(web|worker|start)\.ts/.exec(command)?.[1] ?? (command.includes('nats-server') ? 'nats' : null)
  );
}
