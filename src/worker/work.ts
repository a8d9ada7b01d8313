/**
 * Estimates the work of a batch before it runs.
 *
 * Test: test/worker/fair-share.test.ts.
 */
import { CURATION_MESSAGES } from '../domain/curations.ts';
import type { RecordedMessage, RecordedRequest } from '../domain/records.ts';

/** Characters (UTF-16 units) of a text beyond which reading costs no more. */
const READ_LENGTH = 2048;
/** Characters that cost as much as one empty message. */
const CHARACTERS = 16;

/** 1 for a message of one character, about 6 for a sentence, 129 for the longest. One unit takes .1 to .3 ms. */
export function workOfMessage({ content }: Pick<RecordedMessage, 'content'>): number {
  return 1 + Math.floor(Math.min(content.length, READ_LENGTH) / CHARACTERS);
}

/** The work of requests. A curation counts its estimate; other requests without messages count 1. */
export function workOf(requests: readonly RecordedRequest[]): number {
  let work = 0;
  for (const { messages, curation } of requests) {
    work += curation !== undefined ? (curation.messages ?? CURATION_MESSAGES) : messages.length === 0 ? 1 : 0;
    for (const message of messages) work += workOfMessage(message);
  }
  return work;
}
