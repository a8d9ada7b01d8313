/**
 * `npm run import -- FILE|FOLDER|- …`: sends conversations from files to a running service.
 *
 * Test: test/cli/import.test.ts.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isTimeZone } from '../domain/local-time.ts';
import { printable } from '../domain/printable.ts';
import { count, messagesPerSecond, type Progress } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { UndertoneError } from '../doors/client/errors.ts';
import { statusOf } from '../doors/client/transport.ts';
import { ServiceClient } from '../doors/import/client.ts';
import type { OpenedInstance } from '../doors/import/client.ts';
import { FORMATS } from '../doors/import/formats/registry.ts';
import { parseMapping, type Mapping } from '../doors/import/formats/mapping.ts';
import { importPlanned } from '../doors/import/importer.ts';
import type {
  Destination,
  Finding,
  ImportObserver,
  ImportOptions,
  ImportSummary,
} from '../doors/import/contract.ts';
import { madeUpWords } from '../doors/import/made-up.ts';
import { sizeOf, type FilePlan } from '../doors/import/plan.ts';
import { waitUntilVisible } from '../doors/import/visible.ts';
import {
  action,
  INTERRUPTED,
  oneOf,
  runCommand,
  UsageError,
  uuid,
  wholeNumber,
  type CommandRun,
} from './command.ts';
import { shellWord } from '../doors/import/shell-word.ts';
import { DATE_ORDERS } from '../doors/import/written-dates.ts';
import { placeOf, withPlans, type Named } from './import-plan.ts';
import { printPreview } from './import-preview.ts';
import { ACCESS_OPTIONS, accessOf } from './local-url.ts';
import { openProgress, openLater } from './progress.ts';

const FORMAT =
  '{"id", "source"?, "turns": [{"role", "content", "userId"?, "createdAt"?, "metadata"?}], "userId"?, "metadata"?}';
/** Columns of a line of the usage. */
const LINE = 100;

/** Joins words with spaces into lines; those after the first begin with `indent` spaces. */
function wrapped(text: string, first: number, indent: number): string {
  let column = first;
  const parts = text.split(' ').map((word, index) => {
    const isNext = index > 0 && column + 1 + word.length > LINE;
    column = isNext ? indent + word.length : column + (index > 0 ? 1 : 0) + word.length;
    return `${isNext ? `\n${' '.repeat(indent)}` : index > 0 ? ' ' : ''}${word}`;
  });
  return parts.join('');
}

const NAMES = FORMATS.map(({ name }) => name).join(', ');
const TITLES = FORMATS.map(({ title }) => title).join(', ');
const RECOGNISED =
  `Recognises what a file is, packed (.zip, .gz, .zst) or not: ${TITLES}, and tables as CSV or Parquet. ` +
  '"-" is the standard input. docs/import.md tells each format.';
const USAGE = `Usage: npm run import -- FILE|FOLDER|- … [options]

${wrapped(RECOGNISED, 0, 0)}

  --dry-run         only say what was recognised, show three conversations of each file, and count what would be
                    imported and left out; exit status 1 when something cannot be imported
  --map NAME=COLUMN …   which column or member is what: role, content, conversation, time, user, feedback
                    (thumbs), rating (1 to 5); question and answer; turns (a list of messages in each entry);
                    role:VALUE=user says what a role means, and in chats who somebody is (role:'Acme Shop'=assistant)
  --format NAME     ${wrapped(`read every file as this: ${NAMES}`, 20, 20)}
  --dates ORDER     of dates such as 11/1/2026: day-first or month-first (default: as other dates of the file say)
  --time-zone NAME  of times without an offset in tables and chats, such as Europe/Berlin (default: UTC)
  --encoding NAME   of text that is neither UTF-8 nor marked UTF-16, such as windows-1252 or shift_jis

  --instance UUID   import into this instance (default: the default instance of the key's project, which the
                    first import creates and later ones use again)
  --new-instance    import into a new instance, and print its id
  --source NAME     identifies the conversations together with their ids (default: the line's source or the file's
                    name); with --source '', session ids are UUIDv5(instance id, id), as docs/concepts.md says
  --user ID         the end user of conversations that name none, such as an export of one person's chats (default:
                    each of them has one of its own)
  --url URL         address of the service   (default: UNDERTONE_URL, or HOST and PORT of the configuration)
  --key KEY         API key                  (default: UT_KEY)
  --in-flight N     requests sent at the same time, 1 to 256 (default: 16; at most 4 where many conversations
                    fit one request)
  --max-lag SECONDS  send more slowly where the service would otherwise be more than this behind with counting, 1 to
                    3600: everybody's numbers stay that live (default: as fast as messages can be stored)
  --no-wait         do not wait until everything is visible in queries

Our own format has one conversation per line:
${FORMAT}
Exit status: 0 all imported, 1 a line failed or the import stopped, 2 wrong usage, 130 interrupted.`;

