/** `npm run generate`: writes what follows from declarations. Covered by test/generated.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format, type FormatConfig } from 'oxfmt';
import { clientTypes } from './client-types.ts';
import { PARTS, withParts } from './document-tables.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** How files are laid out. */
const LAYOUT = JSON.parse(readFileSync(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig;

/** The files, and what they should hold. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const documents = Object.keys(PARTS).map((path): [string, string] => [
    path,
    withParts(path, readFileSync(join(ROOT, path), 'utf8')),
  ]);
  const files = [['src/doors/client/contract.ts', clientTypes()] as const, ...documents];
  return new Map(
    await Promise.all(
      files.map(async ([name, text]): Promise<[string, string]> => {
        const filepath = join(ROOT, name);
        const { code, errors } = await format(filepath, text, LAYOUT);
        if (errors.length > 0) throw new Error(`${name}: ${errors[0]!.message}`);
        return [filepath, code];
      }),
    ),
  );
}

if (import.meta.main) for (const [path, text] of await generated()) writeFileSync(path, text);
