/** The commands of the README and of the pages that it leads to, as they stand there, against a service started so. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startService, waitUntilReady } from '../src/doors/demo/service.ts';
import type { StartedService } from '../src/doors/demo/service.ts';
import { instanceListSchema } from '../src/contract/instances.ts';
import { firstKeyFile } from '../src/main/first-steps.ts';
import { queryResponseSchema } from '../src/query/response-schema.ts';
import type { QueryResponse } from '../src/query/response-schema.ts';
import { curlRequest, fencedBlocks, shapeOf, shellCommands } from './support/readme.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PAGES = ['README.md', 'docs/concepts.md', 'docs/queries.md', 'docs/commands.md', 'docs/import.md'];
const README = (await Promise.all(PAGES.map((page) => readFile(join(ROOT, page), 'utf8')))).join('\n');
const BLOCKS = fencedBlocks(README);
const SCRIPTS = (
  JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts;
/** Where the README says that the service is. */
const PRINTED_URL = 'http://127.0.0.1:8080';

/** The first block after a place in the text, of a language. */
function blockAfter(place: string, language: string): string {
  const line = README.slice(0, README.indexOf(place)).split('\n').length;
  ok(README.includes(place), `the README and its pages no longer say "${place}"`);
  const block = BLOCKS.find((candidate) => candidate.language === language && candidate.line >= line);
  ok(block, `no ${language} block after "${place}"`);
  return block.text;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

describe('the README on a running service', { timeout: 240_000 }, () => {
  let folder: string;
  let url: string;
  let env: NodeJS.ProcessEnv;
  let service: StartedService;
  const variables: Record<string, string> = {};

  before(async () => {
    match(blockAfter('# Undertone', 'sh'), /^npm ci && npm start$/);
    folder = await mkdtemp(join(tmpdir(), 'undertone-readme-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      ...process.env,
      PORT: String(port),
      NATS_PORT: String(await freePort()),
      DATA_DIR: join(folder, 'data'),
    };
    delete env['UT_KEY'];
    const logFile = join(folder, 'service.log');
    const script = SCRIPTS['start']?.replace(/^exec node /, '') ?? '';
    const keyFile = firstKeyFile(join(folder, 'data'));
    service = startService({ script, cwd: ROOT, env, logFile, keyFile });
    try {
      await waitUntilReady(url, 120_000, service.ended);
    } catch (error) {
      throw new Error(`${String(error)}\n${await readFile(logFile, 'utf8')}`, { cause: error });
    }
    // Left by the first start, after the service is up: it has no terminal here.
    const deadline = performance.now() + 10_000;
    while (service.key() === null && performance.now() < deadline) {
      await new Promise((done) => setTimeout(done, 50));
    }
    variables['KEY'] = service.key() ?? '';
    match(variables['KEY'], /^ut_test_/, 'the first start leaves a key');
  });

  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Commands of a block with the service's real address; settings such as `KEY=…` are left out. */
  function commandsOf(block: string): string[][] {
    return shellCommands(block.replaceAll(PRINTED_URL, url), variables).filter(
      (words) => !(words.length === 1 && /^[A-Z]+=/.test(words[0] ?? '')),
    );
  }

  async function send(words: readonly string[], status = 200): Promise<unknown> {
    const answer = await fetch(curlRequest(words));
    const body: unknown = await answer.json();
    equal(answer.status, status, JSON.stringify(body));
    return body;
  }

  /** Runs `npm run …` as its script says, in the test's folder. */
  async function runScript(words: readonly string[], extra: readonly string[] = []): Promise<string> {
    const settings = words.filter(
      (word, index) => /^[A-Z_]+=/.test(word) && !words.slice(0, index).includes('npm'),
    );
    const rest = words.slice(settings.length).filter((word) => word !== '--silent');
    const [, command = '', name = '', separator, ...args] = rest;
    equal(command, 'run');
    ok(separator === undefined || separator === '--');
    const [program, script = ''] = SCRIPTS[name]?.split(' ') ?? [];
    equal(program, 'node');
    const child = spawn(process.execPath, [join(ROOT, script), ...args, ...extra], {
      cwd: folder,
      env: { ...env, ...Object.fromEntries(settings.map((setting) => setting.split('=', 2))) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const status = await new Promise<number | null>((done, fail) => {
      child.once('error', fail);
      child.once('close', done);
    });
    equal(status, 0, `${words.join(' ')}:\n${output}`);
    return output;
  }

  it('takes the first conversation and answers the first query in the shape shown', async () => {
    const [ingest] = commandsOf(blockAfter('Send a conversation', 'sh'));
    ok(ingest);
    const ids = await send(ingest);
    deepEqual(shapeOf(ids), shapeOf(JSON.parse(blockAfter('Send a conversation', 'json'))));
    variables['INSTANCE'] = (ids as { instanceId: string }).instanceId;

    const [query] = commandsOf(blockAfter('A second later, ask what', 'sh'));
    ok(query);
    let answer: QueryResponse;
    const deadline = performance.now() + 20_000;
    do answer = queryResponseSchema.parse(await send(query));
    while (answer.elements.length === 0 && performance.now() < deadline);
    const printed = queryResponseSchema.parse(JSON.parse(blockAfter('A second later, ask what', 'json')));
    deepEqual(shapeOf(answer), shapeOf(printed));
    // The numbers shown are what comes out; the wording of a title may get better.
    deepEqual(answer.elements[0]?.fields, printed.elements[0]?.fields);
    equal(
      answer.elements[0]?.dimensions.session?.language,
      printed.elements[0]?.dimensions.session?.language,
    );
  });

  it('lists, makes and renames instances', async () => {
    const [list, make, rename] = commandsOf(blockAfter('You can list, create', 'sh'));
    ok(list && make && rename);
    await send(make, 201);
    await send(rename);
    const { elements } = instanceListSchema.parse(await send(list));
    deepEqual(elements.map(({ name }) => name).toSorted(), ['Shop', 'Web chat', 'default']);
  });

  it('imports the file shown, whole, with the command shown', async () => {
    await writeFile(join(folder, 'chats.jsonl'), blockAfter('## Our own format', 'jsonl'));
    const [, importing] = commandsOf(blockAfter('Try it on eight weeks', 'sh'));
    ok(importing);
    const output = await runScript(importing);
    match(output, /conversations 2 sent, 0 already there/);
    match(output, /messages {6}4 sent/);
    match(output, /end users {5}2/);
    match(output, /Everything is visible in queries\./);
    const again = await runScript(importing);
    match(again, /conversations 0 sent, 2 already there/);
  });

  it('runs the demo, and again without counting anything twice', async () => {
    const [demo] = commandsOf(blockAfter('Try it on eight weeks', 'sh'));
    ok(demo);
    const output = await runScript(demo);
    const instance = /Instance (\S+), key (\S+)/.exec(output);
    ok(instance, output);
    for (const title of [
      'Topics',
      'Topic clusters',
      'Satisfaction signals',
      'Gaps',
      'Repeated requests',
      'End users',
      'Latest sessions',
    ]) {
      match(output, new RegExp(`^${title}[^\\n]*\\n┌`, 'm'), `${title} has rows`);
    }
    variables['INSTANCE'] = instance[1] ?? '';
    variables['KEY'] = instance[2] ?? '';
    const count = async (): Promise<unknown> => {
      const total = shellCommands(
        `curl -sG ${url}/v1/query/ -H "x-api-key: $KEY" -d instanceId=$INSTANCE -d groupBy=END_USER -d ` +
          'fields=sessions,messages -d limit=10000',
        variables,
      )[0];
      const { elements } = queryResponseSchema.parse(await send(total ?? []));
      const sum = (field: 'sessions' | 'messages'): number =>
        elements.reduce((result, { fields }) => result + (fields[field] ?? 0), 0);
      return { users: elements.length, sessions: sum('sessions'), messages: sum('messages') };
    };
    const lines = (await readFile(join(ROOT, 'examples/demo/conversations.jsonl'), 'utf8'))
      .trim()
      .split('\n');
    const written = lines.map((line) => JSON.parse(line) as { user: string; turns: string[] });
    const expected = {
      users: new Set(written.map(({ user }) => user)).size,
      sessions: written.length,
      messages: written.reduce((sum, { turns }) => sum + turns.length, 0),
    };
    deepEqual(await count(), expected);
    const again = await runScript(demo);
    match(again, new RegExp(`Instance ${variables['INSTANCE']}, key`));
    deepEqual(await count(), expected);
  });

  it('answers every query of the cookbook with rows', async () => {
    const definition = /ask\(\) \{ (curl .*?) "\$@"; \}/.exec(
      blockAfter('# Queries to begin with', 'sh'),
    )?.[1];
    ok(definition);
    const queries = BLOCKS.filter(({ language, text }) => language === 'sh' && text.startsWith('ask -d'));
    const groupings = new Set<string>();
    for (const { text } of queries) {
      const [words] = commandsOf(text.replace(/^ask/, definition));
      ok(words);
      groupings.add(words.find((word) => word.startsWith('groupBy=')) ?? '');
      const answer = queryResponseSchema.parse(await send(words));
      ok(answer.elements.length > 0, `no rows: ${text}`);
    }
    equal(groupings.size, 8);
  });

  it('runs the registry commands', async () => {
    const [create, keys, instances] = commandsOf(blockAfter('# Commands', 'sh'));
    ok(create && keys && instances);
    match(await runScript(create), /^ut_test_[0-9A-Za-z]{32}$/m);
    match(await runScript(keys), /default/);
    match(await runScript(instances), new RegExp(variables['INSTANCE'] ?? 'none'));
  });
});
