import { AppError } from '../../errors.ts';
import { MAX_JSON_VALUES, MAX_NESTING } from '../../domain/limits.ts';
import { invalidRequest } from './validation.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON from UTF-8. What could harm code that walks or copies the value is refused: very many values,
 * great depth, members named `__proto__`.
 *
 * @throws AppError BAD_REQUEST, or VALIDATION_ERROR for the bounds
 */
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

/** A body that is not there at all. */
export function emptyBody(): AppError {
  return new AppError('BAD_REQUEST', 'The body is empty; send a JSON object.');
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/**
 * At least as many values as a JSON parser makes of these bytes before it ends or fails: every value but the
 * first comes after a comma or an opening bracket. Stops counting soon after `enough`.
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

/** `path` holds the members that lead to the value; it is as before when this returns. */
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
