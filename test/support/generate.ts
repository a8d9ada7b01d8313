/** `npm run generate`: writes what follows from declarations. Covered by test/generated.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { clientTypes } from './client-types.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The files, and what they should hold. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const path = join(ROOT, 'src/client/contract.ts');
  const options = await resolveConfig(path);
  return new Map([[path, await format(clientTypes(), { ...options, filepath: path })]]);
}

if (import.meta.main)
  for (const [path, text] of await generated())
    if (readFileSync(path, { encoding: 'utf8', flag: 'a+' }) !== text) writeFileSync(path, text);
