/**
 * Run by test/e2e/outside.test.ts, in a network without a route: starts the service as a newcomer does, runs every
 * command once, and prints what each of them reached for and wrote, as JSON.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isReady } from '../../src/doors/demo/service.ts';
import { freePort } from './nats.ts';
import { eventually } from './processes.ts';
import { trespassOf, watch, type Trespass, type Watched } from './watched.ts';

/** What was run, and what it did. */
export interface WatchedRun extends Trespass {
  readonly name: string;
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly output: string;
}

const ROOT = join(import.meta.dirname, '../..');
/** A library that reports its use does so some seconds after it was loaded; one did after nine. */
const REPORTED_AFTER_MS = 12_000;

const folder = process.argv[2] ?? '.';
const data = join(folder, 'data');
const temporary = join(folder, 'tmp');
const home = join(folder, 'home');
for (const path of [data, temporary, home]) mkdirSync(path);
const url = `http://127.0.0.1:${await freePort()}`;
const env: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  HOME: home,
  TMPDIR: temporary,
  // Notes of npm's own.
  npm_config_cache: join(temporary, 'npm'),
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(temporary, 'compiled'),
  DATA_DIR: data,
  PORT: new URL(url).port,
  NATS_PORT: String(await freePort()),
  EMBEDDING_MODEL: 'undertone-small',
};
const runs: WatchedRun[] = [];

function begin(name: string, words: readonly string[], more: NodeJS.ProcessEnv = {}): Watched {
  return watch({
    command: words,
    cwd: ROOT,
    env: { ...env, ...more },
    reports: join(folder, 'reports', name),
  });
}

async function finish(name: string, watched: Watched): Promise<string> {
  const code = await watched.ended;
  const output = watched.output();
  const allowed = [data, temporary, join(ROOT, '.cache')];
  runs.push({ name, code, output, ...trespassOf(join(folder, 'reports', name), allowed) });
  return output;
}

/** Runs a command of `npm run`. */
async function command(name: string, args: readonly string[], more?: NodeJS.ProcessEnv): Promise<string> {
  return finish(name, begin(name, [process.execPath, `src/cli/${name}.ts`, ...args], more));
}

const service = begin('start', ['npm', 'start']);
await eventually(
  () => isReady(url),
  () => service.output(),
);
const npm = begin('npm run', ['npm', 'run', '--silent', 'keys', '--', 'create', '--project', 'default']);
const [key = ''] = /ut_test_\w+/.exec(await finish('npm run', npm)) ?? [];
const access = { UT_KEY: key };
const chats = join(temporary, 'chats.jsonl');
writeFileSync(chats, '{"id": "c-1", "turns": [{"role": "user", "content": "Where is my parcel?"}]}\n');
const imported = await command('import', [chats, '--url', url], access);
const countedAt = performance.now();
const [, instance = ''] = /^instance +(\S{36})/m.exec(imported) ?? [];
await command('keys', ['list']);
await command('instances', ['list']);
// Its work needs an object store.
await command('cluster', ['--help']);
await command('dead-letters', ['list']);
const rows = ['--group-by', 'SESSION', '--instance', instance, '--format', 'parquet', '--url', url];
await command('export', [...rows, '--output', join(temporary, 'rows.parquet')], access);
await command('taxonomy', ['export', '--instance', instance, '--url', url], access);
await command('sink', ['--once', '--to', join(temporary, 'sink')]);
await command('sql', ['--instance', instance, '--query', 'select count(*) from sessions']);
await command('mcp', ['--url', url], access);
await command('models', ['list']);
await command('rebuild', []);
await command('retention', ['set', '--instance', instance, '--text-days', '90']);
await command('retention', ['show']);
await command('erase', ['everything', '--instance', instance]);
await command('backup', [join(temporary, 'backup')]);
await command('demo', ['--once', '--url', url]);
// What trains and measures models opens them on the thread that it begins on.
await finish(
  'opened model',
  begin('opened model', [process.execPath, join(import.meta.dirname, 'opened-model.ts')]),
);
await sleep(Math.max(0, REPORTED_AFTER_MS - (performance.now() - countedAt)));
service.kill('SIGTERM');
await finish('start', service);
await command('restore', [join(temporary, 'backup')], { DATA_DIR: join(temporary, 'restored') });
process.stdout.write(JSON.stringify(runs));
