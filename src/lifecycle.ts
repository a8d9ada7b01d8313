/**
 * Starts and ends processes. Keeps the invariant that opened parts are closed once, in reverse order, within a
 * deadline.
 *
 * Test: test/lifecycle.test.ts.
 */
import { printableLines } from './domain/printable.ts';
import { SetupError } from './errors.ts';
import type { Logger } from './logger.ts';

/** Closes an opened part. */
type Close = () => unknown;

/** The open parts of a process. */
export interface Lifecycle {
  /** Registers the close of a part that was just opened. */
  opened(name: string, close: Close): void;
  /**
   * Closes all parts, newest first. A close that throws or exceeds the deadline is logged, and the next one follows.
   * Later calls return the first call's promise. Resolves to true if all closed cleanly.
   */
  close(): Promise<boolean>;
  /** True from the first call of `close`. */
  readonly closing: boolean;
}

/** `deadlineMs` applies to all closes together; each one after it still gets a short time. */
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

/** A signal this soon after another is a repetition. */
const SAME_SIGNAL_MS = 1000;

/**
 * Calls `onSignal` for each signal to end, instead of ending the process. npm forwards a Ctrl-C that the program also gets
 * from the terminal; it counts once.
 */
export function onEndSignal(
  signals: readonly NodeJS.Signals[],
  onSignal: (signal: NodeJS.Signals) => void,
  now: () => number = () => performance.now(),
): void {
  let lastAt = -Infinity;
  for (const signal of signals) {
    process.on(signal, () => {
      const isSame = now() - lastAt < SAME_SIGNAL_MS;
      lastAt = now();
      if (!isSame) onSignal(signal);
    });
  }
}

/** Exit code of a process with a faulty setup (EX_CONFIG of sysexits.h): a restart does not help. */
export const SETUP_FAULT_CODE = 78;

/**
 * Runs a process: `start` opens its parts on the lifecycle. SIGTERM, SIGINT and the end of a parent with an IPC channel
 * close them and end the process with 0. A SetupError prints its line on standard error and ends with SETUP_FAULT_CODE;
 * other failures are logged with their stack and end with 1.
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
  // `npm start` is gone, so nobody would stop this process later.
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
    // The start fails because its parts are being closed.
    if (lifecycle.closing) log.debug({ event: 'start_abandoned', err: error }, 'stopped while starting');
    else fail(error);
  });
}

/** Prints the one line of a SetupError; it may quote external text. */
function printSetupError(error: SetupError): void {
  process.stderr.write(`${printableLines(error.message)}\n`);
}

/** Returns the result of work that comes before everything else; a SetupError prints its line and ends the process. */
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
 * Runs the work of a command. A SetupError (of `loadConfig` too) prints its line and sets the exit code, 1 by default.
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
