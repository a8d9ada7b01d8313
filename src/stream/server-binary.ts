import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  constants,
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
import { SetupError } from '../errors.ts';

const run = promisify(execFile);

/** The oldest nats-server that has what we use (stream compression, several filter subjects). */
export const MINIMUM_SERVER_VERSION = '2.10.0';

/** Debian suites that may carry a newer nats-server than the machine's own. */
const DEBIAN_SUITES = ['trixie', 'forky', 'sid'];
/** Where packagers put it; not every user has these on the PATH. */
const USUAL_PLACES = ['/usr/sbin/nats-server', '/usr/local/bin/nats-server', '/opt/homebrew/bin/nats-server'];
const KEYRINGS: Readonly<Record<string, string>> = {
  Debian: '/usr/share/keyrings/debian-archive-keyring.gpg',
  Ubuntu: '/usr/share/keyrings/ubuntu-archive-keyring.gpg',
};

export interface ServerBinary {
  /** Absolute path. */
  readonly file: string;
  /** Such as `2.15.1`. */
  readonly version: string;
}

export interface FindServerOptions {
  /** Where a fetched nats-server is kept; made when it is missing. */
  readonly cacheDir: string;
  /** Where to look besides the cache. Default: the PATH and where packagers put it. */
  readonly places?: readonly string[];
  /** False: only look, never fetch. Default true. */
  readonly fetch?: boolean;
  /** Told, in a sentence, what takes time. */
  readonly onProgress?: (sentence: string) => void;
}

