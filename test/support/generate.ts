/** `npm run generate`: writes what follows from declarations. Covered by test/generated.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { clientTypes } from './client-types.ts';
import { PARTS, withParts } from './document-tables.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The files, and what they should hold. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const documents = Object.keys(PARTS).map((path): [string, string] => [
    path,
    withParts(path, readFileSync(join(ROOT, path), 'utf8')),
  ]);
  const files = [['src/client/contract.ts', clientTypes()] as const, ...documents];
  return new Map(
    await Promise.all(
      files.map(async ([name, text]): Promise<[string, string]> => {
        const filepath = join(ROOT, name);
        return [filepath, await format(text, { ...(await resolveConfig(filepath)), filepath })];
      }),
    ),
  );
}

if (import.meta.main) for (const [path, text] of await generated()) writeFileSync(path, text);
