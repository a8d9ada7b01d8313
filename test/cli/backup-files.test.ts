import { deepEqual, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import {
  checkBackup,
  statePath,
  streamPath,
  writeManifest,
  type Manifest,
} from '../../src/cli/backup-files.ts';
import { SetupError } from '../../src/errors.ts';
import { temporaryDirectory } from '../support/fold.ts';

const SILENT = { begin: () => undefined, update: () => undefined, end: () => undefined };
const NO_KEYS = '/nowhere';
const STREAM = 'streams/CONVERSATIONS.entries';
const extent = { entries: 1, firstSequence: 1, lastSequence: 1 };

describe('the manifest of a backup', () => {
  const temporary = temporaryDirectory();
  after(() => temporary.remove());
  let folder: string;
  let made = 0;

  beforeEach(async () => {
    made += 1;
    folder = join(temporary.path, `backup ${made}`);
    for (const file of [streamPath('CONVERSATIONS'), statePath(0), statePath(1)].map((path) =>
      join(folder, path),
    )) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `the bytes of ${file}`);
    }
    await writeManifest(folder, {
      version: 1,
      createdAt: '2026-01-01T00:00:00.000Z',
      streams: [{ name: 'CONVERSATIONS', ...extent }],
      views: { shards: 2, sequences: [1, 1], definition: '' },
    });
  });

  function edit(change: (manifest: Manifest) => Partial<Manifest>): void {
    const file = join(folder, 'manifest.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    writeFileSync(file, JSON.stringify({ ...manifest, ...change(manifest) }));
  }
  const refuses = (reason: RegExp): Promise<void> =>
    rejects(
      checkBackup(folder, NO_KEYS, SILENT),
      (error) => error instanceof SetupError && reason.test(error.message),
    );

  it('is taken as it was written', async () => {
    const { manifest } = await checkBackup(folder, NO_KEYS, SILENT);
    deepEqual(
      manifest.files.map(({ path }) => path),
      [STREAM, 'views/0/state.duckdb', 'views/1/state.duckdb'],
    );
  });

  for (const unlisted of [STREAM, 'views/0/state.duckdb', 'views/1/state.duckdb'])
    it(`lists every file that is used: ${unlisted}`, async () => {
      writeFileSync(join(folder, unlisted), 'other bytes');
      edit(({ files }) => ({ files: files.filter(({ path }) => path !== unlisted) }));
      await refuses(new RegExp(`manifest\\.json does not list ${unlisted}`));
    });

  it('lists a file once', async () => {
    edit(({ files }) => ({ files: [...files, ...files.slice(0, 1)] }));
    await refuses(/lists streams\/CONVERSATIONS\.entries twice/);
  });

  it('tells of every shard', async () => {
    edit(({ views }) => ({ views: views === null ? null : { ...views, shards: 3 } }));
    await refuses(/manifest\.json cannot be read: .*shards/s);
  });

  const outside = [
    '../backup 1/manifest.json',
    '/etc/hostname',
    'views/../../x',
    '..',
    '',
    './views',
    'a//b',
    'a\\..\\b',
    'a\0b',
  ];
  for (const path of outside)
    it(`names nothing outside its folder: ${JSON.stringify(path)}`, async () => {
      edit(({ files }) => ({ files: [...files, { path, bytes: 0, sha256: '0'.repeat(64) }] }));
      await refuses(/manifest\.json cannot be read: .*below the folder/s);
    });

  it('leads nowhere else by a link, of a file or of a folder', async () => {
    const elsewhere = join(temporary.path, `elsewhere ${made}`);
    renameSync(join(folder, 'views'), elsewhere);
    symlinkSync(elsewhere, join(folder, 'views'));
    await refuses(/views\/0\/state\.duckdb leads out of the folder/);
    rmSync(join(folder, 'views'));
    renameSync(elsewhere, join(folder, 'views'));
    await checkBackup(folder, NO_KEYS, SILENT);
    renameSync(join(folder, STREAM), elsewhere);
    symlinkSync(elsewhere, join(folder, STREAM));
    await refuses(/CONVERSATIONS\.entries leads out of the folder/);
  });

  it('names files alone: no pipe, which would never end', async () => {
    rmSync(join(folder, STREAM));
    execFileSync('mkfifo', [join(folder, STREAM)]);
    await refuses(/CONVERSATIONS\.entries is no file/);
  });

  it('may lie behind a link itself', async () => {
    const link = join(temporary.path, `link ${made}`);
    symlinkSync(folder, link);
    await checkBackup(link, NO_KEYS, SILENT);
  });
});
