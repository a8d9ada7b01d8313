/**
 * Stores the audit log of each project by month, so that a page reads only the months it needs.
 *
 * Test: test/web/registry/audit-log.test.ts.
 */
import { v7 } from 'uuid';
import type { Audit, AuditRecord, AuditWindow } from '../../domain/audit.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../stream/kv/key-value.ts';
import { guard } from '../../stream/ledgers/guarded-bucket.ts';

/**
 * Bucket of records: `<project>.<month>.<record>`. For actions in ONCE, the action and the created id replace the
 * record.
 */
const AUDIT_BUCKET = 'audit';
/** Retention of a record. */
const KEPT_MS = 400 * 86_400_000;
/** Months that can hold records, including the current one. */
const MONTHS = 15;

/** Actions that create a resource with an id: a retry has the same id, and is logged once. */
const ONCE: ReadonlySet<string> = new Set([
  'CURATE',
  'CREATE_TOPIC',
  'CHECK',
  'CREATE_ALERT',
  'CREATE_INSTANCE',
  'ERASE',
]);

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
    // A retry of the same action writes the same key.
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

/** Returns `2026-11`, or the month `back` months earlier. */
function monthOf(now: Date, back: number): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
}
