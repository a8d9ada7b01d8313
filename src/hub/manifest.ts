/** What a pulled model says of itself: `pulled.json` in its folder. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isPathBelow, listedFile, PATH_BELOW_RULE } from '../domain/listed-file.ts';
import { readOptional } from '../turns/embed/model-files.ts';
import { digestOf } from './download.ts';

const FILE = 'pulled.json';

const manifestSchema = z.strictObject({
  /** Hub id. */
  id: z.string(),
  /** As it was asked for, and what it meant then. */
  revision: z.string(),
  commit: z.string(),
  licence: z.string().nullable(),
  dimensions: z.number().int().positive(),
  files: z.array(
    z.strictObject({
      path: z.string().refine(isPathBelow, PATH_BELOW_RULE),
      size: z.number(),
      sha256: z.string(),
    }),
  ),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Null for a folder that was not pulled. Throws SetupError when it is damaged. */
export function readManifest(folder: string): Manifest | null {
  return readOptional(join(folder, FILE), manifestSchema);
}

export function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Files that are not as they were when they were pulled, a phrase each. */
export async function damagesOf(folder: string, { files }: Manifest): Promise<string[]> {
  const damages: string[] = [];
  for (const { path, size, sha256 } of files) {
    const file = listedFile(folder, path);
    if (typeof file === 'string') damages.push(`${path} ${file}`);
    else if (file.size !== size) damages.push(`${path} has ${file.size} bytes instead of ${size}`);
    else if ((await digestOf(join(folder, path), createHash('sha256'))) !== sha256)
      damages.push(`${path} was changed`);
  }
  return damages;
}
