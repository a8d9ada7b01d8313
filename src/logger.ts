import { pino, stdTimeFunctions } from 'pino';
import type { Logger as PinoLogger } from 'pino';
import pretty, { prettyFactory } from 'pino-pretty';

/** Named events in the past tense with fields: `log.info({ event: 'batch_folded', count }, 'batch folded')`. */
export type Logger = Pick<PinoLogger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'> & {
  /** A logger that adds these fields to each of its lines. */
  child(fields: Record<string, unknown>): Logger;
};

/**
 * Logs to standard output: JSON, one object a line; readable lines on a terminal. Never give it
 * message content or keys.
 */
export function createLogger(options: {
  /** Which process speaks, e.g. `web`. */
  readonly name: string;
  readonly level: string;
  /** Readable lines; by default when standard output is a terminal. */
  readonly readable?: boolean;
  /** Takes each line of JSON in place of standard output. */
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
  return pino(settings, pretty({ ...READABLE, sync: true }));
}

const READABLE = { colorize: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } as const;

/** Makes a function that turns one line of JSON as our processes log it into readable lines; other text stays. */
export function readableLines(): (line: string) => string {
  const format = prettyFactory({ ...READABLE, ignore: 'pid,hostname,name' });
  return (line) => (line.startsWith('{"level":') ? format(line).trimEnd() : line);
}

/** A logger that says nothing, for tests and one-off commands. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
