/**
 * Logs named events with fields, through pino. Message content and keys must never be logged.
 *
 * Test: test/e2e/log-redaction.test.ts.
 */
import { createRequire } from 'node:module';
import { pino, stdTimeFunctions } from 'pino';
import type { Logger as PinoLogger } from 'pino';

/** Events are named in the past tense: `log.info({ event: 'batch_folded', count }, 'batch folded')`. */
export type Logger = Pick<PinoLogger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'> & {
  /** Returns a logger that adds these fields to each line. */
  child(fields: Record<string, unknown>): Logger;
};

/** Logs to standard output: one JSON object per line, or readable lines on a terminal. */
export function createLogger(options: {
  /** Name of the process, such as `web`. */
  readonly name: string;
  readonly level: string;
  /** Readable lines; default: if standard output is a terminal. */
  readonly readable?: boolean;
  /** Receives each JSON line instead of standard output. */
  readonly write?: (line: string) => void;
}): Logger {
  const settings = {
    name: options.name,
    level: options.level,
    base: {},
    timestamp: stdTimeFunctions.isoTime,
  };
  if (options.write !== undefined) return pino(settings, { write: options.write });
  const readable = options.readable ?? process.stdout.isTTY === true;
  if (!readable) return pino(settings);
  return pino(settings, loadPretty()({ ...READABLE, sync: true }));
}

/** Loads what makes lines readable: 30 files, which no process needs that writes JSON. */
function loadPretty(): typeof import('pino-pretty') {
  return createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
}

const READABLE = { colorize: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } as const;

/** Returns a function that makes a JSON log line readable and leaves other text unchanged. */
export function readableLines(): (line: string) => string {
  const format = loadPretty().prettyFactory({ ...READABLE, ignore: 'pid,hostname,name' });
  return (line) => (line.startsWith('{"level":') ? format(line).trimEnd() : line);
}

/** A logger without output, for tests and one-off commands. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
