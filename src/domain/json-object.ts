/** Tells the objects of JSON from its other values. Test: test/domain/usage.test.ts, test/stream/log/codec.test.ts. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
