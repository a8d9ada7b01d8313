import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backupsHolding, isExpired, type Backup } from '../../../src/domain/backups.ts';
import { BackupLedger } from '../../../src/stream/ledgers/backup-ledger.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';

const day = (date: number): string => `2026-01-${String(date).padStart(2, '0')}T00:00:00.000Z`;

/** Taken on a day of January. */
function backup(date: number, changes: Partial<Backup> = {}): Backup {
  return {
    id: `0192f0a0-0000-7000-8000-0000000000${String(date).padStart(2, '0')}`,
    takenAt: day(date),
    lastSequence: null,
    expiresAt: day(date + 7),
    place: '/backups/a',
    keysIn: '/data/backup-keys',
    destroyedAt: null,
    ...changes,
  };
}

describe('the ledger of backups', () => {
  it('lists the newest first, and notes what becomes of each', async () => {
    const ledger = new BackupLedger(new MemoryBucket());
    const [one, two] = [backup(1), backup(2, { expiresAt: null, keysIn: null })];
    for (const each of [one, two]) await ledger.add(each);
    await ledger.add({ ...one, place: '/elsewhere' });
    deepEqual(await ledger.list(), [two, one]);
    await ledger.finish(one.id, 42);
    await ledger.destroyed(one.id, new Date(day(8)));
    await ledger.destroyed(one.id, new Date(day(9)));
    await ledger.destroyed(backup(5).id, new Date(day(9)));
    deepEqual(await ledger.find(one.id), { ...one, lastSequence: 42, destroyedAt: day(8) });
    equal(await ledger.find(backup(5).id), null);
  });

  it('says that it cannot be reached', async () => {
    const bucket = new MemoryBucket();
    bucket.broken = true;
    await rejects(new BackupLedger(bucket).add(backup(1)), { code: 'SERVICE_UNAVAILABLE' });
  });

  it('tells which backups hold what was erased', () => {
    const idsHolding = (doneAt: string | null, ...backups: Backup[]) =>
      backupsHolding({ doneAt }, backups).map(({ takenAt }) => takenAt);
    const all = [backup(3), backup(2, { destroyedAt: day(4) }), backup(1, { expiresAt: null })];
    deepEqual(idsHolding(null, ...all), [day(1), day(3)]);
    deepEqual(idsHolding(day(3), ...all), [day(1)]);
    deepEqual(idsHolding(day(1), ...all), []);
  });

  it('knows when one is to be destroyed', () => {
    equal(isExpired(backup(1), new Date(day(7))), false);
    equal(isExpired(backup(1), new Date(day(8))), true);
    equal(isExpired(backup(1, { expiresAt: null }), new Date(day(28))), false);
  });
});
