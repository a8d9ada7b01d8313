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
 * Files that run in one process: what they start or read is started and read once. Tests of linear time measure the
 * processor time of their thread, so they share a process with one another only; the one that notes how patterns are
 * made loads the sources itself. Nobody shares a service with settings of its own, or one that is rebuilt or killed.
 */
const TOGETHER: readonly {
  readonly name: string;
  readonly files: RegExp;
  /** Of these, the file that comes behind the others; default: in the order of their paths. */
  readonly last?: RegExp;
}[] = [
  {
    name: 'e2e',
    files:
      /^test\/e2e\/(?:alerts|analysis|auth|brief|changes|client|differences|effects|export|feedback|import|ingest|mcp|otlp-(?!erasure)|overview|query|segment|session|steering|subject|taxonomy|text-search|why)/,
    // They delete from the stream.
    last: /(?:text-search|session)-rules/,
  },
  {
    name: 'browser',
    files: /^test\/e2e\/(?:dashboard|erasure|stored-script)/,
    // An erasure reads all that was sent before.
    last: /dashboard|stored-script/,
  },
  { name: 'reader', files: /^test\/reader\/(?!threads|numeric)(?!.*linear-time)/ },
  { name: 'linear-time', files: /^test\/reader\/(?!acts\/linear-time\.).*linear-time/ },
  {
    name: 'models',
    files: /^test\/(?:tools\/(?:eval|read|train)|models|reader\/numeric|doors\/writer\/local)/,
  },
  { name: 'store', files: /^test\/(?:query|worker\/rebuild|doors\/sink|store)\// },
  { name: 'http', files: /^test\/(?:domain|health|web|doors\/(?:alerts|demo|import|mcp))\// },
  { name: 'stream', files: /^test\/stream\/(?!server\/fetch)/ },
  {
    name: 'small',
    files: new RegExp(
      String.raw`^test/(?:doors/(?:client/(?!package)|hub|writer/(?!service|local))|cli/(?:env-file|import-plan|local-url|progress)` +
        String.raw`|main/(?:first|super)|(?:architecture|config|deploy|documents|errors|lifecycle)\.test)`,
    ),
  },
  { name: 'commands', files: /^test\/cli\/(?:backup|command|dead-letters|import\.|keys|sink|sql)/ },
  { name: 'main', files: /^test\/main\/(?:nats|start|web)/ },
  { name: 'faults', files: /^test\/faults\/(?:clock|full-stream|points)/ },
  { name: 'traces', files: /^test\/doors\/traces\/(?!sdks)/ },
  { name: 'analysis', files: /^test\/reader\/threads\/(?!determinism)/ },
  { name: 'bench', files: /^test\/tools\/bench\// },
  { name: 'erasure', files: /^test\/worker\/(?:backup|erasure)\// },
  { name: 'worker', files: /^test\/worker\/(?!rebuild|backup|erasure|workers)/ },
];
/** What all tests may take, in seconds of processor time. What takes more has a long form (`npm run test:long`). */
const MOST_CPU_SECONDS = 480;
/**
 * The longest that all tests may take, in milliseconds: then the processes that are left are ended. A test may take a
 * quarter of it: what hangs is a failure that has a name, and the others go on.
 */
const MOST_MS = Number(process.env['TEST_MINUTES'] ?? 40) * 60_000;
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
  timeout: MOST_MS / 4,
  signal: AbortSignal.timeout(MOST_MS),
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
  for (const { name, files: own, last } of TOGETHER) {
    const isLast = (file: string): number => Number(last?.test(file) ?? false);
    const members = all.filter((file) => own.test(file)).toSorted((a, b) => isLast(a) - isLast(b));
    // Whoever moves files would else pay for a process each, and notice nothing.
    if (members.length < 2 && words.length === 0)
      throw new Error(`test/support/run.ts: ${name} groups no files`);
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
