/** Covered by test/store/closed-to-others.test.ts. */
import { chmodSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';

/** What the service keeps at the top of a data directory. Nothing else in it is touched. */
const OWN =
  /^(?:nats|views|status|tmp|compiled|first-key|demo\.(?:json|log)|[a-z-]+\.sock|restoring|backup-keys)$/;
/** Holds nothing that is secret, in thousands of files: to close the folder is enough. */
const UNSEARCHED = 'compiled';
/** Made by the system on a disk of its own. */
const SYSTEM = 'lost+found';
/** Rights of the group and of everybody else. */
const OTHERS = 0o077;
const EVERYBODY_WRITES = 0o002;

/** Whatever this process and its children write from now on is the owner's alone, unless they say otherwise. */
export function writeForOwnerOnly(): void {
  process.umask(OTHERS);
}

/**
 * Takes all rights on a data directory, and on what the service keeps in it, from everybody but the owner. A directory
 * that holds other things as well stays as it is, and so does one of another user: what the service keeps in it is
 * closed all the same.
 *
 * @returns what an operator should know, a sentence each; empty when nothing was open
 * @throws SetupError when something of the service stays open because it belongs to another user
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

/** Closes an entry of the top and what is below it; the entry itself may be a link to another disk. */
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

/** What belongs to others below is out of reach behind the closed folder above it. */
function closeBelow(folder: string): void {
  for (const entry of ifReached(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    const mode = entry.isSymbolicLink() ? 0 : (ifReached(() => lstatSync(path))?.mode ?? 0);
    if ((mode & OTHERS) !== 0) close(path, mode);
    if (entry.isDirectory()) closeBelow(path);
  }
}

/** False when it belongs to another user. */
function close(path: string, mode: number): boolean {
  try {
    ifReached(() => chmodSync(path, mode & 0o777 & ~OTHERS));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return false;
    throw error;
  }
}

/** Null for what another process has deleted meanwhile, and for what another user keeps to themselves. */
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
