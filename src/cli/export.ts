/**
 * `npm run export -- --group-by SESSION …`: writes every row of a query of a running service to a file.
 *
 * Test: test/e2e/export-rules.test.ts.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { dimensionFieldsOf, GROUP_BYS, GROUPINGS, type GroupBy } from '../domain/groupings.ts';
import { printable } from '../domain/printable.ts';
import type { UndertoneError } from '../doors/client/errors.ts';
import { Transport } from '../doors/client/transport.ts';
import { SetupError } from '../errors.ts';
import { writeParquet } from '../store/parquet.ts';
import { action, oneOf, runCommand, UsageError } from './command.ts';
import { ACCESS_OPTIONS, accessOf } from './local-url.ts';

const FORMATS = ['csv', 'ndjson', 'parquet'] as const;
type Format = (typeof FORMATS)[number];
/** Limit until the first row. */
const TIMEOUT_MS = 300_000;
const PATIENCE_MS = 10_000;

const USAGE = `Usage: npm run export -- --group-by GROUPING --instance UUID [options]

Writes every row of a query to standard output, or to a file. GROUPING is one of ${GROUP_BYS.join(', ')}.

  --instance UUID           the instance
  --group-by GROUPING       what a row stands for
  --format FORMAT           csv (default), ndjson or parquet; parquet needs --output
  --output FILE             write to this file
  --fields A,B              metrics         (default: all that the grouping has)
  --dimension-fields A,B    members of a row's entity (default: all)
  --granularity BUCKET      ALL (default), HOUR, DAY, WEEK or MONTH
  --start TIME, --end TIME  the range: dates or instants; the end is exclusive (default: all time)
  --url URL                 address of the service   (default: UNDERTONE_URL, or HOST and PORT of the configuration)
  --key KEY                 API key                  (default: UT_KEY)

Exit status: 0 written, 1 it failed, 2 wrong usage.`;

interface Arguments {
  readonly format: Format;
  readonly output: string | null;
  readonly search: URLSearchParams;
  readonly url: string;
  readonly key: string;
}

const exporting = action({
  options: {
    instance: { type: 'string' },
    'group-by': { type: 'string' },
    format: { type: 'string', default: 'csv' },
    output: { type: 'string' },
    fields: { type: 'string' },
    'dimension-fields': { type: 'string' },
    granularity: { type: 'string' },
    start: { type: 'string' },
    end: { type: 'string' },
    ...ACCESS_OPTIONS,
  },
  read(values) {
    const groupBy = oneOf(GROUP_BYS, '--group-by', values['group-by']);
    const format = oneOf(FORMATS, '--format', values.format);
    const { instance, output } = values;
    if (instance === undefined) throw new UsageError('--instance is needed.');
    if (format === 'parquet' && output === undefined)
      throw new UsageError('--format parquet needs --output.');
    const access = accessOf(values);
    const search = new URLSearchParams({
      instanceId: instance,
      groupBy,
      fields: values.fields ?? GROUPINGS[groupBy].metrics.join(','),
    });
    const dimensionFields = values['dimension-fields'] ?? dimensionFieldsOf(groupBy).join(',');
    for (const [name, value] of [
      ['dimensionFields', dimensionFields],
      ['timeGranularity', values.granularity],
      ['dateRange.start', values.start],
      ['dateRange.end', values.end],
    ] as const)
      if (value !== undefined && value !== '') search.set(name, value);
    return () => write({ format, output: output ?? null, search, ...access }, groupBy);
  },
});

async function write(given: Arguments, groupBy: GroupBy): Promise<void> {
  const { format, output } = given;
  const body = await ask(given);
  if (format !== 'parquet') {
    const target: Writable = output === null ? process.stdout : createWriteStream(output);
    await pipeline(body, target, { end: output !== null });
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'undertone-export-'));
  try {
    const flat = join(folder, 'rows.ndjson');
    const rows = await flatten(body, GROUPINGS[groupBy].name, flat);
    await writeParquet(flat, output ?? '', rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the body of the answer. Throws SetupError with the reason. */
async function ask({ format, search, url, key }: Arguments): Promise<Readable> {
  const accept = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  const parameters = Object.fromEntries(search);
  const call = { method: 'GET', path: '/v1/query', parameters, accept, patienceMs: PATIENCE_MS } as const;
  try {
    const rows = await new Transport({ url, key, timeoutMs: TIMEOUT_MS }).stream(call);
    return Readable.fromWeb(rows as ReadableStream<Uint8Array>);
  } catch (cause) {
    const { message, status } = cause as UndertoneError;
    throw new SetupError(printable(status === null ? `${message}. Start it with npm start.` : message), {
      cause,
    });
  }
}

/**
 * Writes each element as one object of its entity's members, its bucket and its metrics; returns the number of rows.
 */
async function flatten(body: Readable, name: string, file: string): Promise<number> {
  const target = createWriteStream(file);
  let rows = 0;
  for await (const line of createInterface({ input: body, crlfDelay: Infinity })) {
    if (line === '') continue;
    const { dimensions, fields } = JSON.parse(line) as {
      readonly dimensions: Readonly<Record<string, object | string>>;
      readonly fields: object;
    };
    const { [name]: entity, ...bucket } = dimensions;
    rows += 1;
    if (!target.write(`${JSON.stringify({ ...(entity as object), ...bucket, ...fields })}\n`))
      await once(target, 'drain');
  }
  target.end();
  await finished(target);
  return rows;
}

await runCommand({ usage: USAGE, action: exporting });
