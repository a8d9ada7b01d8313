import { deepEqual, equal, rejects } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { destroyExpired, folderOfKey } from '../../../src/worker/backup/expiry.ts';
import {
  destroyKey,
  keyFile,
  keysFolder,
  keysIn,
  makeKey,
  readKey,
} from '../../../src/worker/backup/keys.ts';
import type { Backup } from '../../../src/domain/backups.ts';
import { BackupLedger } from '../../../src/stream/ledgers/backup-ledger.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';

const id = (number: number): string => `0192f0a0-0000-7000-8000-00000000000${number}`;
const day = (date: number): Date => new Date(Date.UTC(2026, 0, date));

describe('backups expire', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let bucket: MemoryBucket;
  let ledger: BackupLedger;
  let faults: unknown[];
  beforeEach(() => {
    temporary = temporaryDirectory();
    bucket = new MemoryBucket();
    ledger = new BackupLedger(bucket);
    faults = [];
  });
  afterEach(() => temporary.remove());

  /** Taken on the first of the month, with a key. */
  async function take(number: number, expires: number, folder = keysFolder(temporary.path)): Promise<Backup> {
    const about = {
      id: id(number),
      takenAt: day(1).toISOString(),
      expiresAt: day(expires).toISOString(),
      place: '/backups/a',
    };
    makeKey(folder, about);
    const backup = { ...about, lastSequence: 7, keysIn: folder, destroyedAt: null };
    await ledger.add(backup);
    return backup;
  }
  const look = (date: number): Promise<string[]> =>
    destroyExpired({ dataDir: temporary.path, ledger, onFault: (error) => faults.push(error) }, day(date));
  const destroyedAt = async (number: number) => (await ledger.find(id(number)))?.destroyedAt;

  it('on their day, wherever their keys were put', async () => {
    const elsewhere = join(temporary.path, 'elsewhere');
    const [first, second, third] = [await take(1, 8), await take(2, 9), await take(3, 8, elsewhere)];
    await ledger.add({ ...first, id: id(4), expiresAt: null, keysIn: null });
    deepEqual(await look(7), []);
    deepEqual(
      [first, second, third].map((backup) => folderOfKey(backup, temporary.path)),
      [keysFolder(temporary.path), keysFolder(temporary.path), elsewhere],
    );
    deepEqual(await look(8), [id(1), id(3)]);
    deepEqual([await destroyedAt(1), await destroyedAt(3)], [day(8).toISOString(), day(8).toISOString()]);
    deepEqual([await destroyedAt(2), await destroyedAt(4)], [null, null]);
    deepEqual([keysIn(keysFolder(temporary.path)), keysIn(elsewhere)], [[id(2)], []]);
    deepEqual([await look(8), folderOfKey(first, temporary.path)], [[], null]);
  });

  it('also while the ledger cannot be reached, which hears of it afterwards', async () => {
    await take(1, 8);
    const list = bucket.list.bind(bucket);
    bucket.list = () => Promise.reject(new Error('away'));
    await rejects(look(8), { code: 'SERVICE_UNAVAILABLE' });
    equal('key' in readKey(keysFolder(temporary.path), id(1))!, false);
    equal(await destroyedAt(1), null);
    bucket.list = list;
    deepEqual(await look(9), []);
    equal(await destroyedAt(1), day(8).toISOString());
    deepEqual(keysIn(keysFolder(temporary.path)), []);
  });

  it('also those that a restored ledger does not know', async () => {
    const known = await take(1, 8);
    await take(2, 5);
    ledger = new BackupLedger(new MemoryBucket());
    deepEqual(await look(6), [id(2)]);
    deepEqual(await ledger.find(id(1)), { ...known, lastSequence: null });
    equal(await destroyedAt(2), day(6).toISOString());
  });

  it('when somebody said so elsewhere, and a key that nobody finds is not taken for destroyed', async () => {
    await take(1, 8);
    await ledger.destroyed(id(1), day(3));
    deepEqual(await look(4), [id(1)]);
    equal(await destroyedAt(1), day(3).toISOString());
    await ledger.add({ ...(await take(2, 5)), id: id(3) });
    deepEqual(await look(6), [id(2)]);
    equal(await destroyedAt(3), null);
  });

  it('also a key that a crash left half overwritten, once the ledger says that it is due', async () => {
    await take(1, 8);
    await take(2, 8);
    writeFileSync(keyFile(keysFolder(temporary.path), id(1)), 'torn');
    deepEqual([await look(7), faults.length], [[], 1]);
    deepEqual((await look(9)).toSorted(), [id(1), id(2)]);
    equal(await destroyedAt(1), day(9).toISOString());
    deepEqual(keysIn(keysFolder(temporary.path)), []);
  });

  it('once, when a crash came between the key and the ledger', async () => {
    const { takenAt, expiresAt, place } = await take(1, 8);
    destroyKey(keysFolder(temporary.path), { id: id(1), takenAt, expiresAt: expiresAt!, place }, day(8));
    deepEqual(await look(9), []);
    equal(await destroyedAt(1), day(8).toISOString());
  });
});
