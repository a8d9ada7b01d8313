/** Which number the placeholder of a personal value bears. Covered by test/web/ingest/masker.test.ts. */
import type { Registry } from '../registry/registry.ts';
import type { nameOfValue } from './mask-request.ts';

/** Where a request goes. */
export interface Addressed {
  readonly instanceId: string;
  readonly sessionId: string;
}

/** Numbers that values of a kind may have: two of a session share one in a million times. */
const NUMBERS = 999_999;

/**
 * It comes from the value's digest: the same in every request of the session, in every process and for ever, with nothing
 * stored.
 */
export function placeholderNumber(
  digest: Registry['maskDigest'],
  { kind, key }: Parameters<typeof nameOfValue>[0],
  { instanceId, sessionId }: Addressed,
): number {
  const bits = Buffer.from(digest(['value', instanceId, sessionId, kind, key]), 'base64url').readUIntBE(0, 6);
  return 1 + (bits % NUMBERS);
}
