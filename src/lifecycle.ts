import { printableLines } from './domain/printable.ts';
import { SetupError } from './errors.ts';
import type { Logger } from './logger.ts';

/** Something that was opened and has to be closed. */
type Close = () => unknown;

/** What a process has open, closed in reverse order of opening, once, within a deadline. */
export interface Lifecycle {
  /** Registers how to close what was just opened. */
  opened(name: string, close: Close): void;
  /**
   * Closes everything, newest first. A close that throws or overruns the deadline is logged and the
   * next one goes on. Later calls get the first call's promise. Resolves true when all closed cleanly.
   */
  close(): Promise<boolean>;
  /** True from the first call of `close`. */
  readonly closing: boolean;
}

/** `deadlineMs` is for all closes together; those that come after it each still get a short moment. */
export function createLifecycle(log: Logger, deadlineMs: number): Lifecycle {
  const open: { name: string; close: Close }[] = [];
  let done: Promise<boolean> | undefined;

  async function closeAll(): Promise<boolean> {
    const deadline = performance.now() + deadlineMs;
    let clean = true;
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      const { name, close } = entry;
      const leftMs = Math.max(deadline - performance.now(), LAST_MOMENT_MS);
      try {
        await within(leftMs, Promise.resolve().then(close));
      } catch (error) {
        clean = false;
        log.error({ event: 'close_failed', part: name, err: error }, `could not close ${name}`);
      }
    }
    return clean;
  }

  return {
    opened(name, close) {
      open.push({ name, close });
    },
    close() {
      done ??= closeAll();
      return done;
    },
    get closing() {
      return done !== undefined;
    },
  };
}

const LAST_MOMENT_MS = 250;

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const overrun = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work, overrun]);
  } finally {
    clearTimeout(timer);
  }
}

/** Signals that come so soon after another say the same once more. */
const SAME_SIGNAL_MS = 1000;

/**
 * Calls `told` each time that somebody tells the process to end, in place of ending it. A Ctrl-C reaches a program
 * that npm runs twice: from the terminal, and from npm, which passes it on. It counts once.
 */
export function whenToldToEnd(
  signals: readonly NodeJS.Signals[],
  told: (signal: NodeJS.Signals) => void,
  now: () => number = () => performance.now(),
): void {
  let lastAt = -Infinity;
  for (const signal of signals) {
    process.on(signal, () => {
      const isSame = now() - lastAt < SAME_SIGNAL_MS;
      lastAt = now();
      if (!isSame) told(signal);
    });
  }
}

/**
 * Exit code of a process that cannot run as it is set up (EX_CONFIG of sysexits.h): starting it again
 * mends nothing.
 */
export const SETUP_FAULT_CODE = 78;

/**
 * Runs a process from start to end: `start` opens its parts on the lifecycle; SIGTERM and SIGINT close
 * them and end the process with 0, and so does the end of a parent that holds an IPC channel. A SetupError
 * prints its one line on standard error and ends with SETUP_FAULT_CODE; any other failure is logged with its
 * stack and ends with 1.
 */
export function runProcess(
  log: Logger,
  deadlineMs: number,
  start: (lifecycle: Lifecycle) => Promise<void>,
): void {
  orExit(checkNodeVersion);
  const lifecycle = createLifecycle(log, deadlineMs);
  const end = (code: number): void => {
    void lifecycle.close().then((clean) => process.exit(clean ? code : Math.max(code, 1)));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (lifecycle.closing) return;
      log.info({ event: 'shutdown_started', signal }, 'shutting down');
      end(0);
    });
  }
  // Started by `npm start`, which is gone: nobody would stop us later.
  process.on('disconnect', () => {
    if (lifecycle.closing) return;
    log.warn({ event: 'starter_lost' }, 'npm start is gone: shutting down');
    end(0);
  });
  const fail = (error: unknown): void => {
    if (error instanceof SetupError) {
      printSetupError(error);
      end(SETUP_FAULT_CODE);
      return;
    }
    log.fatal({ event: 'process_failed', err: error }, 'the process cannot go on');
    end(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  start(lifecycle).catch((error: unknown) => {
    // It fails because what it needs is being closed.
    if (lifecycle.closing) log.debug({ event: 'start_abandoned', err: error }, 'stopped while starting');
    else fail(error);
  });
}

/** Prints a SetupError as the one line that says what to do; it may quote what came from outside. */
function printSetupError(error: SetupError): void {
  process.stderr.write(`${printableLines(error.message)}\n`);
}

/** Does what a process needs before anything else; a SetupError prints its one line and ends the process. */
export function orExit<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    printSetupError(error);
    process.exit(SETUP_FAULT_CODE);
  }
}

function checkNodeVersion(): void {
  const major = Number(process.versions.node.split('.', 1)[0]);
  if (major < 24) {
    throw new SetupError(
      `Node ${process.versions.node} is too old: use node_modules/.bin/node, or npm start.`,
    );
  }
}

/**
 * For commands: runs `work` and turns a SetupError (from `loadConfig` too) into its one line and an exit code,
 * 1 unless told otherwise.
 */
export async function runToEnd(work: () => Promise<number | void>, setupFaultCode = 1): Promise<void> {
  try {
    checkNodeVersion();
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    printSetupError(error);
    process.exitCode = setupFaultCode;
  }
}
