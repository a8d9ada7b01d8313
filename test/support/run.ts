/**
 * Runs the tests: `npm test` all of them, `npm test -- http query` those whose path holds one of the
 * words. The counts are the closing lines whether or not something failed; the exit code says which.
 * Before them stands the processor time of all that was run.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';

const root = resolve(dirname(import.meta.filename), '../..');
/**
 * Folders whose files run in one process each: what they start or read is started and read once. Not the tests of
 * linear time, which measure the processor time of their thread, nor files whose service has settings of its own, much
 * to do, a rebuild, or a stream from which they delete.
 */
const TOGETHER: readonly { readonly name: string; readonly files: RegExp }[] = [
  {
    name: 'e2e',
    files: /^test\/e2e\/(?:alerts|analysis|auth|changes|client|export|mcp|otlp|overview|query|why)/,
  },
  { name: 'language', files: /^test\/(?:conversations|enrich|language|topics)\/(?!.*linear-time)/ },
  { name: 'models', files: /^test\/(?:models|numeric)\// },
  { name: 'store', files: /^test\/(?:query|rebuild|store)\// },
  { name: 'http', files: /^test\/(?:alerts|demo|domain|health|http|import|ingest|mcp|registry)\// },
  { name: 'stream', files: /^test\/stream\/(?!server\/fetch)/ },
  {
    name: 'small',
    files: new RegExp(
      String.raw`^test/(?:client/(?!package)|hub|writer/(?!service|local)|cli/(?:import-plan|local-url|progress)` +
        String.raw`|main/(?:first|super)|(?:architecture|config|deploy|documents|errors|lifecycle)\.test)`,
    ),
  },
  { name: 'traces', files: /^test\/traces\/(?:assembly|conventions|otlp)\// },
  { name: 'analysis', files: /^test\/worker\/analysis\/(?!determinism)/ },
];
/** What all tests may take, in seconds of processor time. What takes more has a long form (`npm run test:long`). */
const MOST_CPU_SECONDS = 480;
const words = process.argv.slice(2);
const files = globSync('test/**/*.test.ts', { cwd: root })
  .toSorted()
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

if (files.length === 0) {
  process.stderr.write(`No test file matches ${words.join(' ')}.\n`);
  process.exit(1);
}

// Every process of a run, those of the service as well, reads what another one has compiled.
process.env['NODE_COMPILE_CACHE'] ??= resolve(root, '.cache/compiled');
const events = run({
  files: together(files).map((file) => resolve(root, file)),
  cwd: root,
  concurrency: Math.max(1, Math.min(availableParallelism(), 4)),
});
const closingLines: string[] = [];
events.on('test:fail', (event) => {
  if (event.todo === undefined || event.todo === false) process.exitCode = 1;
});
events.on('test:diagnostic', (event) => {
  if (
    event.nesting === 0 &&
    /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(event.message)
  ) {
    closingLines.push(`ℹ ${event.message}`);
  }
});
// The reporter lists the failures after the counts: say the counts once more.
const report = Readable.from(withCpuSeconds(events)).compose(new spec());
report.on('end', () => {
  if (process.exitCode === 1) process.stdout.write(`${closingLines.join('\n')}\n`);
});
report.pipe(process.stdout);

/** The files to run: one for each group of `TOGETHER` that imports its files, then the others. */
function together(all: readonly string[]): string[] {
  const entries: string[] = [];
  const grouped = new Set<string>();
  mkdirSync(resolve(root, '.cache/tests'), { recursive: true });
  for (const { name, files: own } of TOGETHER) {
    const members = all.filter((file) => own.test(file));
    if (members.length < 2) continue;
    const entry = `.cache/tests/${name}.test.ts`;
    writeFileSync(resolve(root, entry), members.map((file) => `import '../../${file}';\n`).join(''));
    entries.push(entry);
    for (const file of members) grouped.add(file);
  }
  return [...entries, ...all.filter((file) => !grouped.has(file))];
}

async function* withCpuSeconds(source: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of source) {
    if (
      event.type === 'test:diagnostic' &&
      event.data.nesting === 0 &&
      event.data.message.startsWith('tests ')
    ) {
      const seconds = cpuSeconds();
      const say = (message: string): TestEvent => ({ ...event, data: { ...event.data, message } });
      if (seconds !== null) yield say(`cpu_seconds ${seconds.toFixed(1)}`);
      if (seconds !== null && seconds > MOST_CPU_SECONDS) {
        yield say(
          `The tests may take ${MOST_CPU_SECONDS} s of processor time. Give the longest a short form.`,
        );
      }
    }
    yield event;
  }
}

/**
 * User and system time of this process and of every one whose end was waited for, theirs included. Null where the
 * system does not tell.
 */
function cpuSeconds(): number | null {
  const ticksPerSecond = 100;
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Behind the name in brackets: utime, stime, cutime and cstime are the fields 14 to 17 of the line.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond;
  } catch {
    return null;
  }
}
