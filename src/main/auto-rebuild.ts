/**
 * Checks if an automatic rebuild may start.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { lockDataDirectory } from '../store/data-directory.ts';

/** Returns false while another process holds the lock of a rebuild. */
export async function isRebuildWanted(dataDir: string): Promise<boolean> {
  try {
    (await lockDataDirectory(dataDir, { name: 'rebuild', taken: 'taken' })).release();
    return true;
  } catch {
    return false;
  }
}
