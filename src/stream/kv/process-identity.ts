/** Covered by test/worker/workers.test.ts. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { LeaseHolder } from './leases.ts';

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
