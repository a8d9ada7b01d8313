/**
 * Removes the rights of all users but the owner from a data directory and from the service's files in it. Files of
 * others are not touched.
 *
 * Test: test/store/closed-to-others.test.ts.
 */
import { chmodSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';

/** Names that the service uses at the top of a data directory. */
const OWN =
  /^(?:nats|views|status|tmp|compiled|first-key|demo\.(?:json|log)|[a-z-]+\.sock|restoring|backup-keys)$/;
/** Thousands of files without secrets: closing the folder is enough. */
const UNSEARCHED = 'compiled';
/** The system creates it on a disk of its own. */
const SYSTEM = 'lost+found';
/** Rights of the group and of everybody else. */
const OTHERS = 0o077;
const EVERYBODY_WRITES = 0o002;

/** Makes all later files of this process and its children accessible to the owner only, unless they set other modes. */
export function writeForOwnerOnly(): void {
  process.umask(OTHERS);
}

/**
 * Closes a data directory, and what the service keeps in it, to everybody but the owner. The directory itself stays
 * open if it holds other things or belongs to another user; the service's entries in it are closed all the same.
 *
 * @returns sentences for the operator; empty when nothing was open
 *
 * @throws SetupError when an entry of the service stays open because it belongs to another user
 */
export function closeToOthers(dataDir: string): string[] {
  const names = readdirSync(dataDir);
  const own = names.filter((name) => OWN.test(name));
  for (const name of own) closeOwn(join(dataDir, name), name !== UNSEARCHED);
  const before = statSync(dataDir).mode;
  if ((before & OTHERS) === 0) return [];
  const open = `The data directory ${dataDir} is open to other users (mode ${octal(before)})`;
  const foreign = names.filter((name) => !own.includes(name) && name !== SYSTEM);
  if (foreign.length > 0)
    return [
      `${open} and holds what is not Undertone's (${foreign.slice(0, 3).join(', ')}). Undertone's own files in it are ` +
        'closed to them. Set DATA_DIR to a directory of its own.',
    ];
  if (!close(dataDir, before))
    return (before & EVERYBODY_WRITES) === 0
      ? []
      : [`${open}, who may put other files into the place of its own: take the right to write from them.`];
  const after = statSync(dataDir).mode;
  if ((after & OTHERS) !== 0)
    return [
      `${open}, and its file system keeps no modes. Whoever can open the directory can read all messages.`,
    ];
  return [
    `The data directory ${dataDir} was open to other users (mode ${octal(before)}): it is closed to them now.`,
  ];
}

/** Closes a top-level entry and what is below it. The entry may be a link to another disk. */
function closeOwn(path: string, search: boolean): void {
  const found = ifReached(() => statSync(path));
  if (found === null) return;
  if ((found.mode & OTHERS) !== 0 && !close(path, found.mode))
    throw new SetupError(
      `${path} is open to other users (mode ${octal(found.mode)}) and belongs to another one, who alone can close it: ` +
        'chown -R it to the user of the service.',
    );
  if (found.isDirectory() && search) closeBelow(realpathSync(path));
}

/** Closes what it can. Files of other users below are out of reach behind the closed folder. */
function closeBelow(folder: string): void {
  for (const entry of ifReached(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    const mode = entry.isSymbolicLink() ? 0 : (ifReached(() => lstatSync(path))?.mode ?? 0);
    if ((mode & OTHERS) !== 0) close(path, mode);
    if (entry.isDirectory()) closeBelow(path);
  }
}

/** Returns false when the path belongs to another user. */
function close(path: string, mode: number): boolean {
  try {
    ifReached(() => chmodSync(path, mode & 0o777 & ~OTHERS));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return false;
    throw error;
  }
}

/** Returns null for a path that another process has deleted, or another user keeps closed. */
function ifReached<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES') return null;
    throw error;
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8);
}
