import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { shardDirectory, writeActiveEpoch } from '../../src/store/epochs/epochs.ts';
import { assignment, fact, openFixture, temporaryDirectory, uuid, type Fixture } from '../support/fold.ts';
import { end, runScript, type Running } from '../support/processes.ts';
import { parquetFiles, sinkOnce, writeTimes } from '../support/sink.ts';

const GIVE_UP_MS = 30_000;

/** `npm run sink` over the views of a data directory. */
describe('npm run sink', () => {
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  let fixture: Fixture;
  const running: Running[] = [];
  const sink = (...args: readonly string[]): Running => {
    const run = runScript('cli/sink.ts', args, { ...process.env, DATA_DIR: dataDir });
    running.push(run);
    return run;
  };

  before(async () => {
    const directory = shardDirectory(dataDir, 1, 0);
    mkdirSync(directory, { recursive: true });
    fixture = await openFixture({ directory });
    await fold(1);
    writeActiveEpoch(dataDir, { epoch: 1, shards: 1 });
  });
  after(async () => {
    // What a failed test left would keep this process waiting.
    await Promise.all(running.map((run) => end(run, 'SIGKILL')));
    await fixture.close();
    temporary.remove();
  });

  async function fold(number: number): Promise<void> {
    const session = { instance: 1, session: number, id: uuid(3, number), user: 1, title: null };
    await fixture.fold(
      assignment({
        messages: [fact({ position: number, session: number, user: 1 })],
        sessions: [{ ...session, summary: null, language: null, outcome: null }],
      }),
    );
    await fixture.publish();
  }

  it('writes once, and says what it wrote', async () => {
    // A mark of DuckDB's parameters, and of the names of our tables.
    const to = join(temporary.path, 'a@session $1');
    const run = sink('--to', to, '--once');
    equal(await run.ended, 0, run.output());
    match(
      run.output(),
      /wrote 3 rows to 3 files in [\d.]+ s, removed 0 files, 0 unchanged; processed up to 1970-/,
    );
    equal(parquetFiles(to).length, 3);
  });

  it('tries and writes again after the pause, ends when it is told to, and goes on where it was killed', async () => {
    const to = join(temporary.path, 'often');
    const [active, away] = [join(dataDir, 'views', 'ACTIVE'), join(dataDir, 'away')];
    renameSync(active, away);
    const first = sink('--to', to, '--every', '1s', '--tables', 'sessions,facts');
    await until(() => /^There are no views in .* The next run tries again\.$/m.test(first.output()));
    ok(!existsSync(to));
    const alone = sink('--to', to, '--once');
    equal(await alone.ended, 1);
    match(alone.output(), /^There are no views in .*: start the service, or set DATA_DIR\.\n$/);
    ok(!existsSync(to));
    renameSync(away, active);
    await until(() => existsSync(join(to, 'facts')));
    const other = sink('--to', to, '--once');
    equal(await other.ended, 1);
    match(other.output(), /^Another npm run sink writes to .*often: stop it, or choose another folder\.\n$/);
    const times = writeTimes(to);
    await fold(2);
    await until(() => [...writeTimes(to)].some(([file, at]) => times.get(file) !== at));
    first.process.kill('SIGKILL');
    await first.ended;
    writeFileSync(join(to, '_tmp', '1'), 'half a file');
    const second = sink('--to', to, '--every', '1h');
    await until(() => existsSync(join(to, 'end_users')) && second.output().includes('unchanged'));
    second.process.kill('SIGTERM');
    equal(await second.ended, 0, second.output());
    ok(!existsSync(join(to, '_tmp', '1')));
  });

  it('leaves everything as it was when the disk is full', async () => {
    const to = join(temporary.path, 'full');
    await sinkOnce(fixture.reader, to);
    const [times, manifest] = [writeTimes(to), readFileSync(join(to, '_manifest.json'), 'utf8')];
    await fold(3);
    // The kernel refuses what makes a file longer than a kilobyte, as a full disk would.
    const limited = 'ulimit -f 1; exec "$0" src/cli/sink.ts --to "$1" --once';
    const failed = spawnSync('bash', ['-c', limited, process.execPath, to], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    deepEqual([failed.status, failed.stdout], [1, '']);
    match(failed.stderr, /^The disk of .*full is full\. What was there is as it was\.\n$/);
    deepEqual([writeTimes(to), readFileSync(join(to, '_manifest.json'), 'utf8')], [times, manifest]);
    deepEqual(readdirSync(join(to, '_tmp')), []);
  });

  it('refuses what it does not understand, and a data directory without views', async () => {
    const none = join(temporary.path, 'none');
    const wrong = sink('--to', 'x', '--tables', 'topics,texts');
    const nothing = runScript('cli/sink.ts', ['--to', none, '--once'], { ...process.env, DATA_DIR: none });
    deepEqual(await Promise.all([wrong.ended, nothing.ended]), [2, 1]);
    match(wrong.output(), /^There is no table texts: --tables takes topic_clusters, topics/);
    match(nothing.output(), /^There are no views in .*: start the service, or set DATA_DIR\.\n$/);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  for (const deadline = performance.now() + GIVE_UP_MS; !isSo(); await sleep(20))
    if (performance.now() > deadline) throw new Error('it did not happen');
}
