/** What users install: the built package, in Node as it is and in programs that are not compiled as ours is. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createContext, Script } from 'node:vm';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '../../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);

/** A project that has the package and nothing else. */
let project: string;

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'undertone-client-'));
  const built = join(folder, 'client');
  const script = `import { buildClient } from ${JSON.stringify(join(ROOT, 'tools/install/build-client.js'))};
    process.exitCode = buildClient(${JSON.stringify(built)});`;
  await run(process.execPath, ['--input-type=module', '--eval', script]);
  await run('npm', ['pack', built, '--pack-destination', folder, '--silent']);
  project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--silent'];
  await run('npm', ['install', join(folder, 'undertone-0.4.0.tgz'), ...quiet], { cwd: project });
});
after(() => project && rmSync(join(project, '..'), { recursive: true, force: true }));

/** This Node, and the one that brought npm where it is another. */
function nodes(): string[] {
  const outer = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => !path.includes('node_modules') && existsSync(path));
  return [...new Set([process.execPath, ...outer].map((path) => realpathSync(path)))];
}

describe('the package', () => {
  it('holds the client, its types and its licence, and depends on nothing', () => {
    const { dependencies, scripts, name } = JSON.parse(
      readFileSync(join(project, 'node_modules/undertone/package.json'), 'utf8'),
    ) as Record<string, unknown>;
    deepEqual([name, dependencies, scripts], ['undertone', undefined, undefined]);
    const lock = readFileSync(join(project, 'package-lock.json'), 'utf8');
    deepEqual(Object.keys((JSON.parse(lock) as { packages: object }).packages), [
      '',
      'node_modules/undertone',
    ]);
    ok(existsSync(join(project, 'node_modules/undertone/LICENSE')));
  });

  it('runs as plain JavaScript in every Node at hand', async () => {
    writeFileSync(
      join(project, 'use.js'),
      `import { createServer } from 'node:http';
       import { Undertone, UndertoneError } from 'undertone/client';
       const bodies = [];
       const server = createServer(async (request, response) => {
         let text = '';
         for await (const chunk of request) text += chunk;
         if (request.method === 'POST') bodies.push(JSON.parse(text));
         const failed = bodies.length === 1 && bodies[0].messages;
         response.statusCode = failed ? 503 : 200;
         if (failed) bodies.pop(), bodies.push(null);
         response.end(JSON.stringify({ id: 'i', instanceId: 'i', sessionId: bodies.at(-1)?.sessionId ?? 's' }));
       });
       await new Promise((done) => server.listen(0, '127.0.0.1', done));
       const url = 'http://127.0.0.1:' + server.address().port;
       const undertone = new Undertone({ url, key: 'k', instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10', backoffMs: 1 });
       const session = undertone.session({ externalId: 'ticket-123', userId: 'ana' });
       await session.user('Where is my parcel?');
       await undertone[Symbol.asyncDispose]();
       server.close(), server.closeAllConnections();
       const { messages, sessionId } = bodies[1];
       console.log(messages[0].content, sessionId === session.id, sessionId, UndertoneError.name);`,
    );
    for (const node of nodes()) {
      const { stdout, stderr } = await run(node, ['use.js'], { cwd: project });
      equal(stderr, '', node);
      equal(stdout, 'Where is my parcel? true 8beb5092-15e9-5699-838a-0aaf53c0f000 UndertoneError\n', node);
    }
  });

  it('type-checks in strict programs, with what docs/client.md shows', async () => {
    const listed = [
      ...readFileSync(join(ROOT, 'docs/client.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm),
    ];
    ok(listed.length >= 5);
    const files = listed.map(([, code = ''], at) => {
      const file = `shown-${at}.ts`;
      writeFileSync(join(project, file), `${surroundings(code)}${code}`);
      return file;
    });
    writeFileSync(join(project, 'refused.ts'), REFUSED);
    // Node's types and nothing else of ours.
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
    const strict = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--types',
      'node',
    ];
    for (const modules of [
      ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.asynciterable'],
      ['--module', 'node16', '--moduleResolution', 'node16', '--lib', 'es2022'],
    ]) {
      const { stdout } = await run(process.execPath, [TSC, ...strict, ...modules, ...files, 'refused.ts'], {
        cwd: project,
      }).catch((error: { stdout: string }) => error);
      equal(stdout, '');
    }
  });
});

/** What an example of the page takes for granted. */
function surroundings(code: string): string {
  const has = (text: string): boolean => code.includes(text);
  return [
    has('import { Undertone }') ? '' : "import { Undertone } from 'undertone/client';",
    has('undertone = new') ? '' : 'declare const undertone: Undertone;',
    'declare const url: string, key: string, log: { warn(fields: object): void };',
    'interface Env { readonly UNDERTONE_URL: string; readonly UNDERTONE_KEY: string; readonly INSTANCE: string }',
    'interface Context { waitUntil(promise: Promise<unknown>): void }',
    'declare function respond(request: Request, undertone: Undertone): Promise<Response>;',
    'export type Unused = [typeof url, typeof key, typeof log, Env, Context, typeof respond];\n',
  ].join('\n');
}

/** Each line under a comment is an error of the compiler; without one, the comment is. */
const REFUSED = `
import { Undertone } from 'undertone/client';
declare const undertone: Undertone;
const { elements } = await undertone.query({ groupBy: 'TOPIC', fields: ['sessions'], timeGranularity: 'DAY' });
const row = elements[0]!;
const name: string = row.dimensions.topic.name;
const date: string = row.dimensions.date;
const sessions: number = row.fields.sessions;
export const kept = [name, date, sessions];
// @ts-expect-error: it was not asked for.
row.fields.messages;
// @ts-expect-error: it is the row of a topic.
row.dimensions.session;
// @ts-expect-error: it was not asked for.
row.dimensions.topic.isOwn;
// @ts-expect-error: a topic has no duration.
await undertone.query({ groupBy: 'TOPIC', fields: ['duration'] });
// @ts-expect-error: topics are not filtered by language.
await undertone.query({ groupBy: 'TOPIC', fields: ['sessions'], language: 'en' });
// @ts-expect-error: no session ends so.
await undertone.query({ groupBy: 'SESSION', fields: ['messages'], outcome: ['done'] });
// @ts-expect-error: sessions are not bounded by sessions.
await undertone.query({ groupBy: 'SESSION', fields: ['messages'], minSessions: 2 });
// @ts-expect-error: topics are not sorted by when they began.
await undertone.query({ groupBy: 'TOPIC', fields: ['sessions'], sort: { field: 'createdAt' } });
// @ts-expect-error: gaps have no titles.
await undertone.query({ groupBy: 'GAP', fields: ['sessions'], dimensionFields: ['title'] });
// @ts-expect-error: a merge needs both topics.
await undertone.curate({ action: 'MERGE', topicId: 'a' });
// @ts-expect-error: one of them, not both.
await undertone.curate({ action: 'RENAME', topicId: 'a', gapId: 'b', name: 'c' });
// @ts-expect-error: one of them, not both.
await undertone.erase({ sessionId: 'a', externalId: 'b' });
// @ts-expect-error: a signal has no why.
await undertone.why('CSAT_DSAT', 'a');
for await (const all of undertone.rows({ groupBy: 'SESSION', fields: ['duration'], dimensionFields: ['title'] })) {
  const title: string | null = all.dimensions.session.title;
  const duration: number | null = all.fields.duration;
  kept.push(title ?? '', duration ?? 0);
}
`;

describe('the client', () => {
  it('needs nothing but what browsers and workers have', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, 'src/doors/client/index.ts')],
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'client',
      // A module of Node would not be found.
      platform: 'neutral',
      target: 'es2022',
    });
    const requests: { url: string; body: string | null }[] = [];
    const answers: Record<string, () => Response> = {
      '/v1/ingest': () =>
        Response.json({ instanceId: 'i', sessionId: 's' }, { headers: { 'x-stream-position': '7' } }),
      '/v1/query': () => new Response('{"fields":{"messages":1}}\n{"fields":{"messages":2}}\n'),
    };
    const context = createContext({
      fetch: async (url: string, init: RequestInit) => {
        requests.push({ url, body: typeof init.body === 'string' ? init.body : null });
        return answers[new URL(url).pathname]?.() ?? Response.error();
      },
      // The globals of the Minimum Common Web Platform that it uses, and console.
      AbortController,
      clearTimeout,
      console,
      crypto,
      performance,
      setTimeout,
      TextDecoder,
      TextEncoder,
      URLSearchParams,
    });
    const use = `(async () => {
      const { Undertone } = client;
      const undertone = new Undertone({ url: 'http://undertone.test', key: 'k', instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10' });
      await undertone.session({ externalId: 'c-1' }).user('Hi');
      await undertone.session().user('Hi');
      const flushed = await undertone.close();
      const rows = [];
      for await (const row of undertone.rows({ groupBy: 'SESSION', fields: ['messages'] })) rows.push(row);
      return JSON.stringify({ flushed, rows });
    })()`;
    new Script(outputFiles[0]?.text ?? '').runInContext(context);
    const output = JSON.parse((await new Script(use).runInContext(context)) as string) as unknown;
    deepEqual(output, {
      flushed: { position: 7, lost: 0 },
      rows: [{ fields: { messages: 1 } }, { fields: { messages: 2 } }],
    });
    equal(requests.length, 3);
  });
});

describe('what npm packs of Undertone itself', () => {
  it('has the client, and nothing of tests, data or the environment', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
    ok(files.includes('dist/client'));
    for (const file of files)
      ok(
        !/^(?:\.|test|bench|data|dist$|shared|\.env$|\.cache|\.git)/.test(file) || file === '.env.example',
        file,
      );
  });
});
