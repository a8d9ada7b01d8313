/**
 * Erases in a stream that was just restored, before any views exist. The entries are rewritten without the erased data.
 *
 * Test: test/cli/backup-keys.test.ts.
 */
import type { Erasure } from '../domain/erasures.ts';
import { count, type Progress } from '../domain/progress.ts';
import { eraseEntries } from '../worker/erasure/erase-entries.ts';
import { placeErasure } from '../worker/erasure/executor.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { readExtent } from '../stream/log/consumer.ts';
import { withRegistry } from './nats-access.ts';

/** Maximum instances named in a line. */
const NAMED = 5;
const NEVER = new AbortController().signal;

/**
 * Applies the erasures of a newer ledger that the restored one lacks, and those that were open. If any was applied, the
 * caller must not restore the views. Returns their number. Rejects when the server cannot be reached.
 */
export async function applyErasures(
  connection: StreamConnection,
  wanted: readonly Erasure[],
  progress: Pick<Progress, 'line'>,
): Promise<number> {
  const ledger = await ErasureLedger.open(connection);
  return withRegistry(connection, {}, async (registry) => {
    for (const erasure of wanted) await ledger.add(erasure);
    const open = (await ledger.list()).filter(({ state }) => state !== 'DONE').toReversed();
    if (open.length === 0) return 0;
    const { firstSequence, lastSequence } = await readExtent(connection);
    if (firstSequence > 1)
      progress.line(
        `The stream of this backup begins at entry ${count(firstSequence)}: views that are made anew do not count what ` +
          'was before. Restore without --erasures to keep these counts, and what was erased.',
      );
    const withoutTexts = [...(await (await Retentions.open(connection)).withoutTexts())].toSorted();
    if (withoutTexts.length > 0)
      progress.line(
        `Retention took texts from ${withoutTexts.length === 1 ? 'an instance' : `${count(withoutTexts.length)} instances`}, ` +
          `and views that are made anew do not have their topics, signals, gaps and repeated requests: ` +
          `${withoutTexts.slice(0, NAMED).join(', ')}${withoutTexts.length > NAMED ? ', …' : ''}. To keep these numbers, ` +
          'restore without --erasures, and run "npm run erase -- again FILE" before anybody asks.',
      );
    for (const each of open) {
      // All restored entries were sent before the erasure.
      const isPlaced = each.position > 0 && each.position <= lastSequence;
      const erasure = isPlaced ? each : await placeErasure(connection, ledger, each);
      const settings = { connection, ledger, digest: registry.erasureDigest, signal: NEVER };
      const receipt =
        each.redactedAt != null && each.receipt !== null
          ? each.receipt
          : await eraseEntries({ ...settings, confirm: () => Promise.resolve() }, erasure);
      const now = new Date().toISOString();
      await ledger.dropPlan(erasure);
      await ledger.change(erasure, { state: 'DONE', receipt, redactedAt: now, doneAt: now, fault: null });
      progress.line(
        `erasure ${erasure.id}: ${count(receipt.messages)} messages went from ${count(receipt.entries)} entries`,
      );
    }
    return open.length;
  });
}
