/**
 * Fetches a nats-server with the package manager of the machine. The executable reaches its place by rename, so several
 * processes may fetch at once.
 *
 * Test: test/stream/server/fetch.test.ts.
 */
import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { faultOfServerVersion, isVersionAtLeast, versionOfServer } from './version.ts';
import type { ServerBinary } from './version.ts';

const run = promisify(execFile);

/** Debian's stable suite may have a newer nats-server than the suite of an older machine. */
const STABLE_SUITE = 'stable';
/** Used only when no stable suite has a usable version. */
const UNSTABLE_SUITES = ['testing', 'unstable'];
const KEYRINGS: Readonly<Record<string, string>> = {
  Debian: '/usr/share/keyrings/debian-archive-keyring.gpg',
  Ubuntu: '/usr/share/keyrings/ubuntu-archive-keyring.gpg',
};

/** Converts a promise to true, or to false if it rejects. */
const YES_OR_NO = [() => true, () => false] as const;

export interface FetchOptions {
  /** Folder for a fetched nats-server; created if missing. */
  readonly cacheDir: string;
  /** Receives a sentence about each slow step. */
  readonly onProgress?: (sentence: string) => void;
}

/**
 * Fetches a nats-server to `target` with apt, which verifies signatures, or with brew. Null if the machine has neither.
 * Throws an Error whose message continues "none could be fetched:".
 */
