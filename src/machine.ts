/** What the machine has, as far as our limits follow it. Covered by test/config.test.ts. */
import { totalmem } from 'node:os';

/**
 * Memory that this process may count on, bytes: the machine's, or less where a container or a service manager allows
 * less (`memory.max` of cgroup v2, `memory.limit_in_bytes` of v1).
 */
export function machineMemory(
  total = totalmem(),
  allowed: number | undefined = process.constrainedMemory(),
): number {
  return allowed === undefined || allowed <= 0 ? total : Math.min(total, allowed);
}

/** A share of the memory, in whole MiB; all bytes. */
export function shareOf(
  memory: number,
  share: number,
  bounds: { readonly least: number; readonly most: number },
): number {
  const bytes = Math.min(Math.max(memory * share, bounds.least), bounds.most);
  return Math.floor(bytes / 2 ** 20) * 2 ** 20;
}
