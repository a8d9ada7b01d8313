/**
 * Builds `undertone/client` into dist/client: JavaScript and its types, and a package.json, so that the folder is a
 * package by itself, without dependencies. Runs after `npm ci` and before `npm pack` (`prepare`). Without TypeScript, as
 * after `npm ci --omit=dev`, there is nothing to do: the service does not use what is built here.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Builds into a folder, which is emptied before. Answers the exit code. */
export function buildClient(folder) {
  rmSync(folder, { recursive: true, force: true });
  const options = ['--project', join(ROOT, 'src/doors/client'), '--outDir', folder];
  const { status } = spawnSync(process.execPath, [TSC, ...options], { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  const { name, version, license, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const manifest = {
    name,
    version,
    description: 'The client of Undertone, self-hosted conversation analytics.',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: { './client': { types: './index.d.ts', default: './index.js' } },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  return 0;
}

const isCommand = realpathSync(process.argv[1] ?? '.') === fileURLToPath(import.meta.url);
// An image may install before it has the sources.
if (isCommand && existsSync(TSC) && existsSync(join(ROOT, 'src/doors/client')))
  process.exitCode = buildClient(join(ROOT, 'dist/client'));