export async function fetchServer(target: string, options: FetchOptions): Promise<ServerBinary | null> {
  if (process.platform === 'darwin') return fetchWithBrew(options);
  if (process.platform !== 'linux' || !(await isRunnable('apt-get')) || !(await isRunnable('dpkg')))
    return null;
  await mkdir(options.cacheDir, { recursive: true });
  const folder = await mkdtemp(join(options.cacheDir, 'fetch-'));
  try {
    return await fetchWithApt(target, folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function isRunnable(command: string): Promise<boolean> {
  return run(command, ['--version']).then(...YES_OR_NO);
}

async function fetchWithBrew(options: FetchOptions): Promise<ServerBinary | null> {
  if (!(await isRunnable('brew'))) return null;
  options.onProgress?.('Installing nats-server with brew.');
  await run('brew', ['install', 'nats-server'], { timeout: 600_000 });
  const { stdout } = await run('brew', ['--prefix', 'nats-server']);
  const file = join(stdout.trim(), 'bin', 'nats-server');
  const version = await versionOfServer(file);
  return version === null ? null : { file, version };
}

/** Downloads the package into a private folder and extracts the executable; nothing is installed. */
async function fetchWithApt(target: string, folder: string, options: FetchOptions): Promise<ServerBinary> {
  options.onProgress?.("Fetching nats-server through this machine's apt archive (once).");
  const { stable, unstable } = await aptSources();
  const fetched = await fetchFrom(stable, target, folder);
  if (fetched !== null) return fetched;
  if (unstable.length > 0) {
    options.onProgress?.('No stable suite has a nats-server that is new enough: looking in the others.');
    const other = await fetchFrom([...stable, ...unstable], target, folder);
    if (other !== null) return other;
  }
  throw new Error('the package archive of this machine has none that is new enough');
}

/** Fetches the newest usable version from some suites; null if they have none. */
async function fetchFrom(
  sources: readonly string[],
  target: string,
  folder: string,
): Promise<ServerBinary | null> {
  const lists = join(folder, 'lists');
  const archives = join(folder, 'archives');
  await mkdir(join(lists, 'partial'), { recursive: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  const sourcesFile = join(folder, 'sources.list');
  await writeFile(sourcesFile, `${sources.join('\n')}\n`);
  const settings = [
    `Dir::Etc::SourceList=${sourcesFile}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${lists}`,
    `Dir::Cache=${folder}`,
    `Dir::Cache::archives=${archives}`,
    'Acquire::Languages=none',
    'Acquire::Retries=1',
    'Acquire::http::Timeout=20',
    'APT::Sandbox::User=',
  ].flatMap((setting) => ['-o', setting]);
  // A suite that the archive lacks fails the command; the others are still usable.
  await run('apt-get', [...settings, '-qq', 'update'], { timeout: 180_000 }).catch(() => undefined);
  if (!(await readdir(lists)).some((name) => name.includes('_Packages'))) {
    throw new Error('the package archive of this machine cannot be reached (is there a network?)');
  }
  const { stdout } = await run('apt-cache', [...settings, 'madison', 'nats-server']);
  const versions = [...new Set(stdout.split('\n').map((line) => line.split('|')[1]?.trim() ?? ''))]
    .filter((version) => version !== '' && faultOfServerVersion(version) === null)
    .sort((a, b) => (isVersionAtLeast(a, b) ? -1 : 1));
  let fault: unknown = null;
  for (const version of versions) {
    try {
      return await unpack(version, target, folder, settings);
    } catch (error) {
      fault = error;
    }
  }
  if (fault !== null) throw new Error(firstLine(fault));
  return null;
}

/** Downloads one version of the package and moves its executable to `target`. */
async function unpack(
  packageVersion: string,
  target: string,
  folder: string,
  settings: readonly string[],
): Promise<ServerBinary> {
  const archives = join(folder, 'archives');
  const unpacked = join(folder, 'unpacked');
  await rm(unpacked, { recursive: true, force: true });
  for (const name of await readdir(archives)) if (name.endsWith('.deb')) await rm(join(archives, name));
  await run('apt-get', [...settings, '-qq', 'download', `nats-server=${packageVersion}`], {
    cwd: archives,
    timeout: 180_000,
  });
  const archive = (await readdir(archives)).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error(`apt downloaded no package for ${packageVersion}`);
  await run('dpkg', ['-x', join(archives, archive), unpacked]);
  const executable = await findExecutable(unpacked);
  const version = executable === null ? null : await versionOfServer(executable);
  if (executable === null || version === null)
    throw new Error(`${packageVersion} does not run on this machine`);
  const staged = join(folder, 'nats-server');
  await cp(executable, staged);
  await chmod(staged, 0o755);
  await rename(staged, target);
  return { file: target, version };
}

async function findExecutable(unpacked: string): Promise<string | null> {
  for (const place of ['usr/sbin/nats-server', 'usr/bin/nats-server']) {
    const file = join(unpacked, place);
    if (await access(file).then(...YES_OR_NO)) return file;
  }
  return null;
}

/**
 * Returns `sources.list` lines for the distribution's own archive: the machine's suites and the stable one, and the
 * unstable suites.
 */
async function aptSources(): Promise<{ stable: string[]; unstable: string[] }> {
  const { stdout } = await run('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)',
    'Created-By: Packages',
  ]);
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const origin = /^ID=["']?ubuntu/m.test(release) ? 'Ubuntu' : 'Debian';
  const component = origin === 'Ubuntu' ? 'universe' : 'main';
  const targets = stdout
    .split('\n')
    .map((line) => line.split('|'))
    .filter((fields) => fields.length === 4 && fields[2] === component);
  // The origin is only known for lists that were downloaded before; for the others, signatures decide.
  const known = targets.filter((fields) => fields[3] === origin);
  const own =
    known.length > 0 ? known : targets.filter((fields) => fields[3] === '' || fields[3]?.startsWith('$('));
  if (own.length === 0) throw new Error(`apt has no ${origin} archive configured`);
  const keyring = KEYRINGS[origin];
  const signedBy =
    keyring !== undefined && (await access(keyring).then(...YES_OR_NO)) ? `[signed-by=${keyring}] ` : '';
  const linesOf = (suites: readonly (readonly [uri: string, suite: string])[]): string[] => [
    ...new Set(suites.map(([uri, suite]) => `deb ${signedBy}${uri} ${suite} ${component}`)),
  ];
  const suites = own.map(([uri = '', suite = '']) => [uri, suite] as const);
  if (origin === 'Ubuntu') return { stable: linesOf(suites), unstable: [] };
  // Updates have separate suites (`bookworm-updates`); the main suite is at the archive's root.
  const root = (suites.find(([, suite]) => /^[a-z]+$/.test(suite)) ?? suites[0])?.[0] ?? '';
  return {
    stable: linesOf([
      ...suites.filter(([, suite]) => suite !== 'sid' && !UNSTABLE_SUITES.includes(suite)),
      [root, STABLE_SUITE],
    ]),
    unstable: linesOf(UNSTABLE_SUITES.map((suite) => [root, suite])),
  };
}

function firstLine(error: unknown): string {
  const stderr = (error as { stderr?: unknown }).stderr;
  const text =
    typeof stderr === 'string' && stderr.trim() !== '' ? stderr : String((error as Error).message ?? error);
  return text.trim().split('\n')[0] ?? '';
}
