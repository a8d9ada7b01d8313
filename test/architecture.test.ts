import { deepEqual, equal } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..');

/** Who may import whom: a room, and the rooms it may import besides itself. `reader` stands for all rooms in it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  stream: ['domain'],
  store: ['domain'],
  'reader/numeric': [],
  'reader/document': ['domain'],
  'reader/embedding': ['domain'],
  'reader/phrases': ['reader/document', 'domain'],
  'reader/personal': ['reader/document', 'domain'],
  'reader/shortening': ['reader/personal', 'reader/document', 'domain'],
  'reader/acts': [
    'reader/document',
    'reader/phrases',
    'reader/personal',
    'reader/shortening',
    'reader/embedding',
    'domain',
  ],
  'reader/topics': ['reader/document', 'reader/numeric', 'domain'],
  // Groups of gaps and of repeated requests are named as topics are.
  'reader/conversations': [
    'reader/document',
    'reader/phrases',
    'reader/personal',
    'reader/shortening',
    'reader/acts',
    'reader/topics',
    'reader/numeric',
    'domain',
  ],
  'reader/threads': ['reader', 'domain'],
  // Views that machines share, over an object store and a bucket.
  cluster: ['stream', 'store', 'domain'],
  worker: ['stream', 'reader', 'store', 'domain'],
  query: ['store', 'domain'],
  // Bodies and parameters are checked where they are read; what they are is declared here.
  contract: ['web/ingest', 'query', 'domain'],
  'web/registry': ['stream', 'domain'],
  'web/ingest': ['web/registry', 'stream', 'domain'],
  web: ['web/registry', 'web/ingest', 'web/routes', 'web/page', 'contract', 'query', 'domain'],
  'web/routes': ['web', 'contract', 'query', 'domain'],
  'web/page': ['web', 'contract', 'query', 'domain'],
  // What /readyz and /metrics say of all processes.
  health: ['web', 'store', 'stream', 'domain'],
  // Conditions are decided by the numbers of queries; alerts and their messages are kept in buckets.
  'doors/alerts': ['query', 'stream', 'store', 'domain'],
  // What ships as `undertone/client`: it runs in programs that have nothing else of ours.
  'doors/client': [],
  'doors/demo': ['doors/client', 'doors/import', 'domain'],
  'doors/hub': ['reader/embedding', 'domain'],
  // Parquet, and rows that are put together on the disk; messages in exported traces.
  'doors/import': ['doors/client', 'doors/traces', 'store', 'domain'],
  // Tools for language models, over any way to the routes that read.
  'doors/mcp': ['doors/client', 'query', 'domain'],
  // What the views hold, as files for other programs.
  'doors/sink': ['store', 'domain'],
  // Spans of traces, put together to conversations, go in where messages go in.
  'doors/traces': ['web/registry', 'web/ingest', 'stream', 'domain'],
  'doors/writer': ['reader', 'domain'],
};

/**
 * Rooms that can be left out with nothing else changed than what wires, and the files through which the rest of the
 * service reaches them.
 */
const DELETABLE: Readonly<Record<string, readonly string[]>> = {
  'doors/client': [],
  'doors/traces': ['src/web/routes/trace-routes.ts'],
  'doors/import': [],
  'doors/demo': [],
  'doors/alerts': ['src/contract/alerts.ts', 'src/web/routes/alert-routes.ts'],
  'doors/hub': [],
  'doors/sink': [],
  'doors/mcp': ['src/web/routes/mcp-route.ts'],
  'doors/writer': [],
};

/** They wire: each may import everything, and nobody imports them. */
const WIRING = ['main', 'cli'];

/** Files at the top of `src`: their own imports of ours. Every room may import `errors.ts` and the logger's type. */
const TOP_FILES: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  'config.ts': ['errors.ts', 'machine.ts', 'domain'],
  'machine.ts': [],
  'logger.ts': [],
  'lifecycle.ts': ['errors.ts', 'logger.ts', 'domain'],
};

/** Behind its door, the runtime of the models reports its use to nobody; tests and tools go through it as well. */
const MODEL_RUNTIME = /^(?:@huggingface\/transformers|onnxruntime-.*)$/;

/** Who may look at the environment, or change it: what a native library reads there is set where it is loaded. */
const ENVIRONMENT_DOORS = ['src/config.ts', 'src/reader/embedding/telemetry.ts'];

