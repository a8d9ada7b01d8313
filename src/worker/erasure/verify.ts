/**
 * Verifies that nothing of an erasure remains. Changes nothing.
 *
 * Test: test/cli/erase.test.ts.
 */
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import { count } from '../../domain/progress.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { findErased } from './erase-entries.ts';
import { epochsBehind } from './executor.ts';

export interface VerifySettings {
  readonly connection: StreamConnection;
  readonly digest: ErasureDigest;
  readonly dataDir: string;
}

/** Returns a sentence for each place that still contains something; empty when nothing remains. */
export async function verifyErasure(settings: VerifySettings, erasure: Erasure): Promise<string[]> {
  const { dataDir } = settings;
  const { messages, entries, deadLetters } = await findErased(settings, erasure);
  const older = epochsBehind(dataDir, [erasure]);
  return [
    ...(erasure.state === 'DONE' ? [] : [`it is not done: ${erasure.state}`]),
    ...(entries === 0
      ? []
      : [`the stream holds ${count(messages)} messages of it in ${count(entries)} entries`]),
    ...(deadLetters === 0 ? [] : [`${count(deadLetters)} dead letters hold something of it`]),
    ...(older.length === 0 ? [] : [`views from before it are there: ${older.join(', ')}`]),
  ];
}
