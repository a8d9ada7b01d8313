/**
 * Parses JSON bodies and refuses values that could harm code that walks or copies them: too many values, too much
 * depth, members named `__proto__`.
 *
 * Test: test/web/ingest/json.test.ts.
 */
import { AppError } from '../../errors.ts';
import { MAX_JSON_VALUES, MAX_NESTING } from '../../domain/limits.ts';
import { invalidRequest } from './validation.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON from UTF-8. Throws AppError BAD_REQUEST, or VALIDATION_ERROR for the limits. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw emptyBody();
  if (countValues(bytes, MAX_JSON_VALUES) > MAX_JSON_VALUES) {
    throw invalidRequest([{ path: '', message: `must not hold more than ${MAX_JSON_VALUES} values` }]);
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The body is not valid UTF-8.', { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The body is not valid JSON.', { cause });
  }
  checkShape(value, []);
  return value;
}

export function emptyBody(): AppError {
  return new AppError('BAD_REQUEST', 'The body is empty; send a JSON object.');
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/**
 * Returns an upper bound of the values that a JSON parser creates from these bytes: every value but the first follows a
 * comma or an opening bracket. Stops soon after `enough`.
 */
export function countValues(bytes: Uint8Array, enough: number): number {
  let count = 1;
  const { length } = bytes;
  for (let i = 0; i < length && count <= enough; i += 1) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i += 1;
      for (let inside = bytes[i]; i < length && inside !== QUOTE; inside = bytes[i]) {
        i += inside === BACKSLASH ? 2 : 1;
      }
    } else if (byte === COMMA || byte === BRACKET || byte === BRACE) {
      count += 1;
    }
  }
  return count;
}

/** `path` holds the members that lead to the value; it is restored on return. */
function checkShape(value: unknown, path: (string | number)[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= MAX_NESTING) {
    const message = `must not be nested more than ${MAX_NESTING} levels deep`;
    throw invalidRequest([{ path: path.join('.'), message }]);
  }
  const isArray = Array.isArray(value);
  for (const [name, member] of isArray ? value.entries() : Object.entries(value)) {
    if (name === '__proto__') {
      throw new AppError('BAD_REQUEST', 'The body has a member named __proto__, which is not allowed.');
    }
    if (typeof member !== 'object' || member === null) continue;
    path.push(name);
    checkShape(member, path);
    path.pop();
  }
}
