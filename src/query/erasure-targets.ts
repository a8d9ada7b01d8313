/**
 * Checks that the data to erase exists.
 *
 * Test: test/query/erasure-targets.test.ts.
 */
import type { ErasedKind } from '../domain/erasures.ts';
import { derivedId } from '../domain/ids.ts';
import { KINDS } from '../domain/kinds.ts';
import { AppError } from '../errors.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
import { InstanceReader, readInstanceRow, type InstanceReading } from './instance-reader.ts';

/** Finds the subjects of erasures in the processed data. */
export class ErasureTargets extends InstanceReader<Pick<InstanceReading, 'readerOf'>> {
  /**
   * The caller checks that the instance exists. Throws AppError NOT_FOUND for a session or an end user without
   * processed data, SERVICE_UNAVAILABLE while the views cannot be read.
   */
  async check(instanceId: string, kind: ErasedKind, name: string, caller = ''): Promise<void> {
    if (kind === 'INSTANCE') return;
    const isKnown = await this.options.readerOf(instanceId).read(async (snapshot) => {
      const row = await readInstanceRow(snapshot, instanceId);
      if (row === undefined) return false;
      const instance = row['instance'] as number;
      if (kind === 'MESSAGES') return hasMessages(snapshot, instance, name.split(',').map(Number));
      return kind === 'SESSION'
        ? hasSession(snapshot, instance, name)
        : hasEndUser(snapshot, instance, { id: derivedId(instanceId, 'end-user', name), name });
    }, caller);
    if (!isKnown) throw unknown(kind);
  }
}

async function hasSession(snapshot: Snapshot, instance: number, id: string): Promise<boolean> {
  const rows = await snapshot.all('select session from @session', {
    rows: { session: { table: 'session', equal: { instance }, and: 'id = $id::uuid' } },
    bindings: { id },
  });
  return rows.length > 0;
}

/** Returns true only if all messages exist. */
async function hasMessages(
  snapshot: Snapshot,
  instance: number,
  positions: readonly number[],
): Promise<boolean> {
  const and = `position in (${positions.join()})`;
  const rows = await snapshot.all('select position from @message where not gone', {
    rows: { message: { table: 'message_fact', equal: { instance, kind: KINDS.all }, and } },
  });
  return rows.length === positions.length;
}

/** An end user exists if they wrote a message or `metadata.users` mentions them. */
async function hasEndUser(
  snapshot: Snapshot,
  instance: number,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  const users = await snapshot.all('select end_user from @user', {
    rows: { user: { table: 'end_user', equal: { instance }, and: 'id = $id::uuid' } },
    bindings: { id },
  });
  if (users.length > 0) return true;
  const rows = await snapshot.all('select member from @metadata limit 1', {
    rows: {
      metadata: {
        table: 'record_metadata',
        equal: { instance },
        and: "record = 'user' and record_key = $name",
      },
    },
    bindings: { name },
  });
  return rows.length > 0;
}

const WHAT = { SESSION: 'session', END_USER: 'end user', MESSAGES: 'message, or of one of these,' } as const;

/** The error omits the id, because an end user's id may be a name. */
function unknown(kind: Exclude<ErasedKind, 'INSTANCE'>): AppError {
  const what = WHAT[kind];
  return new AppError(
    'NOT_FOUND',
    `Nothing of this ${what} is known in this instance, or nothing of it was counted yet: nothing is erased. If ` +
      'messages were only just sent, send their X-Stream-Position as X-Wait-For-Position.',
  );
}
