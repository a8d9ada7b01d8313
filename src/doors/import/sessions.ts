/**
 * Derives session ids from sources and ids; they are the same in every import.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import { v5 } from 'uuid';
import { nameOf } from './mapper.ts';

/** Namespace of the session ids that earlier versions derived. */
const EARLIER_NAMESPACE = '5b0b3f0e-7c1d-5f4e-9a57-0c6b4d2f8e11';

/**
 * Names a conversation's session by a UUIDv5 in the namespace of its instance. It is the session id where the service
 * issues none. With source '' the name is the id alone, as docs/concepts.md describes for callers with their own ids.
 */
export function sessionIdOf(instanceId: string, source: string, id: string): string {
  return v5(source === '' ? id : nameOf(source, id), instanceId.toLowerCase());
}

/** Session ids of earlier versions: their conversations are continued there. */
export function earlierSessionIdsOf(instanceId: string, source: string, id: string): string[] {
  if (source === '') return [];
  const first = v5(nameOf(source, id), EARLIER_NAMESPACE);
  return [v5(first, v5(instanceId.toLowerCase(), EARLIER_NAMESPACE)), first];
}
