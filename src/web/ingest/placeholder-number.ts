/**
 * Numbers the placeholders of personal values.
 *
 * Test: test/web/ingest/masker.test.ts.
 */
import { createHmac } from 'node:crypto';
import type { PersonalValue } from '../../domain/placeholders.ts';
import type { Registry } from '../registry/registry.ts';

export interface Addressed {
  readonly instanceId: string;
  readonly sessionId: string;
}

/** Largest number: two values of a kind in a session share a number once in a million pairs. */
const NUMBERS = 999_999;
/** Length of a value's digest, base64url characters: 96 bits. */
export const VALUE_DIGEST = 16;

/** Returns a project's key for `valueDigest`. Threads may have it: it opens nothing of other projects. */
export function valueKey(digest: Registry['maskDigest'], projectId: string): string {
  return digest(['values', projectId]);
}

/** Digests a value without its session, which a span's door does not know. Equal for equal values of a project. */
export function valueDigest(valuesKey: string, { kind, key }: Pick<PersonalValue, 'kind' | 'key'>): string {
  return createHmac('sha256', valuesKey).update(`${kind} ${key}`).digest('base64url').slice(0, VALUE_DIGEST);
}

/**
 * Derives the number from the value's digest, so it is the same in every request of the session and in every process,
 * without storage. `value`: see `valueDigest`.
 */
export function placeholderNumber(
  digest: Registry['maskDigest'],
  value: string,
  { instanceId, sessionId }: Addressed,
): number {
  const bits = Buffer.from(digest(['number', instanceId, sessionId, value]), 'base64url').readUIntBE(0, 6);
  return 1 + (bits % NUMBERS);
}
