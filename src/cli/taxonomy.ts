/**
 * `npm run taxonomy -- export` and `import FILE`: the topics that people made, with their examples, as a CSV. Keeps the
 * invariant that a file with a fault changes nothing.
 *
 * Test: test/e2e/taxonomy.test.ts.
 */
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { toCsv } from '../domain/csv.ts';
import { LONGEST_DESCRIPTION, LONGEST_EXAMPLE, LONGEST_NAME, MOST_EXAMPLES } from '../domain/curations.ts';
import { isPlainName, NAME_RULE, printable } from '../domain/printable.ts';
import { counted } from '../domain/progress.ts';
import { UndertoneError } from '../doors/client/errors.ts';
import type { NewTopic } from '../doors/client/contract.ts';
import { Undertone } from '../doors/client/undertone.ts';
import { csvRows, delimiterOf } from '../doors/import/csv.ts';
import { SetupError } from '../errors.ts';
import { action, runCommand, UsageError } from './command.ts';
import { ACCESS_OPTIONS, accessOf } from './local-url.ts';

const COLUMNS = ['topic', 'example', 'description'] as const;

const USAGE = `Usage: npm run --silent taxonomy -- export [options] > topics.csv
       npm run taxonomy -- import FILE.csv [options]

Writes the topics that people made as a CSV, or makes topics of one: a line for each example, with the columns
${COLUMNS.join(', ')} (description may be left out, and is taken from a topic's first line that has one).
Each topic claims the requests near its examples. A topic whose name is taken is left out, so the same file may come
again. Nothing is made of a file with a fault.

  --instance UUID   the instance             (default: the default instance of the key's project)
  --from-now        claim requests that come from now on alone (default: earlier ones, too)
  --url URL         address of the service   (default: UNDERTONE_URL, or HOST and PORT of the configuration)
  --key KEY         API key                  (default: UT_KEY); import needs its scope curate

Exit status: 0 done, 1 the file has a fault or the service refused, 2 wrong usage.`;

const INSTANCE = { instance: { type: 'string' }, ...ACCESS_OPTIONS } as const;
/** All topics and examples that an instance may have take less. */
const MOST_BYTES = 50e6;
/** Longest line of a file, UTF-16 units. */
const LONGEST_LINE = 10_000;
/** Many topics may have to wait for the key's budget. */
const PATIENCE_MS = 15 * 60_000;
/** Most faults that are printed. */
const MOST_FAULTS = 20;

const writing = action({
  options: INSTANCE,
  read(values) {
    const { url, key } = accessOf(values);
    return async () => {
      const client = new Undertone({ url, key, instanceId: values.instance });
      const topics: NewTopic[] = [];
      for await (const { action: kind, status, target, details } of client.allCurations()) {
        if (kind !== 'CREATE' || status !== 'APPLIED' || target.name === null) continue;
        const { description, examples = [] } = details;
        topics.push({ name: target.name, description, examples });
      }
      process.stdout.write(toCsv([COLUMNS, ...topics.reverse().flatMap(rowsOf)]));
    };
  },
});

/** The description stands in the first row. */
function rowsOf({ name, description = '', examples }: NewTopic): string[][] {
  return examples.map((example, index) => [name, example, index === 0 ? description : '']);
}

const reading = action({
  options: { ...INSTANCE, 'from-now': { type: 'boolean' } },
  operands: 1,
  read({ instance, 'from-now': fromNow = false, ...values }, [file]) {
    if (file === undefined) throw new UsageError('import needs a file.');
    const { url, key } = accessOf(values);
    return async () => {
      const topics = await readTopics(file);
      const client = new Undertone({ url, key, instanceId: instance, callPatienceMs: PATIENCE_MS });
      let made = 0;
      for (const topic of topics) {
        try {
          await client.createTopic({ ...topic, fromBeginning: !fromNow });
          made += 1;
        } catch (error) {
          if (!(error instanceof UndertoneError)) throw error;
          if (error.code !== 'CONFLICT')
            throw new SetupError(
              `“${printable(topic.name)}” was not made (${printable(error.message)}); ${made} before it were. ` +
                'The same file may come again.',
            );
          process.stdout.write(`left out “${printable(topic.name)}”: ${printable(error.message)}\n`);
        }
      }
      process.stdout.write(`made ${made} of ${counted(topics.length, 'topic')}\n`);
    };
  },
});

