/**
 * Finds a usable nats-server, or fetches one.
 *
 * Test: test/stream/server/server.test.ts, test/stream/server/fetch.test.ts.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SetupError } from '../../errors.ts';
import { fetchServer } from './fetch.ts';
import type { FetchOptions } from './fetch.ts';
import { faultOfServerVersion, MINIMUM_SERVER_VERSION, versionOfServer } from './version.ts';
import type { ServerBinary } from './version.ts';

const run = promisify(execFile);

/** Places of packagers; they are not on every user's PATH. */
const USUAL_PLACES = ['/usr/sbin/nats-server', '/usr/local/bin/nats-server', '/opt/homebrew/bin/nats-server'];

export interface FindServerOptions extends FetchOptions {
  /** Places to look besides the cache. Default: the PATH and USUAL_PLACES. */
  readonly places?: readonly string[];
  /** False: never fetch. Default true. */
  readonly fetch?: boolean;
}

/**
 * Finds a nats-server of a usable version on the PATH, then in the cache; otherwise fetches one (Debian and Ubuntu:
 * through the machine's apt archive, which verifies signatures; macOS: brew). Throws SetupError with what was tried and
 * what to install.
 */
export async function findServer(options: FindServerOptions): Promise<ServerBinary> {
  const cached = join(options.cacheDir, 'nats-server');
  const unusable: string[] = [];
  const places = options.places ?? [...(await lookUpOnPath()), ...USUAL_PLACES];
  for (const file of [...places, cached]) {
    const version = await versionOfServer(file);
    if (version === null) continue;
    const fault = faultOfServerVersion(version);
    if (fault === null) return { file, version };
    unusable.push(`${file} is version ${version}, and ${fault}.`);
  }
  const reasons = unusable.length > 0 ? unusable : ['There is no nats-server on this machine.'];
  if (options.fetch !== false) {
    try {
      const fetched = await fetchServer(cached, options);
      if (fetched !== null) return fetched;
      reasons.push('There is neither apt-get nor brew to fetch one with.');
    } catch (error) {
      reasons.push(`None could be fetched: ${(error as Error).message}.`);
    }
  }
  throw new SetupError(
    `${reasons.join(' ')} Install nats-server ${MINIMUM_SERVER_VERSION} or newer so that it is on the PATH ` +
      '(https://nats.io/download has it for every platform), or set NATS_URL to a NATS server that runs elsewhere.',
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
