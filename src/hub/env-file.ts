/** Variables in a file such as `.env`. */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { SetupError } from '../errors.ts';

/** A variable's value in the file; null when there is no file, or the variable is empty or not in it. */
export function readVariable(file: string, name: string): string | null {
  const value = existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))[name]?.trim() : undefined;
  return value === undefined || value === '' ? null : value;
}

/**
 * Sets a variable in the file, in place of its lines there, else at the end; all other lines stay as they are. Makes
 * the file (0600) when there is none. Throws SetupError when the value cannot stand in such a file.
 */
export function writeVariable(file: string, name: string, value: string): void {
  const line = `${name}=${/^[\w./@:+-]+$/.test(value) ? value : quotedValue(value)}`;
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const setting = new RegExp(`^(?:export[ \\t]+)?${name}[ \\t]*=.*$`);
  const lines = before === '' ? [] : before.replace(/\r?\n$/, '').split(/\r?\n/);
  const first = lines.findIndex((text) => setting.test(text));
  const after =
    first < 0
      ? [...lines, line]
      : lines.flatMap((text, index) => (index === first ? [line] : setting.test(text) ? [] : [text]));
  const written = `${file}.new`;
  writeFileSync(written, `${after.join('\n')}\n`, {
    mode: existsSync(file) ? statSync(file).mode & 0o777 : 0o600,
  });
  renameSync(written, file);
}

function quotedValue(value: string): string {
  const quote = ["'", '"', '`'].find((mark) => !value.includes(mark));
  if (quote === undefined || value.includes('\n'))
    throw new SetupError(`${value} cannot stand in an .env file.`);
  return `${quote}${value}${quote}`;
}
