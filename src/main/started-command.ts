/**
 * Runs a command of ours as a child process and logs its output.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DONE_ELSEWHERE } from '../cli/command.ts';
import type { Logger } from '../logger.ts';

export interface Started {
  /** Resolves at its end with the exit code; null after a signal or if it could not start. */
  readonly ended: Promise<number | null>;
  /** Interrupts the command and waits for its end. */
  stop(): Promise<void>;
}

/** Starts `src/cli/<script>`. `name` prefixes its events: `<name>_said`, `<name>_failed`. */
export function startCommand(script: string, args: readonly string[], name: string, logger: Logger): Started {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../cli', script), ...args], {
    // The IPC channel tells the child when this process is gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const output of [child.stdout, child.stderr]) {
    if (output === null) continue;
    createInterface({ input: output }).on('line', (line) =>
      logger[output === child.stderr ? 'error' : 'info']({ event: `${name}_said` }, line),
    );
  }
  let isStopped = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      logger.error({ event: `${name}_failed`, err: error }, `the ${name} could not be started`);
      resolve(null);
    });
    child.once('close', (code) => {
      if (code !== 0 && code !== DONE_ELSEWHERE && !isStopped)
        logger.error({ event: `${name}_failed`, code }, `the ${name} failed`);
      resolve(code);
    });
  });
  return {
    ended,
    async stop() {
      isStopped = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
}
