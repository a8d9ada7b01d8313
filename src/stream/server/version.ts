/** Covered by test/stream/server/server.test.ts. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The oldest nats-server that has what we use (stream compression, several filter subjects). */
export const MINIMUM_SERVER_VERSION = '2.10.0';
/** The newest release line that our tests have run on. */
const NEWEST_TESTED = '2.15';
/** Another major version may change what we rely on. */
const FIRST_REFUSED = '3.0.0';

/** An executable of nats-server. */
export interface ServerBinary {
  /** Absolute path. */
  readonly file: string;
  /** Such as `2.15.1`. */
  readonly version: string;
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

/** Why a server of this version cannot be used, as the end of a sentence; null when it can. */
export function faultOfServerVersion(version: string): string | null {
  if (!isVersionAtLeast(version, MINIMUM_SERVER_VERSION))
    return `${MINIMUM_SERVER_VERSION} or newer is needed`;
  if (isVersionAtLeast(version, FIRST_REFUSED)) return `a version before ${FIRST_REFUSED} is needed`;
  return null;
}

/** A sentence for whoever runs a server that is newer than those that we tested; null for the others. */
export function concernAboutServer(version: string): string | null {
  const [major = 0, minor = 0] = versionNumbers(version);
  if (isVersionAtLeast(NEWEST_TESTED, `${major}.${minor}`)) return null;
  return `nats-server ${version} is newer than ${NEWEST_TESTED}, the newest that Undertone was tested with.`;
}

/** The version that an executable reports; null when it is missing or does not run here. */
export async function versionOfServer(file: string): Promise<string | null> {
  try {
    await access(file, constants.X_OK);
    const { stdout } = await run(file, ['--version'], { timeout: 10_000 });
    return /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
