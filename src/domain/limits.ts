/**
 * Limits of one request. A request beyond one fails with VALIDATION_ERROR and the place.
 *
 * Test: test/web/ingest/request-body.test.ts.
 */

/** Messages of one request, summed over its lines if it has several. */
export const MAX_REQUEST_MESSAGES = 10_000;

/**
 * A request of at most this many messages and characters (UTF-16 units) becomes visible at once; a longer one may do so
 * in parts. The importer relies on it: a partly imported conversation ends where one of its requests ends.
 */
export const MAX_WHOLE_MESSAGES = 500;
export const MAX_WHOLE_CHARACTERS = 200_000;
/** Messages of one model call from an exporter; the newest are kept. */
export const MAX_CALL_MESSAGES = 10_000;
/** Lines of one POST /v1/ingest/batch/. */
export const MAX_BATCH_LINES = 1000;
/** External ids of one POST /v1/instances/{instanceId}/session-ids/. */
export const MAX_EXTERNAL_IDS = 1000;
/** Length of an instance's name, characters. */
export const MAX_INSTANCE_NAME_LENGTH = 200;
/** Length of a session's external id, characters. */
export const MAX_EXTERNAL_ID_LENGTH = 255;
/** Length of a message's `userId` and of its `role`, bytes of UTF-8. */
export const MAX_LABEL_BYTES = 1024;
/** Size of one message's `metadata`, and of the request's `metadata` in all, as UTF-8 JSON without spaces. */
export const MAX_METADATA_BYTES = 64 * 1024;
/** Depth of nested objects and arrays; the body is the first. */
export const MAX_NESTING = 64;
/** Values in one body: 50 for each of 10,000 messages. Bounds the memory of parsing. */
export const MAX_JSON_VALUES = 500_000;

/** Returns the length in code points, which is what readers count. */
export function lengthOf(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i += 1) if ((text.codePointAt(i) ?? 0) > 0xffff) pairs += 1;
  return text.length - pairs;
}

/** Name of a project's default instance, whether the first start, an import, a client or an exporter makes it. */
export const DEFAULT_INSTANCE_NAME = 'default';
