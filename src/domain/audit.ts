/** What is kept of who did what. It has types only, and no test of its own. */

/** What is kept of: what changes something, takes many rows along, or lets somebody in. */
export const AUDITED = [
  'SIGN_IN',
  'SIGN_OUT',
  'EXPORT',
  'EXPORT_SUBJECT',
  'CURATE',
  'CREATE_TOPIC',
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

/** Something that somebody did. */
export interface AuditRecord {
  /** UUIDv7: in the order of time. */
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly keyId: string;
  readonly action: AuditedAction;
  /** Null: it is about no single one. */
  readonly instanceId: string | null;
  /**
   * What was made, changed or deleted: a curation, topic, alert, instance, link or erasure. Of an export its grouping;
   * of that of an end user a keyed digest, which names nobody.
   */
  readonly target: string | null;
}

/** Which records are asked for. */
export interface AuditWindow {
  readonly limit: number;
  /** Only those before this record; null: from the newest on. */
  readonly before: string | null;
  /** Only those for which it holds. Default: all. */
  readonly shows?: (record: AuditRecord) => boolean;
}

/** Keeps what projects did. */
export interface Audit {
  /** Resolves when it is stored. Throws AppError SERVICE_UNAVAILABLE. */
  record(projectId: string, record: Omit<AuditRecord, 'id' | 'createdAt'>): Promise<void>;
  /** The newest first, those before a record's id; `more`: others lie behind. Throws AppError SERVICE_UNAVAILABLE. */
  page(
    projectId: string,
    window: AuditWindow,
  ): Promise<{ readonly records: readonly AuditRecord[]; readonly more: boolean }>;
}
