/** Covered by test/web/registry/backup-ledger.test.ts. */
import type { Backup } from '../../domain/backups.ts';
import type { StreamConnection } from '../connection.ts';
import { openKeyValue, type KeyValueBucket } from '../kv/key-value.ts';
import { change, guard, guarded, type GuardedBucket } from './guarded-bucket.ts';

/** Bucket of backups, for ever: by id. */
const BACKUPS_BUCKET = 'backups';

/** Every backup that was begun, also on other machines. Each call throws AppError SERVICE_UNAVAILABLE. */
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

  /** Adds a backup; what is there already stays as it is. */
  async add(backup: Backup): Promise<void> {
    await this.#bucket.create(backup.id, JSON.stringify(backup));
  }

  /** Null: there is none of the id. */
  async find(id: string): Promise<Backup | null> {
    const entry = await this.#bucket.get(id);
    return entry === null ? null : (JSON.parse(entry.value) as Backup);
  }

  /** The newest first. */
  async list(): Promise<readonly Backup[]> {
    const backups = (await this.#bucket.list('*')).map((value) => JSON.parse(value) as Backup);
    return backups.sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Notes what a backup holds, once it is whole. */
  async finish(id: string, lastSequence: number): Promise<void> {
    await this.#change(id, (backup) => ({ ...backup, lastSequence }));
  }

  /** Notes that nobody can restore a backup any more; the first time stays. */
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
