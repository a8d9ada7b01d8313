import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import type { LeaseHolder } from '../stream/lease.ts';

/** This process, as others see it. */
export function thisHolder(): LeaseHolder {
  return { id: randomUUID(), machine: machineId(), pid: process.pid };
}

/** Whether a holder's process has certainly ended: it ran where we run, and is not there any more. */
export function isDeadHolder(us: LeaseHolder): (holder: LeaseHolder) => boolean {
  return ({ id, machine, pid }) => {
    if (id === us.id || machine !== us.machine) return false;
    // Our own number: it was given to us after the other one had ended.
    if (pid === us.pid) return true;
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH';
    }
  };
}

/** What process numbers belong to: the machine since it was started, and the container. */
function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Names the views of a data directory; made once. Workers of the same views share their shards. */
export function viewsId(dataDir: string): string {
  const directory = join(dataDir, 'views');
  const file = join(directory, 'ID');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, randomUUID(), { mode: 0o600 });
    try {
      // Unlike a rename it fails when another worker was first.
      linkSync(temporary, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(temporary, { force: true });
    }
  }
  const id = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f-]{36}$/.test(id))
    throw new SetupError(
      `${file} is damaged. Stop all workers and delete it: the next start makes a new one.`,
    );
  return id;
}
