/**
 * Checks if an automatic rebuild may start.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { lockDataDirectory } from '../store/data-directory.ts';

/** Returns false while another process holds the lock of a rebuild, or of its part in one. */
export async function isRebuildWanted(
  dataDir: string,
  name: 'rebuild' | 'rebuild-part' = 'rebuild',
): Promise<boolean> {
  try {
    (await lockDataDirectory(dataDir, { name, taken: 'taken' })).release();
    return true;
  } catch {
    return false;
  }
}