/** Whether dotted version `version` is at least `minimum`. Anything after the third number is ignored. */
export function isVersionAtLeast(version: string, minimum: string): boolean {
  const [have, need] = [versionNumbers(version), versionNumbers(minimum)];
  for (let i = 0; i < 3; i++) {
    const difference = (have[i] ?? 0) - (need[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function versionNumbers(version: string): number[] {
  return (/(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []).slice(1).map((part) => Number(part ?? 0));
}

/**
 * Finds a nats-server of at least MINIMUM_SERVER_VERSION: on the PATH, then in the cache; else fetches one
 * (Debian and Ubuntu: through the machine's own apt archive, which verifies signatures; macOS: brew).
 * Throws SetupError saying what to install when there is none to be had.
 */
export async function findServer(options: FindServerOptions): Promise<ServerBinary> {
  const cached = join(options.cacheDir, 'nats-server');
  const tooOld: string[] = [];
  const places = options.places ?? [...(await lookUpOnPath()), ...USUAL_PLACES];
  for (const file of [...places, cached]) {
    const version = await versionOf(file);
    if (version === null) continue;
    if (isVersionAtLeast(version, MINIMUM_SERVER_VERSION)) return { file, version };
    tooOld.push(`${file} is ${version}`);
  }
  let reason = tooOld.length > 0 ? `${tooOld.join(', ')}, which is too old` : 'none was found';
  if (options.fetch !== false) {
    try {
      const fetched = await fetchServer(cached, options);
      if (fetched !== null) return fetched;
    } catch (error) {
      reason += `; fetching one failed: ${firstLine(error)}`;
    }
  }
  throw new SetupError(
    `nats-server ${MINIMUM_SERVER_VERSION} or newer is needed (${reason}). ` +
      'Install it so that it is on the PATH, or set NATS_URL to a NATS server that runs elsewhere.',
  );
}

async function lookUpOnPath(): Promise<string[]> {
  try {
    const { stdout } = await run('sh', ['-c', 'command -v nats-server']);
    return stdout.trim().startsWith('/') ? [stdout.trim()] : [];
  } catch {
    return [];
  }
}

/** The version that an executable reports; null when it is missing or does not run here. */
async function versionOf(file: string): Promise<string | null> {
  try {
    await access(file, constants.X_OK);
    const { stdout } = await run(file, ['--version'], { timeout: 10_000 });
    return /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

async function fetchServer(target: string, options: FindServerOptions): Promise<ServerBinary | null> {
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
  return run(command, ['--version']).then(
    () => true,
    () => false,
  );
}

async function fetchWithBrew(options: FindServerOptions): Promise<ServerBinary | null> {
  if (!(await isRunnable('brew'))) return null;
  options.onProgress?.('Installing nats-server with brew.');
  await run('brew', ['install', 'nats-server'], { timeout: 600_000 });
  const { stdout } = await run('brew', ['--prefix', 'nats-server']);
  const file = join(stdout.trim(), 'bin', 'nats-server');
  const version = await versionOf(file);
  return version === null ? null : { file, version };
}

/**
 * Downloads the package into a private folder and takes out the one executable; nothing is installed.
 * Several processes may do so at once: the executable reaches its place by rename.
 */
async function fetchWithApt(
  target: string,
  folder: string,
  options: FindServerOptions,
): Promise<ServerBinary> {
  const lists = join(folder, 'lists');
  const archives = join(folder, 'archives');
  await mkdir(join(lists, 'partial'), { recursive: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  const sources = join(folder, 'sources.list');
  await writeFile(sources, `${(await aptSources()).join('\n')}\n`);
  const settings = [
    `Dir::Etc::SourceList=${sources}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${lists}`,
    `Dir::Cache=${folder}`,
    `Dir::Cache::archives=${archives}`,
    'Acquire::Languages=none',
    'Acquire::Retries=1',
    'Acquire::http::Timeout=20',
    'APT::Sandbox::User=',
  ].flatMap((setting) => ['-o', setting]);
  options.onProgress?.("Fetching nats-server through this machine's apt archive (once).");

  let updateFault = '';
  try {
    await run('apt-get', [...settings, '-qq', 'update'], { timeout: 180_000 });
  } catch (error) {
    // One suite that the archive lacks fails the command; the others are still usable.
    updateFault = firstLine(error);
  }
  const { stdout } = await run('apt-cache', [...settings, 'madison', 'nats-server']);
  const versions = [...new Set(stdout.split('\n').map((line) => line.split('|')[1]?.trim() ?? ''))]
    .filter((version) => version !== '' && isVersionAtLeast(version, MINIMUM_SERVER_VERSION))
    .sort((a, b) => (isVersionAtLeast(a, b) ? -1 : 1));
  if (versions.length === 0) {
    throw new Error(`the apt archive offers none that is new enough${updateFault && ` (${updateFault})`}`);
  }
  let fault: unknown;
  for (const packageVersion of versions) {
    try {
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
      const version = executable === null ? null : await versionOf(executable);
      if (executable === null || version === null)
        throw new Error(`${packageVersion} does not run on this machine`);
      const staged = join(folder, 'nats-server');
      await cp(executable, staged);
      await chmod(staged, 0o755);
      await rename(staged, target);
      return { file: target, version };
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

async function findExecutable(unpacked: string): Promise<string | null> {
  for (const place of ['usr/sbin/nats-server', 'usr/bin/nats-server']) {
    const file = join(unpacked, place);
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return null;
}

/** `sources.list` lines for the distribution's own archive as this machine names it. */
async function aptSources(): Promise<string[]> {
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
  // The origin is only known for lists that were downloaded before; signatures decide for the others.
  const known = targets.filter((fields) => fields[3] === origin);
  const own =
    known.length > 0 ? known : targets.filter((fields) => fields[3] === '' || fields[3]?.startsWith('$('));
  if (own.length === 0) throw new Error(`apt has no ${origin} archive configured`);
  const keyring = KEYRINGS[origin];
  const signedBy =
    keyring !== undefined &&
    (await access(keyring).then(
      () => true,
      () => false,
    ))
      ? `[signed-by=${keyring}] `
      : '';
  const suites = own.map(([uri, suite]) => `${uri} ${suite}`);
  if (origin === 'Debian') {
    const main = own.find((fields) => /^[a-z]+$/.test(fields[1] ?? '')) ?? own[0];
    for (const suite of DEBIAN_SUITES) suites.push(`${main?.[0]} ${suite}`);
  }
  return [...new Set(suites)].map((suite) => `deb ${signedBy}${suite} ${component}`);
}

function firstLine(error: unknown): string {
  const stderr = (error as { stderr?: unknown }).stderr;
  const text =
    typeof stderr === 'string' && stderr.trim() !== '' ? stderr : String((error as Error).message ?? error);
  return text.trim().split('\n')[0] ?? '';
}
