/**
 * Reads the resident memory of other processes.
 *
 * Test: test/health/service-watch.test.ts.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Resident memory by process id, bytes. Processes that have ended are omitted. */
export async function residentMemory(pids: readonly number[]): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  if (process.platform === 'linux') {
    for (const pid of pids) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const kibibytes = /^VmRSS:\s*(\d+) kB/m.exec(status)?.[1];
      if (kibibytes !== undefined) found.set(pid, Number(kibibytes) * 1024);
    }
    return found;
  }
  const { stdout } = await run('ps', ['-o', 'pid=,rss=', '-p', pids.join(',')]).catch(() => ({ stdout: '' }));
  for (const line of stdout.split('\n')) {
    const [pid, kibibytes] = line.trim().split(/\s+/).map(Number);
    if (pid !== undefined && kibibytes !== undefined) found.set(pid, kibibytes * 1024);
  }
  return found;
}
