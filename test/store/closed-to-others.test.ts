import { deepEqual, equal, match, throws } from 'node:assert/strict';
import fs, { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { SetupError } from '../../src/errors.ts';
import { closeToOthers } from '../../src/store/closed-to-others.ts';
import { temporaryDirectory } from '../support/fold.ts';

describe('a data directory that was open to others', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let dataDir: string;
  const mode = (path: string): string => (statSync(join(dataDir, path)).mode & 0o777).toString(8);
  const write = (path: string, open: number): void => {
    writeFileSync(join(dataDir, path), '');
    chmodSync(join(dataDir, path), open);
  };
  const folder = (path: string, open: number): void => {
    mkdirSync(join(dataDir, path), { recursive: true });
    chmodSync(join(dataDir, path), open);
  };

  beforeEach(() => {
    temporary = temporaryDirectory();
    dataDir = join(temporary.path, 'data');
    folder('', 0o755);
    folder('views', 0o755);
    folder('views/1', 0o775);
    write('views/1/newest-0-1.duckdb', 0o644);
    write('views/1/run', 0o755);
    folder('compiled', 0o755);
    write('compiled/code', 0o644);
    write('first-key', 0o600);
    write('demo.json', 0o664);
  });
  afterEach(() => {
    belongsToUs();
    temporary.remove();
  });

  it('is closed with all that is in it, and says so once', () => {
    deepEqual(closeToOthers(dataDir), [
      `The data directory ${dataDir} was open to other users (mode 755): it is closed to them now.`,
    ]);
    deepEqual(
      [
        '',
        'views',
        'views/1',
        'views/1/newest-0-1.duckdb',
        'views/1/run',
        'compiled',
        'first-key',
        'demo.json',
      ].map(mode),
      ['700', '700', '700', '600', '700', '700', '600', '600'],
    );
    // Thousands of files without a secret, behind a closed folder.
    equal(mode('compiled/code'), '644');
    deepEqual(closeToOthers(dataDir), []);
  });

  it('keeps what is not of the service as it is, and the directory with it', () => {
    folder('photos', 0o755);
    write('photos/cat', 0o644);
    const [concern = ''] = closeToOthers(dataDir);
    match(concern, /is open to other users \(mode 755\) and holds what is not Undertone's \(photos\)/);
    deepEqual(['', 'photos', 'photos/cat', 'views', 'views/1/newest-0-1.duckdb', 'demo.json'].map(mode), [
      '755',
      '755',
      '644',
      '700',
      '600',
      '600',
    ]);
  });

  it('is closed on the disk that a link of its own leads to, and follows no other link', () => {
    const disk = join(temporary.path, 'disk');
    for (const path of [disk, join(temporary.path, 'elsewhere')]) mkdirSync(path, { mode: 0o755 });
    writeFileSync(join(disk, 'block'), '', { mode: 0o644 });
    symlinkSync(disk, join(dataDir, 'nats'));
    symlinkSync(join(temporary.path, 'elsewhere'), join(dataDir, 'views/1/link'));
    closeToOthers(dataDir);
    deepEqual(['nats', 'nats/block', '../elsewhere'].map(mode), ['700', '600', '755']);
  });

  function belongsToUs(): void {
    mock.restoreAll();
    syncBuiltinESMExports();
  }

  /** From now on, changing the mode of these paths fails as it does for another user's. */
  function belongToAnother(...paths: readonly string[]): void {
    const foreign = new Set(paths.map((path) => join(dataDir, path)));
    const real = fs.chmodSync;
    mock.method(fs, 'chmodSync', (path: string, wanted: number) => {
      if (foreign.has(path)) throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
      real(path, wanted);
    });
    syncBuiltinESMExports();
  }

  it('may belong to another user, as the disks of containers do: what is in it is closed', () => {
    belongToAnother('');
    deepEqual(closeToOthers(dataDir), []);
    deepEqual(['', 'views', 'demo.json'].map(mode), ['755', '700', '600']);
    belongsToUs();
    chmodSync(dataDir, 0o777);
    belongToAnother('');
    match(closeToOthers(dataDir).join(), /mode 777\), who may put other files into the place of its own/);
  });

  it('is refused when something of the service would stay open, with what to do', () => {
    belongToAnother('views', 'views/1/run');
    throws(
      () => closeToOthers(dataDir),
      (error) =>
        error instanceof SetupError &&
        error.message.startsWith(`${join(dataDir, 'views')} is open to other users (mode 755)`) &&
        error.message.includes('chown -R'),
    );
    // Behind a closed folder, it is out of reach.
    belongsToUs();
    chmodSync(join(dataDir, 'views'), 0o700);
    belongToAnother('views', 'views/1/run');
    closeToOthers(dataDir);
    deepEqual(['views', 'views/1/run', 'views/1/newest-0-1.duckdb'].map(mode), ['700', '755', '600']);
  });

  it('is told of when its file system keeps no modes', () => {
    mock.method(fs, 'chmodSync', () => undefined);
    syncBuiltinESMExports();
    match(closeToOthers(dataDir).join(), /its file system keeps no modes/);
  });
});
