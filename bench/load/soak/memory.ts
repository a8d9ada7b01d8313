import { readdirSync, readFileSync } from 'node:fs';

/**
 * Resident memory in MB of each process of the service that keeps its data in `dataDir`. Linux only: empty
 * elsewhere.
 */
export function memoryOf(dataDir: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const pid of processes()) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`DATA_DIR=${dataDir}`)) continue;
      const name = nameOf(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (name !== null && kb !== undefined) found.set(name, (found.get(name) ?? 0) + Number(kb) / 1024);
    } catch {
      // It has ended meanwhile, or is not ours to read.
    }
  }
  return found;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function nameOf(command: string): string | null {
  return /main\/(web|worker)\.ts/.exec(command)?.[1] ?? (command.includes('nats-server') ? 'nats' : null);
}
