/**
 * Watches what a program and all that it starts does to the world: which addresses it reaches for, and which files it
 * writes. Linux only: strace reports the system calls.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The calls that reach for an address, and those that make, change or move a file. */
const CALLS = [
  'connect,sendto,sendmsg,sendmmsg',
  'open,openat,creat,mkdir,mkdirat,mknod,mknodat,truncate',
  'rename,renameat,renameat2,link,linkat,symlink,symlinkat',
].join(',');
/** Written by everybody, and kept by nobody. */
const DEVICES = /^\/(?:dev\/(?:null|tty|ptmx|pts\/\d+)|proc\/(?:self|\d+)(?:\/|$))/;
/** Whoever asks there asks for the address of a name, of whatever machine. */
const NAME_SERVICES = /sin6?_port=htons\((?:53|5353|5355)\)|\/resolve\/io\.systemd\.Resolve/;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.|::$|0\.0\.0\.0$)/;
const WRITING = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|TMPFILE)\b/;

/** strace; null where there is none and nobody demands one. Throws in CI, which installs it. */
export function findStrace(): string | null {
  const found = ['/usr/bin/strace', '/usr/local/bin/strace'].find((path) => existsSync(path)) ?? null;
  if (found === null && process.env['CI'] !== undefined)
    throw new Error('CI has no strace: .ci/run installs it');
  return found;
}

/**
 * The beginning of a command line that runs the rest of it in a network of its own, with a loopback and without any
 * route. Empty where the system lets nobody make one: what a program reaches for is seen there, too.
 */
export function withoutRoute(): readonly string[] {
  const unshare = ['unshare', ...(process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'])];
  const begun = [...unshare, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const [program = '', ...args] = [...begun, 'true'];
  return spawnSync(program, args).status === 0 ? begun : [];
}

export interface Watched {
  /** Resolves to the exit code, or the signal's name, once everything that was started has ended. */
  readonly ended: Promise<number | string>;
  readonly output: () => string;
  kill(signal: NodeJS.Signals): void;
}

export interface WatchOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** A new folder for what strace reports. */
  readonly reports: string;
}

/** Runs a command under strace. Its standard input is empty. */
export function watch({ command, cwd, env, reports }: WatchOptions): Watched {
  mkdirSync(reports, { recursive: true });
  const tracer = ['-D', '-ff', '--seccomp-bpf', '-qqq', '-y', '-s', '512', '-e', 'signal=none'];
  const args = [...tracer, '-e', `trace=${CALLS}`, '-o', join(reports, 'thread'), ...command];
  const child = spawn(findStrace() ?? 'strace', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  // The tracer holds the pipes, too: at their end all reports are written.
  const ended = new Promise<number | string>((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => settle(code ?? signal ?? ''));
  });
  return { ended, output: () => output, kill: (signal) => child.kill(signal) };
}

/** What a watched program did that stays on the machine of nobody, or out of the folders that it may write. */
export interface Trespass {
  readonly addresses: readonly string[];
  readonly files: readonly string[];
}

/** Reads what strace reported. `allowed`: folders; addresses of this machine are allowed, its name service is not. */
export function trespassOf(reports: string, allowed: readonly string[]): Trespass {
  const folders = allowed.map((folder) => `${realpathSync(folder)}/`);
  const addresses = new Set<string>();
  const files = new Set<string>();
  for (const file of globSync(join(reports, 'thread.*'))) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      for (const address of addressesOf(line)) addresses.add(address);
      for (const path of writtenBy(line)) {
        if (!DEVICES.test(path) && !folders.some((folder) => `${path}/`.startsWith(folder))) files.add(path);
      }
    }
  }
  return { addresses: [...addresses].toSorted(), files: [...files].toSorted() };
}

/** Addresses of other machines that a call reaches for; those of name services on this one, too. */
export function addressesOf(line: string): string[] {
  return [...line.matchAll(/\{sa_family=AF_(?:INET6?|UNIX)[^}]*\}/g)].flatMap(([address]) => {
    const [, host] = /inet_(?:addr|pton)\((?:AF_INET6?, )?"([^"]+)"/.exec(address) ?? [];
    const isElsewhere = host !== undefined && !LOOPBACK.test(host);
    return isElsewhere || NAME_SERVICES.test(address) ? [address] : [];
  });
}

/** Paths that a call makes, changes or moves; absolute, without links. */
export function writtenBy(line: string): string[] {
  const [, call = '', rest = ''] = /^(\w+)\((.*)$/.exec(line) ?? [];
  const opens = call === 'open' || call === 'openat';
  if (call === '' || / = -1 E/.test(rest) || (opens && !WRITING.test(rest))) return [];
  // `AT_FDCWD</folder>, "name"` or `31</folder>, "name"`; alone, a path is absolute or of the working directory.
  const paths = [...rest.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)].map(
    ([, folder = '/', name = '']) => resolve(folder, name),
  );
  // A link's first path is what it says.
  const written = call.startsWith('symlink') ? paths.slice(1) : paths;
  return /^(?:connect|send)/.test(call) ? [] : written.map(withoutLinks);
}

function withoutLinks(path: string): string {
  const folder = dirname(path);
  if (folder === path) return path;
  return join(existsSync(folder) ? realpathSync(folder) : withoutLinks(folder), basename(path));
}
