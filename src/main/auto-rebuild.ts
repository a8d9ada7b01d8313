import { lockDataDirectory } from '../store/data-directory.ts';

/** False when another worker has begun one. */
export async function isRebuildWanted(dataDir: string): Promise<boolean> {
  try {
    (await lockDataDirectory(dataDir, { name: 'rebuild', taken: 'taken' })).release();
    return true;
  } catch {
    return false;
  }
}
