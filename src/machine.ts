/**
 * Measures the machine's memory, from which limits derive.
 *
 * Test: test/config.test.ts.
 */
import { totalmem } from 'node:os';

/**
 * Memory available to this process, bytes: the machine's, or less if a container or service manager limits it
 * (`memory.max` of cgroup v2, `memory.limit_in_bytes` of v1).
 */
export function machineMemory(
  total = totalmem(),
  allowed: number | undefined = process.constrainedMemory(),
): number {
  return allowed === undefined || allowed <= 0 ? total : Math.min(total, allowed);
}

/** Returns a share of the memory within bounds, rounded down to whole MiB; all values in bytes. */
export function shareOf(
  memory: number,
  share: number,
  bounds: { readonly least: number; readonly most: number },
): number {
  const bytes = Math.min(Math.max(memory * share, bounds.least), bounds.most);
  return Math.floor(bytes / 2 ** 20) * 2 ** 20;
}
