/**
 * The ledger of all backups, on every machine. It records a backup when it begins, and keeps the record after the key
 * is destroyed.
 *
 * Test: test/stream/ledgers/backup-ledger.test.ts.
 */
import type { Backup } from '../../domain/backups.ts';
import type { StreamConnection } from '../connection.ts';
import { openKeyValue, type KeyValueBucket } from '../kv/key-value.ts';
import { change, guard, guarded, type GuardedBucket } from './guarded-bucket.ts';

/** Bucket of backups by id; entries never expire. */
const BACKUPS_BUCKET = 'backups';

/** All backups that were begun, also on other machines. Each call throws AppError SERVICE_UNAVAILABLE. */
export class BackupLedger {
  readonly #bucket: GuardedBucket & Pick<KeyValueBucket, 'list'>;

  constructor(bucket: KeyValueBucket) {
    this.#bucket = { ...guarded(bucket), list: (pattern) => guard(() => bucket.list(pattern)) };
  }

  static async open(
    connection: StreamConnection,
    { replicas }: { readonly replicas?: number } = {},
  ): Promise<BackupLedger> {
    const options = replicas === undefined ? {} : { replicas };
    return new BackupLedger(await openKeyValue(connection, BACKUPS_BUCKET, options));
  }

  /** Adds a backup; an existing record stays as it is. */
  async add(backup: Backup): Promise<void> {
    await this.#bucket.create(backup.id, JSON.stringify(backup));
  }

  /** Null if there is no backup with the id. */
  async find(id: string): Promise<Backup | null> {
    const entry = await this.#bucket.get(id);
    return entry === null ? null : (JSON.parse(entry.value) as Backup);
  }

  /** All backups, newest first. */
  async list(): Promise<readonly Backup[]> {
    const backups = (await this.#bucket.list('*')).map((value) => JSON.parse(value) as Backup);
    return backups.sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Records the last sequence of a backup once it is complete. */
  async finish(id: string, lastSequence: number): Promise<void> {
    await this.#change(id, (backup) => ({ ...backup, lastSequence }));
  }

  /** Records that a backup can no longer be restored; the first time stays. */
  async destroyed(id: string, at: Date): Promise<void> {
    const destroyedAt = at.toISOString();
    await this.#change(id, (backup) => (backup.destroyedAt === null ? { ...backup, destroyedAt } : null));
  }

  async #change(id: string, changed: (backup: Backup) => Backup | null): Promise<void> {
    await change(this.#bucket, id, ({ value }) => {
      const next = changed(JSON.parse(value) as Backup);
      return next === null ? null : JSON.stringify(next);
    });
  }
}
