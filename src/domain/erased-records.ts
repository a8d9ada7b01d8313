/** What is left of what was erased: places, so that positions hold. Covered by test/worker/erasure/redaction.test.ts. */
import type { RecordedMessage, RecordedRequest } from './records.ts';

/** What stands at the place of a message that went. */
export const ERASED_MESSAGE: RecordedMessage = { content: '', role: 'erased', at: 0, erased: true };

/** A request of which nothing is left but its places, and its id, which guards against its repetition. */
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