/** Its turns are plain strings, which an import rejects. */
const DEMO_FILE = resolve(import.meta.dirname, '../../examples/demo/conversations.jsonl');
/** Maximum findings printed one by one. */
const MAX_PRINTED_FINDINGS = 100;
const MAX_PRINTED_WARNINGS = 10;
const VISIBLE_WAIT_MS = 120_000;
const PROGRESS_EVERY_MS = 1000;
const RETRY_REPORTED_EVERY_MS = 5000;
const PROBE_MS = 10_000;

interface Arguments extends Named {
  /** The mapping as given. */
  readonly pairs: readonly string[];
  readonly into: Destination;
  readonly named: Pick<ImportOptions, 'source' | 'user'>;
  readonly url: string;
  readonly key: string;
  readonly concurrency: number;
  readonly maxLagMs: number | undefined;
  readonly wait: boolean;
}

const importing = action({
  options: {
    instance: { type: 'string' },
    'new-instance': { type: 'boolean' },
    source: { type: 'string' },
    user: { type: 'string' },
    ...ACCESS_OPTIONS,
    'in-flight': { type: 'string' },
    'max-lag': { type: 'string' },
    'no-wait': { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    format: { type: 'string' },
    encoding: { type: 'string' },
    dates: { type: 'string' },
    'time-zone': { type: 'string' },
    map: { type: 'string', multiple: true },
  },
  operands: Infinity,
  read(values, operands) {
    const { files, mapping, pairs } = readOperands(operands, values.map);
    const { format, encoding } = values;
    if (encoding !== undefined && !isEncoding(encoding))
      throw new UsageError(`--encoding: "${encoding}" is no encoding that is known.`);
    const dates = values.dates === undefined ? undefined : oneOf(DATE_ORDERS, '--dates', values.dates);
    const timeZone = values['time-zone'];
    if (timeZone !== undefined && !isTimeZone(timeZone))
      throw new UsageError(`--time-zone: "${timeZone}" is no time zone such as Europe/Berlin.`);
    const { instance, source, user } = values;
    if (user === '') throw new UsageError('--user takes an id.');
    const named = { source, user };
    const isNew = values['new-instance'] === true;
    if (files.length === 0) throw new UsageError('Name at least one file.');
    if (format !== undefined && !FORMATS.some(({ name }) => name === format))
      throw new UsageError(`--format: "${format}" is none of ${NAMES}.`);
    if (format !== undefined && mapping !== undefined && Object.keys(mapping.fields).length > 0)
      throw new UsageError('--format and --map exclude each other.');
    const repeated = optionsToRepeat(values);
    const reading = { files, format, mapping, dates, timeZone, encoding, repeated };
    if (values['dry-run'] === true) return (run) => preview({ ...reading, named }, run);
    const instanceId = instance === undefined ? null : uuid('--instance', instance);
    if (instanceId !== null && isNew)
      throw new UsageError('--instance and --new-instance exclude each other.');
    const concurrency = wholeNumber('--in-flight', values['in-flight'] ?? '16', 1, 256);
    const maxLag = values['max-lag'];
    const maxLagMs = maxLag === undefined ? undefined : 1000 * wholeNumber('--max-lag', maxLag, 1, 3600);
    const access = accessOf(values);
    const into: Destination =
      instanceId === null ? { kind: isNew ? 'new' : 'default' } : { kind: 'named', instanceId };
    const args = {
      ...reading,
      pairs,
      into,
      named,
      ...access,
      concurrency,
      maxLagMs,
      wait: values['no-wait'] !== true,
    };
    return (run) => importAll(args, run);
  },
});

/** Returns the options to repeat in a printed command. `--map` and `--format` are printed separately, the key never. */
function optionsToRepeat(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (['map', 'format', 'key'].includes(name)) return [];
    if (typeof value === 'string') return [`--${name}`, value];
    return value === true ? [`--${name}`] : [];
  });
}

