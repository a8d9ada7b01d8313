/**
 * What leaves the machine, and what is left on it: nothing that nobody asked for. Skipped outside CI where there is no
 * strace, which says which addresses a program reaches for and which files it writes.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { findServer } from '../../src/stream/server/binary.ts';
import { addressesOf, findStrace, trespassOf, watch, withoutRoute, writtenBy } from '../support/watched.ts';
import type { WatchedRun } from '../support/watched-service.ts';

const ROOT = join(import.meta.dirname, '../..');
const skip =
  findStrace() === null ? 'there is no strace on this machine (Debian: apt-get install strace)' : false;
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The name of a machine that does not exist, an address that leads nowhere, and a file at home. */
const TELLING = `
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { writeFileSync } from 'node:fs';
await lookup('telemetry.invalid').catch(() => undefined);
await new Promise((done) => connect(9, '192.0.2.1').on('error', done).on('connect', done).setTimeout(100, done));
writeFileSync(process.env.HOME + '/device-id', '1');
writeFileSync(process.env.TMPDIR + '/notes', '1');
process.exit();
`;

describe('what a watched program did', () => {
  it('is read from the calls that it made', () => {
    const calls = {
      'connect(21<socket:[5]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16) = -1 ENETUNREACH (x)': 1,
      'sendto(3<socket:[5]>, "x", 1, 0, {sa_family=AF_INET6, sin6_port=htons(53), inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 1': 1,
      'connect(3<socket:[5]>, {sa_family=AF_UNIX, sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 42) = 0': 1,
      'connect(3<socket:[5]>, {sa_family=AF_INET6, sin6_port=htons(80), inet_pton(AF_INET6, "::ffff:127.0.0.1", &sin6_addr)}, 28) = 0': 0,
      'connect(3<socket:[5]>, {sa_family=AF_UNIX, sun_path="/data/start.sock"}, 19) = 0': 0,
      'sendto(3<socket:[5]>, "to 192.0.2.1", 12, 0, NULL, 0) = 12': 0,
    };
    for (const [line, found] of Object.entries(calls)) equal(addressesOf(line).length, found, line);
    const files = {
      'openat(AT_FDCWD</none/app>, "notes", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 3</none/app/notes>': [
        '/none/app/notes',
      ],
      'openat(31</none/home>, "id", O_RDWR) = 4</none/home/id>': ['/none/home/id'],
      'renameat2(AT_FDCWD</none>, "a", 5</none/to>, "b", RENAME_NOREPLACE) = 0': ['/none/a', '/none/to/b'],
      'mkdir("/none/folder", 0777) = 0': ['/none/folder'],
      'symlink("/etc/hosts", "/none/link") = 0': ['/none/link'],
      'openat(AT_FDCWD</none>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3</etc/hosts>': [],
      'openat(AT_FDCWD</none>, "/none/x", O_WRONLY) = -1 EACCES (Permission denied)': [],
      'connect(3<socket:[5]>, {sa_family=AF_UNIX, sun_path="/data/start.sock"}, 19) = 0': [],
    };
    for (const [line, found] of Object.entries(files)) deepEqual(writtenBy(line), found, line);
  });
});

describe('what leaves the machine', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-outside-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let runs: WatchedRun[] = [];

  before(async () => {
    // Fetched here, where there may be a network.
    await findServer({ cacheDir: join(ROOT, '.cache') });
    const [program = '', ...args] = [
      ...withoutRoute(),
      process.execPath,
      join(ROOT, 'test/support/watched-service.ts'),
      folder,
    ];
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    runs = (await json(child.stdout)) as WatchedRun[];
  });

  it('is seen', async () => {
    const own = join(folder, 'telling');
    for (const name of ['home', 'tmp']) mkdirSync(join(own, name), { recursive: true });
    const [home, temporary] = [join(own, 'home'), join(own, 'tmp')];
    const watched = watch({
      command: [...withoutRoute(), process.execPath, '--input-type=module', '--eval', TELLING],
      cwd: own,
      env: { PATH: process.env['PATH'], HOME: home, TMPDIR: temporary },
      reports: join(own, 'reports'),
    });
    equal(await watched.ended, 0, watched.output());
    const { addresses, files } = trespassOf(join(own, 'reports'), [temporary]);
    ok(
      addresses.some((address) => address.includes('htons(53)')),
      addresses.join(),
    );
    ok(
      addresses.some((address) => address.includes('192.0.2.1')),
      addresses.join(),
    );
    deepEqual(files, [join(home, 'device-id')]);
  });

  it('is nothing, and nothing is left outside its folders, by npm start and every command', () => {
    const commands = Object.keys(scripts).filter((name) => scripts[name]?.includes('node src/'));
    const missing = commands.filter((name) => !runs.some((run) => run.name === name));
    deepEqual(missing, []);
    for (const { name, code, output } of runs) equal(code, 0, `${name}: ${output}`);
    const seen = runs.filter(({ addresses, files }) => addresses.length + files.length > 0);
    deepEqual(
      seen.map(({ name, addresses, files }) => ({ name, addresses, files })),
      [],
    );
  });
});
