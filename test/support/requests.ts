import { randomUUID } from 'node:crypto';
import type { RecordedRequest } from '../../src/domain/records.ts';

/** A recorded request with every field filled; a test states only what matters to it. */
export function recordedRequest(fields: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    requestId: randomUUID(),
    projectId: '00000000-0000-4000-8000-000000000001',
    instanceId: '00000000-0000-4000-8000-000000000002',
    sessionId: '00000000-0000-4000-8000-000000000003',
    acceptedAt: 1_700_000_000_000_000,
    messages: [{ content: 'Where is my parcel?', role: 'user', userId: 'ann', at: 1_700_000_000_000_000 }],
    ...fields,
  };
}

/** `count` instance ids of one partition's worth of variety: the same in every run. */
export function instanceIds(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`);
}
