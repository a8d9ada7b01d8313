/**
 * Files that a list in their folder names: a manifest, a journal. Whoever can change the list must not reach files
 * elsewhere. Covered by test/cli/backup-files.test.ts and test/doors/sink/sink.test.ts.
 */
import { realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** What a path must be, to be said of one that is not. */
export const PATH_BELOW_RULE =
  'must be a path below the folder: relative, with "/", without empty parts, "." and ".."';

/** Whether a path of a list names something below the list's folder, by its words alone. */
export function isPathBelow(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path) && path.split('/').every((part) => !['', '.', '..'].includes(part));
}

/** Whether a path, links followed, stays in a folder: as far as it is there. */
export function staysIn(folder: string, path: string): boolean {
  const root = realpathSync.native(folder);
  const real = realPathOf(join(folder, path));
  return real === root || real.startsWith(join(root, sep));
}

/** A listed file; a phrase says why it cannot be used: "is missing", "is no file", "leads out of the folder by a link". */
export function listedFile(folder: string, path: string): Stats | string {
  if (!isPathBelow(path)) return PATH_BELOW_RULE;
  const stats = statSync(join(folder, path), { throwIfNoEntry: false });
  if (stats === undefined) return 'is missing';
  if (!stats.isFile()) return 'is no file';
  return staysIn(folder, path) ? stats : 'leads out of the folder by a link';
}

/** Of the nearest folder above where nothing is. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENOTDIR'].includes(code) || dirname(path) === path) throw error;
    return realPathOf(dirname(path));
  }
}
