/** Covered by test/web/registry/audit-log.test.ts. */
import { v7 } from 'uuid';
import type { Audit, AuditRecord, AuditWindow } from '../../domain/audit.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../stream/kv/key-value.ts';
import { guard } from '../../stream/ledgers/guarded-bucket.ts';

/** Bucket of what was done: `<project>.<month>.<record>`, or the action and what it made in the place of the record. */
const AUDIT_BUCKET = 'audit';
/** So long a record is kept. */
const KEPT_MS = 400 * 86_400_000;
/** As many months as records are kept for, and the one that has begun. */
const MONTHS = 15;

/** What makes something that has an id. */
const ONCE: ReadonlySet<string> = new Set([
  'CURATE',
  'CREATE_TOPIC',
  'CREATE_ALERT',
  'CREATE_INSTANCE',
  'ERASE',
]);

/** What was done in each project, month by month, so that a page reads no more of them than it needs. */
export class AuditLog implements Audit {
  readonly #bucket: Pick<KeyValueBucket, 'create' | 'list'>;
  readonly #now: () => Date;

  constructor(bucket: Pick<KeyValueBucket, 'create' | 'list'>, now: () => Date) {
    this.#bucket = bucket;
    this.#now = now;
  }

  static async open(
    connection: StreamConnection,
    { replicas, now = () => new Date() }: { replicas?: number; now?: () => Date } = {},
  ): Promise<AuditLog> {
    const options = { ...(replicas === undefined ? {} : { replicas }), ttlMs: KEPT_MS };
    return new AuditLog(await openKeyValue(connection, AUDIT_BUCKET, options), now);
  }

  async record(projectId: string, done: Omit<AuditRecord, 'id' | 'createdAt'>): Promise<void> {
    const now = this.#now();
    const record: AuditRecord = {
      id: v7({ msecs: now.getTime() }),
      createdAt: now.toISOString(),
      ...done,
    };
    // What is asked for again is the same thing done.
    const own = ONCE.has(done.action) && done.target !== null ? `${done.action}-${done.target}` : record.id;
    const key = `${projectId}.${monthOf(now, 0)}.${own}`;
    await guard(() => this.#bucket.create(key, JSON.stringify(record)));
  }

  async page(
    projectId: string,
    { limit, before, shows = () => true }: AuditWindow,
  ): Promise<{ readonly records: readonly AuditRecord[]; readonly more: boolean }> {
    const found: AuditRecord[] = [];
    // A record's id begins with its time, in milliseconds.
    const newest =
      before === null ? this.#now() : new Date(Number.parseInt(before.replace('-', '').slice(0, 12), 16));
    for (let back = 0; back < MONTHS && found.length <= limit; back += 1) {
      const values = await guard(() => this.#bucket.list(`${projectId}.${monthOf(newest, back)}.*`));
      const records = values
        .map((value) => JSON.parse(value) as AuditRecord)
        .filter((record) => (before === null || record.id < before) && shows(record))
        .sort((one, other) => (one.id < other.id ? 1 : -1));
      found.push(...records);
    }
    return { records: found.slice(0, limit), more: found.length > limit };
  }
}

/** `2026-11`, or so many months before. */
function monthOf(now: Date, back: number): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
}
