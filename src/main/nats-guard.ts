import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Writable } from 'node:stream';

/** Ends what nobody else would when `npm start` is killed. */
export interface Guard {
  /** The guard acts once no process holds this any more. */
  readonly held: Writable;
  /** Nothing is left for it to do. */
  end(): void;
}

/**
 * Watches over our nats-server, which hears nothing of the end of `npm start`: once `npm start`, web and worker
 * have all ended, however they did, the server is ended too. Until then it sleeps in a shell, which takes a
 * megabyte.
 */
export function startGuard(dataDir: string): Guard {
  const script = join(import.meta.dirname, 'left-server.ts');
  // Its process group is its own: what kills ours spares it.
  const child = spawn('sh', ['-c', 'cat >/dev/null; exec "$0" "$@"', process.execPath, script, dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  child.unref();
  return {
    held: child.stdin,
    end() {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    },
  };
}
