/**
 * Identifies this process among those of all machines, and recognises processes that have ended.
 *
 * Test: test/worker/workers.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { LeaseHolder } from './leases.ts';

/** This process as a lease holder, with a new id. */
export function thisHolder(): LeaseHolder {
  return { id: randomUUID(), machine: machineId(), pid: process.pid };
}

/**
 * Returns a test that is true if a holder's process has certainly ended: it ran on this machine and no longer exists.
 */
export function isDeadHolder(us: LeaseHolder): (holder: LeaseHolder) => boolean {
  return ({ id, machine, pid }) => {
    if (id === us.id || machine !== us.machine) return false;
    // This process has the same number, so the other one has ended.
    if (pid === us.pid) return true;
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH';
    }
  };
}

/** The scope of process ids: the boot of the machine, and the container. */
function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