/** Separates files from further values of `--map`, which parse as operands: `--map role=sender content=text`. */
function readOperands(
  operands: readonly string[],
  pairs: readonly string[] | undefined,
): { files: string[]; mapping: Mapping | undefined; pairs: string[] } {
  if (pairs === undefined) return { files: [...operands], mapping: undefined, pairs: [] };
  const isPair = (text: string): boolean =>
    /^(?:[a-z]+|role:[^=]+)=./.test(text) && statSync(text, { throwIfNoEntry: false }) === undefined;
  const all = [...pairs, ...operands.filter(isPair)];
  try {
    return { files: operands.filter((text) => !isPair(text)), mapping: parseMapping(all), pairs: all };
  } catch (error) {
    throw new UsageError(`--map: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

async function preview(args: Named & Pick<Arguments, 'named'>, run: CommandRun): Promise<number> {
  checkFiles(args.files);
  const progress = openProgress(process.stderr);
  const signal = run.interruption();
  return withPlans(args, { ask: null, quiet: true, progress, signal }, async ({ plans, sure, unread }) => {
    let isWhole = unread === 0;
    for (const plan of plans) {
      isWhole = (await printPreview(plan, { ...args.named, signal }, progress)) && isWhole;
      if (signal.aborted) return INTERRUPTED;
    }
    console.log(
      isWhole ? 'Nothing was sent.' : 'Nothing was sent. An import would leave out what cannot be imported.',
    );
    return sure && isWhole ? 0 : 1;
  });
}

async function importAll(args: Arguments, run: CommandRun): Promise<number> {
  checkFiles(args.files);
  const progress = openProgress(process.stderr);
  const client = new ServiceClient({ url: args.url, key: args.key, onRetry: retryTeller(progress) });
  await probe(args.url);
  const { stdin: input, stderr: output } = process;
  // Redirected standard error would hide the question.
  const ask = input.isTTY && output.isTTY ? { input, output } : null;
  const signal = run.interruption();
  return withPlans(args, { ask, progress, signal }, async ({ plans, sure, unread }) => {
    if (!sure) return 1;
    const status = await importPlans(args, plans, { client, progress, signal });
    return status === 0 && unread > 0 ? 1 : status;
  });
}

async function probe(url: string): Promise<void> {
  try {
    await statusOf(url, '/livez', PROBE_MS);
  } catch (error) {
    if (!(error instanceof UndertoneError)) throw error;
    throw new SetupError(
      `${printable(error.message)}. Start the service with "npm start", or name another with --url.`,
      { cause: error },
    );
  }
}

async function importPlans(
  args: Arguments,
  plans: readonly FilePlan[],
  { client, progress, signal }: { client: ServiceClient; progress: Progress; signal: AbortSignal },
): Promise<number> {
  let summary: ImportSummary;
  try {
    const bytes = plans.reduce((sum, plan) => sum + sizeOf(plan), 0);
    progress.begin({ title: 'importing', to: bytes, rate: messagesPerSecond });
    summary = await importPlanned({
      plans,
      into: args.into,
      ...args.named,
      target: client,
      concurrency: args.concurrency,
      maxLagMs: args.maxLagMs,
      signal,
      observer: observerOf(args, progress),
    });
  } finally {
    progress.end();
  }
  printSummary(summary);
  for (const { name, message } of summary.brokenFiles)
    console.error(printable(`${name}: not imported to its end: ${message}. Mend it and import it again.`));
  if (summary.failedLines > 0 && summary.conversations + summary.alreadyThere === 0) {
    console.error(`No line could be imported. Expected is one conversation a line: ${FORMAT}`);
    if (args.files.some((file) => resolve(file) === DEMO_FILE))
      console.error(
        'This is the demo\'s own file, whose times are days before today: "npm run demo" sends it.',
      );
  }
  if (args.wait && summary.last !== null && !summary.interrupted) {
    await tellWhenVisible(new ServiceClient({ ...args, signal }), summary, { progress, signal });
    if (signal.aborted && summary.stopped === null) return INTERRUPTED;
  }
  if (summary.stopped !== null || summary.interrupted) {
    if (summary.stopped !== null) console.error(`import stopped: ${printable(summary.stopped.message)}`);
    console.error(`To go on where it stopped: npm run import -- ${commandToGoOn(args, summary.instanceId)}`);
    return summary.interrupted ? INTERRUPTED : 1;
  }
  return summary.failedLines > 0 || summary.brokenFiles.length > 0 ? 1 : 0;
}

/**
 * Returns the command that continues the import, with all options that name conversations: other names would count them
 * again.
 */
function commandToGoOn(
  { files, format, pairs, dates, timeZone, encoding, named }: Arguments,
  instanceId: string | null,
): string {
  const options: [string, string | null | undefined][] = [
    ['--instance', instanceId],
    ['--source', named.source],
    ['--user', named.user],
    ['--format', format],
    ['--dates', dates],
    ['--time-zone', timeZone],
    ['--encoding', encoding],
    ...pairs.map((pair): [string, string] => ['--map', pair]),
  ];
  const given = options.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [name, value],
  );
  return printable([...files, ...given].map(shellWord).join(' '));
}

/** @throws SetupError when a file is missing */
function checkFiles(files: readonly string[]): void {
  for (const file of files)
    if (file !== '-' && statSync(file, { throwIfNoEntry: false }) === undefined)
      throw new SetupError(`${file}: there is no such file.`);
}

/** Returns a hook that prints retries, at most one every few seconds. */
function retryTeller(progress: Progress): (reason: string, pauseMs: number) => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (reason, pauseMs) => {
    if (performance.now() - reportedAt < RETRY_REPORTED_EVERY_MS) return;
    reportedAt = performance.now();
    progress.line(
      `the service is busy or away, or takes no more of this key for now (${reason}); ` +
        `trying again in ${(pauseMs / 1000).toFixed(1)} s`,
    );
  };
}

function observerOf(args: Arguments, progress: Progress): ImportObserver {
  let findings = 0;
  const tell = (kind: string, finding: Finding): void => {
    findings += 1;
    if (findings <= MAX_PRINTED_FINDINGS)
      progress.line(printable(`${placeOf(finding)}: ${kind}${finding.message}`));
    if (findings === MAX_PRINTED_FINDINGS + 1) progress.line('… more like these are only counted');
  };
  return {
    instance: (id, opened) => progress.line(describeInstance(args, id, opened)),
    progress: ({ readBytes, conversations, messages }) =>
      progress.update({
        done: readBytes,
        counted: messages,
        details: `${count(conversations)} conversations, ${count(messages)} messages`,
      }),
    notice: (finding) => tell('', finding),
    failure: (finding) => tell('not imported: ', finding),
    warning: (finding) => tell('the service says: ', finding),
  };
}

function describeInstance({ into }: Arguments, id: string, opened: OpenedInstance | null): string {
  const called = opened === null || opened.name === null ? '' : ` "${opened.name}"`;
  const made = opened?.made === true ? ', new' : '';
  const choice = into.kind === 'default' ? ', the default for this key (--new-instance makes another)' : '';
  return `instance ${id}${called}${made}${choice}`;
}

function printSummary(summary: ImportSummary): void {
  const seconds = summary.durationMs / 1000;
  const perSecond = Math.round(summary.messages / Math.max(seconds, 0.001));
  const lines = [
    `instance      ${summary.instanceId ?? 'none'}`,
    `conversations ${count(summary.conversations)} sent, ${count(summary.alreadyThere)} already there`,
    `messages      ${count(summary.messages)} sent, ${count(summary.messagesAlreadyThere)} already there`,
    ...(summary.feedback === 0 ? [] : [`feedback      ${count(summary.feedback)} given`]),
    `end users     ${count(summary.users)}`,
    `skipped       ${count(summary.emptyTurns)} empty turns, ${count(summary.failedLines)} lines that failed`,
    `time          ${seconds.toFixed(1)} s, ${count(perSecond)} messages/s`,
  ];
  for (const [reason, times] of summary.leftOut)
    lines.push(`left out      ${count(times)} × ${printable(reason)}`);
  for (const words of madeUpWords(summary.madeUp)) lines.push(`made up       ${words}`);
  for (const { text, messages } of summary.warnings.slice(0, MAX_PRINTED_WARNINGS)) {
    const times = messages === 0 ? '' : ` (${count(messages)} message${messages === 1 ? '' : 's'})`;
    lines.push(`warning       ${printable(text)}${times}`);
  }
  const unnamed = summary.warnings.length - MAX_PRINTED_WARNINGS;
  if (unnamed > 0) lines.push(`warning       and ${unnamed} more`);
  console.log(lines.join('\n'));
}

/**
 * Waits and prints when everything is visible. A failure to check is no failure of the import. The signal ends the
 * wait.
 */
async function tellWhenVisible(
  client: ServiceClient,
  summary: ImportSummary,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
): Promise<void> {
  const bar = openLater(progress, { title: 'counting', to: summary.messages, rate: messagesPerSecond });
  let counted = 0;
  const show = (): void =>
    bar.update({ done: counted, details: `${count(counted)} of ${count(summary.messages)} messages` });
  show();
  // The first messages may take the service long.
  const timer = setInterval(show, PROGRESS_EVERY_MS).unref();
  try {
    const visible = await waitUntilVisible(client, summary, VISIBLE_WAIT_MS, (messages) => {
      counted = Math.min(messages, summary.messages);
      show();
    }).finally(() => bar.end());
    console.log(
      visible
        ? 'Everything is visible in queries.'
        : 'Stored. The worker is still counting; until it is done, the numbers of all instances are behind.',
    );
  } catch (error) {
    if (signal.aborted) return console.log('Stored. Nobody waits until it is visible in queries.');
    console.log(
      'Stored; could not see whether it is processed: ' +
        `${printable(error instanceof Error ? error.message : String(error))}`,
    );
  } finally {
    clearInterval(timer);
  }
}

await runCommand({ usage: USAGE, action: importing });
