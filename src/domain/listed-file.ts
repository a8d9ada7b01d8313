/**
 * Opens files that a list in their folder names: a manifest or a journal. A listed path cannot reach a file outside of
 * the folder.
 *
 * Test: test/cli/backup-files.test.ts, test/doors/sink/sink.test.ts.
 */
import { realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The rule for listed paths, worded for errors. */
export const PATH_BELOW_RULE =
  'must be a path below the folder: relative, with "/", without empty parts, "." and ".."';

/** Checks the path's text alone: returns true if it stays below the list's folder. */
export function isPathBelow(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
}

/** Returns true if a path stays in the folder once links are followed. The path need not exist. */
export function staysIn(folder: string, path: string): boolean {
  const root = realpathSync.native(folder);
  const real = realPathOf(join(folder, path));
  return real === root || real.startsWith(join(root, sep));
}

/**
 * Returns the stats of a listed file, or the reason why it cannot be used: "is missing", "is no file", "leads out of
 * the folder by a link".
 */
export function listedFile(folder: string, path: string): Stats | string {
  if (!isPathBelow(path)) return PATH_BELOW_RULE;
  const stats = statSync(join(folder, path), { throwIfNoEntry: false });
  if (stats === undefined) return 'is missing';
  if (!stats.isFile()) return 'is no file';
  return staysIn(folder, path) ? stats : 'leads out of the folder by a link';
}

/** Resolves the nearest existing ancestor if the path does not exist. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENOTDIR'].includes(code) || dirname(path) === path) throw error;
    return realPathOf(dirname(path));
  }
}
