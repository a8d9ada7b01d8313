/**
 * The versions of nats-server that this service can use.
 *
 * Test: test/stream/server/server.test.ts.
 */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Oldest version with the features that we use (stream compression, several filter subjects). */
export const MINIMUM_SERVER_VERSION = '2.10.0';
/** Newest release line that the tests have run on. */
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

/** Returns true if dotted version `version` is at least `minimum`. Only the first three numbers count. */
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

/** Says why a version cannot be used, as the end of a sentence; null if it can. */
export function faultOfServerVersion(version: string): string | null {
  if (!isVersionAtLeast(version, MINIMUM_SERVER_VERSION))
    return `${MINIMUM_SERVER_VERSION} or newer is needed`;
  if (isVersionAtLeast(version, FIRST_REFUSED)) return `a version before ${FIRST_REFUSED} is needed`;
  return null;
}

/** A warning for the operator of a server newer than those tested; null for others. */
export function concernAboutServer(version: string): string | null {
  const [major = 0, minor = 0] = versionNumbers(version);
  if (isVersionAtLeast(NEWEST_TESTED, `${major}.${minor}`)) return null;
  return `nats-server ${version} is newer than ${NEWEST_TESTED}, the newest that Undertone was tested with.`;
}

/** The version that an executable reports; null if it is missing or does not run here. */
export async function versionOfServer(file: string): Promise<string | null> {
  try {
    await access(file, constants.X_OK);
    const { stdout } = await run(file, ['--version'], { timeout: 10_000 });
    return /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
