/**
 * The manifest of a pulled model, `pulled.json` in its folder, which verifies its files. A manipulated list reaches no
 * file outside of the folder.
 *
 * Test: test/doors/hub/pull.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../../domain/file-digest.ts';
import { isPathBelow, listedFile, PATH_BELOW_RULE } from '../../domain/listed-file.ts';
import { readOptional } from '../../reader/embedding/model-files.ts';

export const MANIFEST = 'pulled.json';

const path = z.string().refine(isPathBelow, PATH_BELOW_RULE);
const manifestSchema = z.strictObject({
  id: z.string(),
  /** The requested revision and its commit at that time. */
  revision: z.string(),
  commit: z.string(),
  licence: z.string().nullable(),
  dimensions: z.number().int().positive(),
  files: z.array(z.strictObject({ path, size: z.number(), sha256: z.string() })),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Reads the manifest; null for a folder that was not pulled. Throws SetupError when it is damaged. */
export function readManifest(folder: string): Manifest | null {
  return readOptional(join(folder, MANIFEST), manifestSchema);
}

/** Describes files that changed since they were pulled, a phrase each. */
export async function damagesOf(folder: string, { files }: Manifest): Promise<string[]> {
  const damages: string[] = [];
  for (const { path, size, sha256 } of files) {
    const file = listedFile(folder, path);
    if (typeof file === 'string') damages.push(`${path} ${file}`);
    else if (file.size !== size) damages.push(`${path} has ${file.size} bytes instead of ${size}`);
    else if ((await sha256Of(join(folder, path))) !== sha256) damages.push(`${path} was changed`);
  }
  return damages;
}
