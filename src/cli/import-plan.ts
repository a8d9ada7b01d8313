/**
 * Plans how each file of an import is read, and asks where that is not sure. Nothing is sent while a question is open.
 *
 * Test: test/cli/import-plan.test.ts.
 */
import { createInterface } from 'node:readline';
import { printable } from '../domain/printable.ts';
import { count, type Progress } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { SURE } from '../doors/import/formats/format.ts';
import { FORMATS } from '../doors/import/formats/registry.ts';
import type { Finding } from '../doors/import/contract.ts';
import { openInputs, type Inputs } from '../doors/import/inputs.ts';
import { shellWord } from '../doors/import/shell-word.ts';
import { joined, planFile, planTogether } from '../doors/import/plan.ts';
import type { FilePlan, Reading, UnknownFile } from '../doors/import/plan.ts';
import { INTERRUPTED } from './command.ts';
import { openLater } from './progress.ts';

/** The terminal for questions. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Thrown when Ctrl-C or SIGTERM comes before all files are planned. */
export class PlanInterrupted extends Error {}

export interface PlanOptions extends HowToRead {
  /** Null if nobody can answer questions. */
  readonly ask: Terminal | null;
  /** Leaves out the lines about recognised formats; another function prints them. */
  readonly quiet?: boolean;
  /** Shows slow steps and the recognised formats. */
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Options of the command line that apply to every file. */
interface HowToRead extends Omit<Reading, 'onRead'> {
  /** The other options as given, for commands that are printed; never `--key`. */
  readonly repeated?: readonly string[] | undefined;
}

/** Files of a command line with their options. */
export interface Named extends HowToRead {
  readonly files: readonly string[];
  readonly encoding: string | undefined;
}

/** All plans. `sure` is false if a question is open; `unread` counts unreadable files. */
interface Planned {
  readonly plans: FilePlan[];
  readonly sure: boolean;
  readonly unread: number;
}

const YES: ReadonlySet<string> = new Set(['y', 'yes']);
const NO: ReadonlySet<string> = new Set(['', 'n', 'no']);
/** Maximum files described one by one. */
const MOST_LISTED = 20;

/**
 * Opens and plans the files, does the work, and removes copies of pipes even after Ctrl-C. Returns the exit code.
 * Throws the errors of `planAll`.
 */
export async function withPlans(
  { files, format, mapping, dates, timeZone, encoding, repeated }: Named,
  options: Omit<PlanOptions, keyof HowToRead>,
  work: (planned: Planned) => Promise<number>,
): Promise<number> {
  const { progress, signal } = options;
  const bar = openLater(progress, { title: 'looking for files', to: files.length });
  const onFound = (found: number, done: number): void =>
    bar.update({ done, details: `${count(found)} found` });
  let inputs: Inputs | null = null;
  try {
    inputs = await openInputs(files, { encoding, signal, onFound }).finally(() => bar.end());
    return await work(await planAll(inputs, { format, mapping, dates, timeZone, repeated, ...options }));
  } catch (error) {
    if (signal.aborted && (inputs === null || error instanceof PlanInterrupted)) return INTERRUPTED;
    throw error;
  } finally {
    await inputs?.close();
  }
}

/**
 * Plans all files and prints the plans. Throws SetupError if no format fits a named file or there is nothing to import;
 * PlanInterrupted.
 */
export async function planAll(
  { inputs, faults }: Inputs,
  { repeated = [], ask, quiet = false, progress, signal, ...reading }: PlanOptions,
): Promise<Planned> {
  const { plans, rest } = await planTogether(inputs, reading).catch((error: unknown) => {
    if (signal.aborted) throw new PlanInterrupted();
    throw new SetupError(printable(error instanceof Error ? error.message : String(error)), { cause: error });
  });
  const open: UnknownFile[] = [];
  let unread = faults.length;
  let listed = 0;
  const tell = (text: string): void => {
    listed += 1;
    if (listed <= MOST_LISTED) progress.line(printable(text));
    if (listed === MOST_LISTED + 1) progress.line('… and so on');
  };
  for (const { name, message } of faults) tell(`${name}: left out: ${message}`);
  let sure = true;
  const bar = openLater(progress, { title: 'looking at files', to: rest.length });
  try {
    for (const plan of plans) if (!quiet) tell(`${plan.parts[0].input.operand}: ${describePlan(plan)}`);
    for (const [index, input] of rest.entries()) {
      const details = `${count(index)} of ${count(rest.length)}`;
      const onRead = (bytes: number): void =>
        bar.update({ done: index + Math.min(1, bytes / Math.max(1, input.size)), details });
      onRead(0);
      const plan = await planFile(input, { ...reading, onRead }).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
      if (signal.aborted) throw new PlanInterrupted();
      if (plan instanceof Error) {
        unread += 1;
        tell(`${input.name}: left out: cannot be read: ${plan.message}`);
      } else if ('format' in plan) {
        if (!quiet) tell(`${input.name}: ${describePlan(plan)}`);
        if (plan.recognition.confidence >= SURE) plans.push(plan);
        else {
          // The progress bar must not overwrite the question.
          bar.end();
          if (await agrees(plan, ask, signal)) plans.push(plan);
          else if (input.named) {
            progress.line(printable(howToConfirm(plan, repeated)));
            sure = false;
            plans.push(plan);
          } else tell(`${input.name}: left out, as it is not sure${quiet ? `: ${describePlan(plan)}` : ''}`);
        }
      } else if (plan.isOpen === true) open.push(plan);
      else if (input.named) throw new SetupError(printable(unrecognised(plan)));
      else tell(`${input.name}: left out: ${plan.looksLike}`);
    }
  } finally {
    bar.end();
  }
  const [first, ...others] = open;
  if (first !== undefined) {
    for (const plan of open.slice(0, MOST_LISTED - 1)) progress.line(printable(unrecognised(plan)));
    const files = others.length === 0 ? 'this file' : `these ${count(open.length)} files`;
    throw new SetupError(`Nothing was sent: nobody but you can say how ${files} must be read.`);
  }
  if (plans.length === 0) throw new SetupError('There is nothing to import: no file was recognised.');
  return { plans: joined(plans), sure, unread };
}

/** Describes the format of a plan. */
export function describePlan({ format, recognition, mapping }: FilePlan): string {
  const columns = mapping.length === 0 ? '' : `: ${mapping.join(' ')}`;
  return `${format.title} (${recognition.reason})${columns}`;
}

/** Formats a place like editors and compilers: `file:line`. */
export function placeOf({ file, line, unit }: Omit<Finding, 'message'>): string {
  return unit === undefined ? `${file}:${line}` : `${file} ${unit} ${line}`;
}

/** Asks until the answer is yes or no. Enter and the end of input mean no. Throws PlanInterrupted. */
async function agrees(plan: FilePlan, ask: Terminal | null, signal: AbortSignal): Promise<boolean> {
  if (ask === null) return false;
  const questions = createInterface({ ...ask, terminal: true, signal });
  let interrupted = false;
  questions.once('SIGINT', () => {
    interrupted = true;
    questions.close();
  });
  questions.setPrompt(`Import ${printable(plan.parts[0].input.name)} like this? [y/N] `);
  // Created before the question, so that an early close is noticed.
  const answers = questions[Symbol.asyncIterator]();
  questions.prompt();
  try {
    for await (const answer of answers) {
      const word = answer.trim().toLowerCase();
      if (YES.has(word)) return true;
      if (NO.has(word)) return false;
      ask.output.write('Answer y (import it) or n (leave it).\n');
      questions.prompt();
    }
  } finally {
    questions.close();
  }
  // Ends the line of the question.
  ask.output.write('\n');
  if (interrupted || signal.aborted) throw new PlanInterrupted();
  return false;
}

/** Prints the command that confirms the guess. Options that influence reading and destination are repeated. */
function howToConfirm(
  { parts: [{ input }], format, mapping }: FilePlan,
  repeated: readonly string[],
): string {
  const option = mapping.length === 0 ? ['--format', format.name] : ['--map', ...mapping];
  return (
    `${input.name}: this is not sure. If it is right, say so; else correct it: ` +
    `npm run import -- ${[input.operand, ...option, ...repeated].map(shellWord).join(' ')}`
  );
}

function unrecognised({ input, looksLike, todo, isOpen = false }: UnknownFile): string {
  const fact = isOpen
    ? `${input.name}: ${looksLike}. `
    : `${input.name}: not recognised; it looks like ${looksLike}. `;
  if (todo !== undefined) return `${fact}${todo}`;
  return (
    `${fact}Say which column or member is what with --map role=… content=… conversation=… ` +
    `(turns=… for a list of messages in each entry), or name its format with --format: ` +
    `${FORMATS.map(({ name }) => name).join(', ')}.`
  );
}
