import { v5 } from 'uuid';
import { nameOf } from './mapper.ts';

/** Named the space of the session ids that earlier versions of the importer derived. */
const EARLIER_NAMESPACE = '5b0b3f0e-7c1d-5f4e-9a57-0c6b4d2f8e11';

/**
 * What names a conversation's session, and is its id where the service issues none, or where callers derive it
 * themselves: a UUIDv5 in the namespace of its instance. Where the source is '' the name is the
 * conversation's id alone, as docs/concepts.md tells callers who have ids of their own; else it is source and id together.
 */
export function sessionIdOf(instanceId: string, source: string, id: string): string {
  return v5(source === '' ? id : nameOf(source, id), instanceId.toLowerCase());
}

/** Where earlier versions put the conversation: what they imported is continued there. */
export function earlierSessionIdsOf(instanceId: string, source: string, id: string): string[] {
  if (source === '') return [];
  const first = v5(nameOf(source, id), EARLIER_NAMESPACE);
  return [v5(first, v5(instanceId.toLowerCase(), EARLIER_NAMESPACE)), first];
}
