/**
 * Ends our nats-server after `npm start` is killed.
 *
 * Test: test/main/start.test.ts.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Writable } from 'node:stream';

/** A running guard. */
export interface Guard {
  /** The guard acts once no process holds this stream open. */
  readonly held: Writable;
  /** Ends the guard without action. */
  end(): void;
}

/**
 * Starts the guard. nats-server does not notice the end of `npm start`: once `npm start`, web and worker have all ended
 * in any way, the guard ends the server too. Until then it waits in a shell, which takes a megabyte.
 */
export function startGuard(dataDir: string): Guard {
  const script = join(import.meta.dirname, 'left-server.ts');
  // Detached, so that signals to our process group do not reach it.
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
        // It has already ended.
      }
    },
  };
}
