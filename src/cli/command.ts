/**
 * The frame of all commands: command line, `--help`, exit codes and interruption.
 *
 * Test: test/cli/command.test.ts.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UUID_PATTERN } from '../domain/ids.ts';
import { printable } from '../domain/printable.ts';
import { runToEnd, onEndSignal } from '../lifecycle.ts';

/** An invalid command line; printed with the usage, exit code 2. */
export class UsageError extends Error {}

/** Exit code of an interrupted command. */
export const INTERRUPTED = 130;

/** Exit code of a command whose work another machine does. */
export const DONE_ELSEWHERE = 75;

/** Runs a command whose command line is valid; returns the exit code, 0 by default. */
export type Work = (run: CommandRun) => Promise<number | void>;

export interface CommandRun {
  /**
   * From the first call on, Ctrl-C, SIGTERM and the end of a parent with an IPC channel abort the signal instead of
   * ending the process; `again` handles a second Ctrl-C. Call it once.
   */
  interruption(again?: () => void): AbortSignal;
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; allowPositionals: true; tokens: true }>
>;

/** One action of a command. */
export interface Action {
  readonly options: Options;
  /** @throws UsageError */
  read(args: readonly string[]): Work;
}

/** A command with one action, or with one for each word that may follow its name. */
export type Command = { readonly usage: string } & (
  | { readonly action: Action }
  | { readonly actions: Readonly<Record<string, Action>> }
);

/** Declares an action; `read` checks its arguments before anything is opened, and throws UsageError. */
export function action<const O extends Options>(of: {
  readonly options?: O;
  /** Maximum number of words besides the options. Default: 0. */
  readonly operands?: number;
  read(values: Parsed<O>['values'], operands: readonly string[]): Work;
}): Action {
  const { options = {} as O, operands = 0, read } = of;
  return {
    options,
    read(args) {
      const { values, positionals } = parse(args, options);
      if (positionals.length > operands)
        throw new UsageError(`Unexpected: ${positionals.slice(operands).join(' ')}.`);
      return read(values, positionals);
    },
  };
}

/** Parses a whole number; `name` is the option in the usage. Throws UsageError. */
export function wholeNumber(name: string, text: string, least = 1, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`;
  throw new UsageError(`${name} takes a whole number ${range}.`);
}

/** Returns a UUID in lower case; `name` is the option or the word in the usage. Throws UsageError. */
export function uuid(name: string, text: string | undefined): string {
  if (text !== undefined && UUID_PATTERN.test(text)) return text.toLowerCase();
  if (text === undefined) throw new UsageError(`${name} is needed, and must be a UUID.`);
  throw new UsageError(`${name} must be a UUID, not "${printable(text)}".`);
}

/** Returns one of some values, however it is capitalised; `name` is the option in the usage. Throws UsageError. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  name: string,
  given: string | undefined,
): Value {
  const found = values.find((value) => value.toLowerCase() === given?.toLowerCase());
  if (found === undefined) throw new UsageError(`${name} takes one of ${values.join(', ')}.`);
  return found;
}

/** True if the command line contains a help option. */
function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => arg === '--help' || arg === '-h');
}

/** Returns the text of `--help`. Throws when the usage omits an option. */
export function helpOf(command: Command): string {
  const actions = 'action' in command ? [command.action] : Object.values(command.actions);
  const unnamed = actions.flatMap(({ options }) =>
    Object.keys(options).filter((name) => !command.usage.includes(`--${name}`)),
  );
  if (unnamed.length > 0) throw new Error(`the usage does not name --${unnamed.join(', --')}`);
  return `${command.usage}\n`;
}

/** Reads a command line. Throws UsageError. */
export function readCommandLine(command: Command, args: readonly string[]): Work {
  if ('action' in command) return command.action.read(args);
  const { actions } = command;
  const all: Options = Object.assign({}, ...Object.values(actions).map(({ options }) => options));
  const { values, tokens } = parse(args, all);
  const word = tokens.find((token) => token.kind === 'positional');
  if (word === undefined) throw new UsageError('A command is needed.');
  const chosen = Object.hasOwn(actions, word.value) ? actions[word.value] : undefined;
  if (chosen === undefined) throw new UsageError(`Unknown command: ${word.value}.`);
  const misplaced = Object.keys(values).find((name) => !Object.hasOwn(chosen.options, name));
  if (misplaced !== undefined) throw new UsageError(whereItBelongs(misplaced, actions));
  return chosen.read(args.toSpliced(word.index, 1));
}

/** Runs a command and ends the process: 0, 1 with one line about the error, 2 with the usage, or 130. */
export async function runCommand(
  command: Command,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  // The reader of a pipe may end first, like `head`: that interrupts what can be interrupted, and is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  await runToEnd(async () => {
    if (asksForHelp(args)) {
      process.stdout.write(helpOf(command));
      return 0;
    }
    let work: Work;
    try {
      work = readCommandLine(command, args);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      process.stderr.write(`${error.message}\n${command.usage}\n`);
      return 2;
    }
    return work({ interruption });
  });
}

function parse<O extends Options>(args: readonly string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

/** Names the option together with the others of the same actions. */
function whereItBelongs(option: string, actions: Readonly<Record<string, Action>>): string {
  const list = new Intl.ListFormat('en-GB');
  const takersOf = (name: string): string =>
    list.format(Object.keys(actions).filter((word) => Object.hasOwn(actions[word]?.options ?? {}, name)));
  const takers = takersOf(option);
  const names = new Set(Object.values(actions).flatMap(({ options }) => Object.keys(options)));
  const neighbours = [...names].filter((name) => takersOf(name) === takers).map((name) => `--${name}`);
  return `${list.format(neighbours)} ${neighbours.length === 1 ? 'belongs' : 'belong'} to ${takers}.`;
}

function interruption(again = (): void => process.exit(INTERRUPTED)): AbortSignal {
  const controller = new AbortController();
  onEndSignal(['SIGINT', 'SIGTERM'], () => (controller.signal.aborted ? again() : controller.abort()));
  // The channel alone does not keep the process running.
  process.on('disconnect', () => controller.abort());
  process.stdout.on('error', () => controller.abort());
  process.channel?.unref();
  return controller.signal;
}
