/**
 * Entries of the stream of traces. Keeps the invariant that an entry is read as it was written, or throws. Test:
 * test/doors/traces/trace-intake.test.ts.
 */
import { decodePayload, DecodeError, type EncodedRequest } from '../../stream/log/codec.ts';
import type { Observation } from './observation.ts';

/** Spans of one request to the door, as they are on the stream of traces. */
export interface TraceEntry {
  readonly projectId: string;
  /** The instance of all, if the request named one. */
  readonly instanceId: string | null;
  /** The instance of those that name none. */
  readonly defaultInstanceId: string;
  /** Instances that the project does not have: what names one is left out. */
  readonly unknownInstanceIds: readonly string[];
  readonly observations: readonly Observation[];
}

/** `observations`: their JSON, a list. */
export function encodeTraceEntry(
  head: Omit<TraceEntry, 'observations'>,
  observations: Uint8Array,
): EncodedRequest {
  const { projectId, instanceId, defaultInstanceId, unknownInstanceIds } = head;
  const start = JSON.stringify({ projectId, instanceId, defaultInstanceId, unknownInstanceIds });
  return {
    projectId,
    instanceId: defaultInstanceId,
    parts: [Buffer.from(`${start.slice(0, -1)},"observations":`), observations, Buffer.from('}')],
  };
}

/** Those of one stream entry. Throws DecodeError for anything that no version of us wrote. */
export function decodeTraceEntries(bytes: Uint8Array): readonly TraceEntry[] {
  const value = decodePayload(bytes) as { readonly v?: unknown; readonly requests?: unknown } | null;
  if (value?.v !== 1 || !Array.isArray(value.requests)) {
    throw new DecodeError('the payload holds no traces of version 1');
  }
  return value.requests as readonly TraceEntry[];
}