/** Each vendor has one door: a folder (ending in `/`) or a file. */
const VENDOR_DOORS: readonly (readonly [vendor: RegExp, doors: readonly string[]])[] = [
  [/^(?:fastify|@fastify\/.*|prom-client)$/, ['src/web/']],
  [/^@nats-io\//, ['src/stream/']],
  [/^@duckdb\//, ['src/store/']],
  [/^aws4fetch$/, ['src/store/objects/object-store.ts']],
  [/^@bufbuild\/protobuf/, ['src/doors/traces/otlp/']],
  [/^@modelcontextprotocol\//, ['src/doors/mcp/']],
  [/^nodemailer$/, ['src/doors/alerts/mail.ts']],
  [/^luxon$/, ['src/domain/local-time.ts']],
  [/^esbuild$/, ['src/web/page/page.ts']],
  [/^(?:preact(?:\/.*)?|d3-.*)$/, ['src/web/page/client/']],
  [MODEL_RUNTIME, ['src/reader/embedding/transformers.ts']],
  [/^pino(?:-pretty)?$/, ['src/logger.ts']],
];

interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/**
 * The imports and re-exports of a module's text, dynamic ones with a literal included. Comments, strings
 * and templates elsewhere do not count.
 */
function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  for (const [statement, type, specifier] of codeOnly(text).matchAll(
    /(?:^|[;\n}])\s*(?:import|export)\s+(type\s)?(?:[\w$*{}\s,]*?\sfrom\s*)?(?:'|")([^'"\n]+)(?:'|")/g,
  )) {
    if (specifier === undefined) continue;
    // `import { type A }` alone imports types only.
    const names = /\{([^}]*)\}/
      .exec(statement)?.[1]
      ?.split(',')
      .map((name) => name.trim());
    const inline = names?.filter((name) => name !== '').every((name) => name.startsWith('type ')) ?? false;
    found.push({ from: file, specifier, typeOnly: type !== undefined || inline });
  }
  for (const [, specifier] of codeOnly(text).matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]/g)) {
    if (specifier !== undefined) found.push({ from: file, specifier, typeOnly: false });
  }
  return found;
}

