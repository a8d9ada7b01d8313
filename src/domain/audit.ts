/**
 * The types of the audit log, which records who did what in a project.
 *
 * Test: test/web/registry/audit-log.test.ts.
 */

/** Actions that are logged: those that change something, export many rows, or sign somebody in or out. */
export const AUDITED = [
  'SIGN_IN',
  'SIGN_OUT',
  'EXPORT',
  'EXPORT_SUBJECT',
  'CURATE',
  'CREATE_TOPIC',
  'CHECK',
  'CREATE_ALERT',
  'DELETE_ALERT',
  'CREATE_INSTANCE',
  'CHANGE_INSTANCE',
  'SET_MASKING',
  'CREATE_LINK',
  'REVOKE_LINK',
  'ERASE',
  'SET_RETENTION',
] as const;
export type AuditedAction = (typeof AUDITED)[number];

export interface AuditRecord {
  /** UUIDv7, so ids sort by time. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly keyId: string;
  readonly action: AuditedAction;
  /** Null when the action concerns no single instance. */
  readonly instanceId: string | null;
  /**
   * The curation, topic, alert, instance, link or erasure that was made, changed or deleted. For an export its
   * grouping; for the export of an end user a keyed digest, which names nobody.
   */
  readonly target: string | null;
}

/** The page of records to return. */
export interface AuditWindow {
  readonly limit: number;
  /** Returns records older than this one only; null: starts with the newest. */
  readonly before: string | null;
  /** Returns records that pass this test only. Default: all. */
  readonly shows?: (record: AuditRecord) => boolean;
}

/** The audit logs of all projects. */
export interface Audit {
  /** Resolves once the record is stored. Throws AppError SERVICE_UNAVAILABLE. */
  record(projectId: string, record: Omit<AuditRecord, 'id' | 'createdAt'>): Promise<void>;
  /** Returns records newest first; `more`: older ones exist. Throws AppError SERVICE_UNAVAILABLE. */
  page(
    projectId: string,
    window: AuditWindow,
  ): Promise<{ readonly records: readonly AuditRecord[]; readonly more: boolean }>;
}
