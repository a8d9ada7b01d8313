import { parseArgs, type ParseArgsConfig } from 'node:util';
import { loadConfig, type Config } from '../config.ts';
import { printable } from '../domain/printable.ts';
import { runCommand } from '../lifecycle.ts';
import { openConnection, type StreamConnection } from '../stream/connection.ts';
import { connectionOptions } from '../stream/server/server.ts';

/** A command line that cannot be understood: printed with the usage, exit code 2. */
export class UsageError extends Error {}

const REACH_MS = 3000;

/** Parses the command line. Throws UsageError. */
export function parseCommandLine<T extends ParseArgsConfig['options']>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

/** Prints the usage when the command line asks for it, whatever else it says; whether it does. */
export function showHelp(usage: string, args: readonly string[]): boolean {
  const wanted = args.some((arg) => arg === '--help' || arg === '-h');
  if (wanted) process.stdout.write(`${usage}\n`);
  return wanted;
}

/** What a command does once NATS answers; the exit code, 0 when none is given. */
export type StreamWork = (connection: StreamConnection, config: Config) => Promise<number | void>;

/**
 * Runs a command on the stream of the running service and ends the process: 0, 1 with one line on what is
 * wrong, 2 with the usage. `parse` reads the command line before anything is opened.
 */
export async function runStreamCommand(
  usage: string,
  parse: (args: readonly string[]) => StreamWork,
): Promise<void> {
  await runCommand(async () => {
    const args = process.argv.slice(2);
    if (showHelp(usage, args)) return 0;
    let work: StreamWork;
    try {
      work = parse(args);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      process.stderr.write(`${error.message}\n${usage}\n`);
      return 2;
    }
    const config = loadConfig();
    const connection = await openConnection({
      ...connectionOptions(config),
      name: 'undertone-command',
      giveUpAfterMs: REACH_MS,
    });
    try {
      return (await work(connection, config)) ?? 0;
    } finally {
      await connection.close();
    }
  });
}

/** Prints rows under a heading, columns aligned; what cells say may come from outside. */
export function printTable(heading: readonly string[], cells: readonly (readonly string[])[]): void {
  const rows = cells.map((row) => row.map(printable));
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [heading, ...rows]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}
