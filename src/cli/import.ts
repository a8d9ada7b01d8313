/** `npm run import -- FILE.jsonl[.gz] …`: sends conversations from files to a running service. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig, readEnvironment } from '../config.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { printable } from '../domain/printable.ts';
import { count, messagesPerSecond, type Progress } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { ServiceClient, UnavailableError } from '../import/client.ts';
import type { OpenedInstance } from '../import/client.ts';
import { importFiles, waitUntilVisible } from '../import/importer.ts';
import type { Destination, Finding, ImportObserver, ImportSummary } from '../import/importer.ts';
import { action, INTERRUPTED, runCommand, UsageError, wholeNumber, type CommandRun } from './command.ts';
import { localUrl } from './local-url.ts';
import { openProgress } from './progress.ts';

const FORMAT =
  '{"id", "source"?, "turns": [{"role", "content", "userId"?, "createdAt"?, "metadata"?}], "userId"?, "metadata"?}';
const USAGE = `Usage: npm run import -- FILE.jsonl [FILE.jsonl.gz …] [options]

  --instance UUID   import into this instance (default: the default instance of the key's project, which the
                    first import creates and later ones use again)
  --new-instance    import into a new instance, and print its id
  --source NAME     identifies the conversations together with their ids (default: the line's source or the file's
                    name); with --source '', session ids are UUIDv5(instance id, id), as the README says
  --url URL         address of the service   (default: UNDERTONE_URL, or HOST and PORT of the configuration)
  --key KEY         API key                  (default: UT_KEY)
  --in-flight N     conversations sent at the same time, 1 to 256 (default: 16)
  --no-wait         do not wait until everything is visible in queries

One conversation per line: ${FORMAT}
Exit status: 0 all imported, 1 a line failed or the import stopped, 2 wrong usage, 130 interrupted.`;

/** Its turns are plain strings. */
const DEMO_FILE = resolve(import.meta.dirname, '../../demo/conversations.jsonl');
/** At most this many findings are printed one by one. */
const MAX_PRINTED_FINDINGS = 100;
const MAX_PRINTED_WARNINGS = 10;
const VISIBLE_WAIT_MS = 120_000;
const RETRY_TOLD_EVERY_MS = 5000;

interface Arguments {
  readonly files: readonly string[];
  readonly into: Destination;
  readonly source: string | undefined;
  readonly url: string;
  readonly key: string;
  readonly concurrency: number;
  readonly wait: boolean;
}

const importing = action({
  options: {
    instance: { type: 'string' },
    'new-instance': { type: 'boolean' },
    source: { type: 'string' },
    url: { type: 'string' },
    key: { type: 'string' },
    'in-flight': { type: 'string' },
    'no-wait': { type: 'boolean' },
  },
  operands: Infinity,
  read(values, files) {
    const env = readEnvironment();
    const { instance, source } = values;
    const isNew = values['new-instance'] === true;
    if (files.length === 0) throw new UsageError('Name at least one file.');
    if (instance !== undefined && !UUID_PATTERN.test(instance))
      throw new UsageError(`--instance: "${instance}" is not a UUID.`);
    if (instance !== undefined && isNew)
      throw new UsageError('--instance and --new-instance exclude each other.');
    const concurrency = wholeNumber('--in-flight', values['in-flight'] ?? '16', 1, 256);
    const url = values.url ?? (env['UNDERTONE_URL'] || localUrl(loadConfig()));
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`--url: "${url}" is not an http address.`);
    const key = values.key ?? env['UT_KEY'] ?? '';
    if (key === '') {
      throw new UsageError(
        'No API key. Make one with "npm run keys -- create --project default", then set UT_KEY or give --key. ' +
          '(The first "npm start" shows one too.)',
      );
    }
    const into: Destination =
      instance === undefined ? { kind: isNew ? 'new' : 'default' } : { kind: 'named', instanceId: instance };
    const args = { files, into, source, url, key, concurrency, wait: values['no-wait'] !== true };
    return (run) => importAll(args, run);
  },
});

