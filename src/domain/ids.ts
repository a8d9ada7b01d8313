/**
 * UUIDs: their pattern, and ids derived from names.
 *
 * Test: test/web/ingest/request-body.test.ts, test/query/subject-reader.test.ts.
 */
import { v5 } from 'uuid';
import { lengthOf, MAX_EXTERNAL_ID_LENGTH } from './limits.ts';

/** Matches an RFC 9562 UUID of version 1 to 8 with variant 8, 9, a or b, the nil and the all-f UUID, in any case. */
export const UUID_PATTERN = new RegExp(
  '^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}' +
    '|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$',
  'i',
);

/** Returns a UUIDv5: always the same for the same instance, kind and name. */
export function derivedId(
  instanceId: string,
  kind:
    | 'end-user'
    | 'topic'
    | 'cluster'
    | 'signal'
    | 'repeated-request'
    | 'gap'
    | 'outcome'
    | 'gap-type'
    | 'writing'
    | 'reading',
  name: string,
): string {
  return v5(`${kind}:${name}`, instanceId);
}

/** Returns true for a valid external id of a session (`metadata.session.externalId`). */
export function isExternalId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && lengthOf(value) <= MAX_EXTERNAL_ID_LENGTH;
}
