/**
 * Placeholders for erased messages and requests. They keep the number of messages, so that stream positions hold.
 *
 * Test: test/worker/erasure/redaction.test.ts.
 */
import type { RecordedMessage, RecordedRequest } from './records.ts';

/** Replaces an erased message. */
export const ERASED_MESSAGE: RecordedMessage = { content: '', role: 'erased', at: 0, erased: true };

/** Returns a request without its content. Its id stays, so that a repetition is still recognized. */
export function erasedRequest(request: RecordedRequest): RecordedRequest {
  const { requestId, projectId, instanceId, acceptedAt, messages } = request;
  return {
    requestId,
    projectId,
    instanceId,
    sessionId: '',
    acceptedAt,
    messages: messages.map(() => ERASED_MESSAGE),
    erased: true,
  };
}
