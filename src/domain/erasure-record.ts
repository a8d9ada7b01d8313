/** The request by which an erasure is on the stream. Covered by test/web/ingest/eraser.test.ts. */
import { v5 } from 'uuid';
import type { Erasure } from './erasures.ts';
import type { RecordedRequest } from './records.ts';

/** What `erasureRecord` needs of an erasure. */
type Recorded = Pick<Erasure, 'id' | 'projectId' | 'instanceId' | 'kind' | 'digest' | 'requestedAt'>;

/**
 * Follows from the erasure alone: whoever publishes it again, publishes the same request, which counts once
 * (`requestId`).
 */
export function erasureRecord(erasure: Recorded): RecordedRequest {
  const { id, projectId, instanceId, kind, digest, requestedAt } = erasure;
  return {
    requestId: v5('request', id),
    projectId,
    instanceId,
    sessionId: '',
    acceptedAt: Date.parse(requestedAt) * 1000,
    messages: [],
    erasure: { id, kind, digest },
  };
}
