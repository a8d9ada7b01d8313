import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from '../logger.ts';
import { lockDataDirectory } from '../store/data-directory.ts';

/** False when another worker has begun one. */
export async function isRebuildWanted(dataDir: string): Promise<boolean> {
  try {
    (await lockDataDirectory(dataDir, { name: 'rebuild', taken: 'taken' })).release();
    return true;
  } catch {
    return false;
  }
}

/** A rebuild that the worker has started. Covered by test/cli/rebuild.test.ts. */
export interface Rebuild {
  /** Interrupts it: the next one goes on. */
  stop(): Promise<void>;
}

/** Runs `npm run rebuild` as a process of its own and logs what it says. */
export function startRebuild(logger: Logger, onEnd: () => void): Rebuild {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../cli/rebuild.ts')], {
    // The channel tells it when we are gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const output of [child.stdout, child.stderr]) {
    if (output === null) continue;
    createInterface({ input: output }).on('line', (line) =>
      logger[output === child.stderr ? 'error' : 'info']({ event: 'rebuild_said' }, line),
    );
  }
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      logger.error({ event: 'rebuild_failed', err: error }, 'the rebuild could not be started');
      resolve();
    });
    child.once('close', (code) => {
      if (code !== 0) logger.error({ event: 'rebuild_failed', code }, 'the rebuild failed');
      onEnd();
      resolve();
    });
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
