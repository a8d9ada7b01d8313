/**
 * Makes the stream record of an erasure.
 *
 * Test: test/web/ingest/eraser.test.ts.
 */
import { v5 } from 'uuid';
import type { Erasure } from './erasures.ts';
import type { RecordedRequest } from './records.ts';

type Recorded = Pick<Erasure, 'id' | 'projectId' | 'instanceId' | 'kind' | 'digest' | 'requestedAt'>;

/** The record depends on the erasure alone, so a record that is published twice has one `requestId` and counts once. */
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