/** The text with comments and template literals blanked. */
function codeOnly(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|`(?:\\[\s\S]|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g,
    (token) => (token.startsWith("'") || token.startsWith('"') ? token : token.replace(/[^\n]/g, ' ')),
  );
}

const sources = globSync('src/**/*.{ts,tsx}', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
const imports = sources.flatMap(({ file, text }) => importsOf(file, text));
const ours = imports
  .filter(({ specifier }) => specifier.startsWith('.'))
  .map((entry) => ({ ...entry, to: normalize(join(dirname(entry.from), entry.specifier)) }));

/** `store` of `src/store/live/forget.ts`; `web/routes` of `src/web/routes/answers.ts`; `errors.ts` of `src/errors.ts`. */
function roomOf(file: string): string {
  const [first = '', second = ''] = relative('src', file).split('/');
  const inner = `${first}/${second}`;
  return inner in MAY_IMPORT ? inner : first;
}

function isAllowed(from: string, to: string, typeOnly: boolean): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  // `npm start` is a command, too.
  if (WIRING.includes(target)) return WIRING.includes(room);
  if (WIRING.includes(room) || room === target) return true;
  const topFile = TOP_FILES[room];
  if (topFile !== undefined) return topFile.includes(target);
  if (target === 'errors.ts' || (target === 'logger.ts' && typeOnly)) return true;
  if (DELETABLE[target]?.includes(from) === true) return true;
  const allowed = MAY_IMPORT[room] ?? [];
  return allowed.includes(target) || allowed.includes(target.split('/')[0] ?? '');
}

describe('architecture', () => {
  it('reads imports as the compiler does', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type { B } from './b.ts';",
      "import { type C, type D } from './c.ts';",
      "import {\n  e,\n  f,\n} from './e.ts';",
      "export * from './g.ts';",
      "import './h.ts';",
      "// import { x } from './no.ts';",
      "/* import { x } from './no.ts'; */",
      "const s = `import { x } from './no.ts';`;",
      "const later = await import('./i.ts');",
    ].join('\n');
    deepEqual(
      importsOf('x.ts', text).map(({ specifier, typeOnly }) => `${specifier}${typeOnly ? ' type' : ''}`),
      ['./a.ts', './b.ts type', './c.ts type', './e.ts', './g.ts', './h.ts', './i.ts'],
    );
  });

  it('knows every room', () => {
    const known = new Set([...Object.keys(MAY_IMPORT), ...Object.keys(TOP_FILES), ...WIRING]);
    deepEqual(
      [...new Set(sources.map(({ file }) => roomOf(file)))].filter((room) => !known.has(room)),
      [],
    );
  });

  it('lets each room import only what the table allows', () => {
    deepEqual(
      ours
        .filter(({ from, to, typeOnly }) => !isAllowed(from, to, typeOnly))
        .map(({ from, to }) => `${from} → ${to}`),
      [],
    );
  });

  for (const [left, doors] of Object.entries(DELETABLE))
    it(`does without ${left}`, () => {
      // What is left out with it reads it: an import reads traces, and goes by the client.
      const core = (room: string): boolean => !(room in DELETABLE) && !WIRING.includes(room);
      deepEqual(
        Object.keys(MAY_IMPORT).filter((room) => core(room) && MAY_IMPORT[room]?.includes(left) === true),
        [],
        'the table lets the core import it',
      );
      const importing = ours.filter(({ from, to }) => roomOf(to) === left && core(roomOf(from)));
      deepEqual([...new Set(importing.map(({ from }) => from))].toSorted(), doors.toSorted());
      for (const room of Object.keys(MAY_IMPORT).filter(core))
        equal(isAllowed(`src/${room}/new.ts`, `src/${left}/index.ts`, true), false, `${room} → ${left}`);
    });

  it('has no cycle of imports', () => {
    // Types are erased before the program runs: they may name each other within a room.
    const targets = Map.groupBy(
      ours.filter(({ typeOnly }) => !typeOnly),
      ({ from }) => from,
    );
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
        return;
      }
      state.set(file, 'open');
      for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
      state.set(file, 'done');
    };
    for (const { file } of sources) visit(file, []);
    deepEqual(cycles, []);
  });

  it('starts without the lexicon what reads texts in threads of its own, or reads none', () => {
    // Reading it takes a process half a second of the processor. `await import` counts as later, not as the start.
    const atStart = sources.flatMap(({ file, text }) =>
      importsOf(file, text.replaceAll(/\bimport\(/g, 'later(')).filter(({ typeOnly }) => !typeOnly),
    );
    const targets = Map.groupBy(atStart, ({ from }) => from);
    const reached = (entry: string): ReadonlySet<string> => {
      const files = new Set([entry]);
      for (const file of files)
        for (const { specifier } of targets.get(file) ?? [])
          if (specifier.startsWith('.')) files.add(normalize(join(dirname(file), specifier)));
      return files;
    };
    const lexicon = 'src/reader/document/lexicon.ts';
    const main = ['start', 'web', 'worker'].map((name) => `src/main/${name}.ts`);
    const commands = ['backup', 'erase', 'rebuild', 'restore'].map((name) => `src/cli/${name}.ts`);
    deepEqual(
      [...main, ...commands].filter((entry) => reached(entry).has(lexicon)),
      [],
    );
    equal(reached('src/reader/threads/analysis-thread.ts').has(lexicon), true);
  });

  it('lets each vendor in through its one door', () => {
    const strays = imports.filter(({ from, specifier }) =>
      VENDOR_DOORS.some(
        ([vendor, doors]) => vendor.test(specifier) && !doors.some((door) => from.startsWith(door)),
      ),
    );
    deepEqual(
      strays.map(({ from, specifier }) => `${from} imports ${specifier}`),
      [],
    );
  });

  it('lets tests, benchmarks and training load the runtime of the models through the same door', () => {
    const strays = globSync('{test,tools}/**/*.ts', { cwd: root })
      .flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
      .filter(({ specifier }) => MODEL_RUNTIME.test(specifier));
    deepEqual(
      strays.map(({ from, specifier }) => `${from} imports ${specifier}`),
      [],
    );
  });

  it('reads the environment in config.ts only', () => {
    const strays = sources.filter(
      ({ file, text }) =>
        !ENVIRONMENT_DOORS.includes(file) && /\bprocess\s*\.\s*env\b|\bloadEnvFile\b/.test(codeOnly(text)),
    );
    deepEqual(
      strays.map(({ file }) => file),
      [],
    );
  });
});