async function importAll(args: Arguments, run: CommandRun): Promise<number> {
  const bytes = bytesOf(args.files);
  const signal = run.interruption();
  const progress = openProgress(process.stderr);
  const client = new ServiceClient({ url: args.url, key: args.key, onRetry: retryTeller(progress) });
  let summary: ImportSummary;
  try {
    await client.probe();
    progress.begin({ title: 'importing', to: bytes, rate: messagesPerSecond });
    summary = await importFiles({
      files: args.files,
      into: args.into,
      ...(args.source === undefined ? {} : { source: args.source }),
      target: client,
      concurrency: args.concurrency,
      signal,
      observer: observerOf(args, progress),
    });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new SetupError(
      `${printable(error.message)}. Start the service with "npm start", or name another with --url.`,
      { cause: error },
    );
  } finally {
    progress.end();
  }
  printSummary(summary);
  if (summary.failedLines > 0 && summary.conversations + summary.alreadyThere === 0) {
    console.error(`No line could be imported. Expected is one conversation a line: ${FORMAT}`);
    if (args.files.some((file) => resolve(file) === DEMO_FILE))
      console.error(
        'This is the demo\'s own file, whose times are days before today: "npm run demo" sends it.',
      );
  }
  if (args.wait && summary.last !== null && !summary.interrupted) await tellWhenVisible(client, summary);
  if (summary.stopped !== null || summary.interrupted) {
    if (summary.stopped !== null) console.error(`import stopped: ${printable(summary.stopped.message)}`);
    const instance = summary.instanceId === null ? '' : ` --instance ${summary.instanceId}`;
    console.error(
      `To go on where it stopped: npm run import -- ${printable(args.files.join(' '))}${instance}`,
    );
    return summary.interrupted ? INTERRUPTED : 1;
  }
  return summary.failedLines > 0 ? 1 : 0;
}

/** @throws SetupError when one is no file */
function bytesOf(files: readonly string[]): number {
  let bytes = 0;
  for (const file of files) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) throw new SetupError(`${file}: there is no such file.`);
    if (found.isDirectory()) throw new SetupError(`${file} is a folder: name the files in it.`);
    bytes += found.size;
  }
  return bytes;
}

/** Tells of requests that are tried again, not more often than every few seconds. */
function retryTeller(progress: Progress): (reason: string, pauseMs: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (reason, pauseMs) => {
    if (performance.now() - toldAt < RETRY_TOLD_EVERY_MS) return;
    toldAt = performance.now();
    progress.line(
      `the service is busy or away (${reason}); trying again in ${(pauseMs / 1000).toFixed(1)} s`,
    );
  };
}

function observerOf(args: Arguments, progress: Progress): ImportObserver {
  let findings = 0;
  const tell = (kind: string, finding: Finding): void => {
    findings += 1;
    if (findings <= MAX_PRINTED_FINDINGS)
      progress.line(printable(`${finding.file}:${finding.line}: ${kind}${finding.message}`));
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
  const number = (value: number): string => value.toLocaleString('en');
  const lines = [
    `instance      ${summary.instanceId ?? 'none'}`,
    `conversations ${number(summary.conversations)} sent, ${number(summary.alreadyThere)} already there`,
    `messages      ${number(summary.messages)} sent, ${number(summary.messagesAlreadyThere)} already there`,
    `end users     ${number(summary.users)}`,
    `skipped       ${number(summary.emptyTurns)} empty turns, ${number(summary.failedLines)} lines that failed`,
    `time          ${seconds.toFixed(1)} s, ${number(Math.round(summary.messages / Math.max(seconds, 0.001)))} messages/s`,
  ];
  for (const { text, messages } of summary.warnings.slice(0, MAX_PRINTED_WARNINGS))
    lines.push(`warning       ${printable(text)}${messages === 0 ? '' : ` (${number(messages)} messages)`}`);
  const unnamed = summary.warnings.length - MAX_PRINTED_WARNINGS;
  if (unnamed > 0) lines.push(`warning       and ${unnamed} more`);
  console.log(lines.join('\n'));
}

/** Says when everything is visible. A failure to see it is no failure of the import. */
async function tellWhenVisible(client: ServiceClient, summary: ImportSummary): Promise<void> {
  try {
    const visible = await waitUntilVisible(client, summary, VISIBLE_WAIT_MS);
    console.log(
      visible ? 'Everything is visible in queries.' : 'Stored; the worker has not processed everything yet.',
    );
  } catch (error) {
    console.log(
      'Stored; could not see whether it is processed: ' +
        `${printable(error instanceof Error ? error.message : String(error))}`,
    );
  }
}

await runCommand({ usage: USAGE, action: importing });
