/**
 * Reads and writes variables in a file such as `.env`; other lines stay unchanged.
 *
 * Test: test/cli/env-file.test.ts.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { SetupError } from '../errors.ts';

/** Returns a variable's value; null if the file is missing, or the variable is empty or absent. */
export function readVariable(file: string, name: string): string | null {
  const value = existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))[name]?.trim() : undefined;
  return value === undefined || value === '' ? null : value;
}

/**
 * Sets a variable at the end of the file and removes its other lines. Creates the file (0600) if missing. Throws
 * SetupError if the value cannot be quoted.
 */
export function writeVariable(file: string, name: string, value: string): void {
  const quote = /^[\w./@:+-]+$/.test(value) ? '' : ["'", '"', '`'].find((mark) => !value.includes(mark));
  if (quote === undefined || value.includes('\n'))
    throw new SetupError(`${value} cannot stand in an .env file.`);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const others = before
    .replaceAll(new RegExp(`^(?:export[ \\t]+)?${name}[ \\t]*=.*(?:\\n|$)`, 'gm'), '')
    .replace(/[^\n]$/, '$&\n');
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600;
  writeFileSync(`${file}.new`, `${others}${name}=${quote}${value}${quote}\n`, { mode });
  renameSync(`${file}.new`, file);
}
