/**
 * Bounds of what one request may bring. Each is answered as VALIDATION_ERROR with the place.
 *
 * Covered by test/web/ingest/request-body.test.ts.
 */

/** In one request, over all of its lines if it has several. */
export const MAX_REQUEST_MESSAGES = 10_000;

/**
 * Messages of one request, and their characters (UTF-16 units), that become visible together, whatever else waits; a
 * request of more may do so in parts. The importer relies on it: what it finds of a conversation ends where one of its
 * requests ends.
 */
export const MAX_WHOLE_MESSAGES = 500;
export const MAX_WHOLE_CHARACTERS = 200_000;
/** Of one call of a model that an exporter sends: the newest ones. */
export const MAX_CALL_MESSAGES = 10_000;
/** Of one POST /v1/ingest/batch/. */
export const MAX_BATCH_LINES = 1000;
/** Of one POST /v1/instances/{instanceId}/session-ids/. */
export const MAX_EXTERNAL_IDS = 1000;
/** Of an instance's name, characters. */
export const MAX_INSTANCE_NAME_LENGTH = 200;
/** Of a client's own name for a session, characters. */
export const MAX_EXTERNAL_ID_LENGTH = 255;
/** Of a message's `userId`, and of its `role`, bytes in UTF-8. */
export const MAX_LABEL_BYTES = 1024;
/** Of one message's `metadata`, and of the request's `metadata` in all, bytes as JSON without spaces, in UTF-8. */
export const MAX_METADATA_BYTES = 64 * 1024;
/** Objects and arrays within each other; the body is the first. */
export const MAX_NESTING = 64;
/** Values in one body: 10,000 messages may have 50 each. Bounds what parsing takes. */
export const MAX_JSON_VALUES = 500_000;

/** Characters of a text as its reader counts them: code points. */
export function lengthOf(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i += 1) if ((text.codePointAt(i) ?? 0) > 0xffff) pairs += 1;
  return text.length - pairs;
}

/** Of a project's default instance, whoever makes it: the first start, an import, a client or an exporter. */
export const DEFAULT_INSTANCE_NAME = 'default';
