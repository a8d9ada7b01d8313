/** Checks values of unknown shape. */

export { isObject } from '../../domain/json-object.ts';

/** Returns a non-empty text, or a number as text; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