/** A topic of a file, and the line in which it begins. */
interface ReadTopic {
  readonly name: string;
  readonly line: number;
  description: string;
  readonly examples: Set<string>;
}

/** Throws SetupError that names each faulty line. */
async function readTopics(file: string): Promise<NewTopic[]> {
  const topics = new Map<string, ReadTopic>();
  const faults: string[] = [];
  const fault = (line: number, message: string): void => void faults.push(`line ${line}: ${message}`);
  let places: ReadonlyMap<string, number> | null = null;
  for await (const { line, fields, fault: unread } of rowsIn(file)) {
    if (fields === null) {
      fault(line, unread ?? 'cannot be read');
      continue;
    }
    if (places === null) {
      places = new Map(fields.map((name, index) => [name.trim().toLowerCase(), index]));
      const missing = COLUMNS.slice(0, 2).filter((name) => !places?.has(name));
      if (missing.length > 0)
        throw new SetupError(`${file}: the first line names no column ${missing.join(' and no column ')}.`);
      continue;
    }
    const [name, example, description] = COLUMNS.map((column) => cellAt(fields, places?.get(column)));
    add(
      topics,
      { line, name: oneLine(name), example: (example ?? '').trim(), description: oneLine(description) },
      fault,
    );
  }
  for (const { line, name, description, examples } of topics.values()) {
    if (examples.size > MOST_EXAMPLES)
      fault(line, `“${printable(name)}” has ${examples.size} examples, and may have ${MOST_EXAMPLES}`);
    for (const [column, text] of [
      ['topic', name],
      ['description', description],
    ] as const)
      if (!isPlainName(text)) fault(line, `${column} ${NAME_RULE}`);
  }
  if (faults.length > 0) {
    const more = faults.length > MOST_FAULTS ? `\n  and ${faults.length - MOST_FAULTS} more` : '';
    const list = faults.slice(0, MOST_FAULTS).map((one) => `\n  ${one}`);
    throw new SetupError(`${file}: nothing was made of it.${list.join('')}${more}`);
  }
  if (topics.size === 0) throw new SetupError(`${file}: there is no topic in it.`);
  return [...topics.values()].map(({ name, description, examples }) => ({
    name,
    examples: [...examples],
    ...(description === '' ? {} : { description }),
  }));
}

interface Line {
  readonly line: number;
  readonly name: string;
  readonly example: string;
  readonly description: string;
}

function add(
  topics: Map<string, ReadTopic>,
  { line, name, example, description }: Line,
  fault: (line: number, message: string) => void,
): void {
  if (name === '') fault(line, 'topic is empty');
  if (name.length > LONGEST_NAME) fault(line, `topic is longer than ${LONGEST_NAME} characters`);
  if (example === '') fault(line, 'example is empty');
  if (example.length > LONGEST_EXAMPLE) fault(line, `example is longer than ${LONGEST_EXAMPLE} characters`);
  if (description.length > LONGEST_DESCRIPTION)
    fault(line, `description is longer than ${LONGEST_DESCRIPTION} characters`);
  const key = name.normalize('NFKC').toLowerCase();
  const topic = topics.get(key) ?? { name, line, description: '', examples: new Set() };
  topics.set(key, topic);
  if (topic.description === '') topic.description = description;
  topic.examples.add(example);
}

/** Throws SetupError for a file that cannot be read. */
async function* rowsIn(file: string): ReturnType<typeof csvRows> {
  let bytes: Buffer;
  try {
    if ((await stat(file)).size > MOST_BYTES)
      throw new SetupError(`${file} is larger than ${MOST_BYTES / 1e6} MB, more than any taxonomy takes.`);
    bytes = await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw error instanceof SetupError ? error : new SetupError(`${file} cannot be read (${code}).`);
  }
  const delimiter = delimiterOf(bytes.toString('utf8').replace(/^\ufeff/, '')) ?? ',';
  yield* csvRows(Readable.from([bytes]), { delimiter, limit: LONGEST_LINE });
}

/** An apostrophe before what a spreadsheet would run as a formula is ours: see `toCsv`. */
function cellAt(fields: readonly string[], place: number | undefined): string {
  const cell = place === undefined ? '' : (fields[place] ?? '');
  return /^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}

function oneLine(text = ''): string {
  return text.replace(/\s+/gu, ' ').trim();
}

await runCommand({ usage: USAGE, actions: { export: writing, import: reading } });
