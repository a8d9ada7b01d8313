/**
 * What the readers of instances have in common: their options, the row of an instance, and how new it is. An answer comes
 * from one snapshot of the shard that holds its instance.
 *
 * Test: test/e2e/query-rules.test.ts.
 */
import { formatInstant } from '../domain/time.ts';
import type { Row } from '../store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../store/published/snapshot-reader.ts';

/** The options that all readers of an instance have. */
export interface InstanceReading {
  /** Returns the reader of the shard that holds an instance (UUID). */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read'>;
  /** When the active views began to answer, microseconds since 1970. Default: 0. */
  readonly answeringSince?: () => number;
}

export class InstanceReader<Options extends Pick<InstanceReading, 'readerOf'> = InstanceReading> {
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }
}

/** Returns `instance` and `processed_at`; undefined until the first message of the instance is processed. */
export function readInstanceRow(snapshot: Snapshot, instanceId: string): Promise<Row | undefined> {
  return snapshot.cached(`instance ${instanceId}`, ['instance'], async () => {
    const rows = await snapshot.all('select instance, processed_at from @instance where id = $id::uuid', {
      bindings: { id: instanceId },
    });
    return rows[0];
  });
}

/** Returns when the newest message was processed that the views of an instance contain: `lastProcessedAt` of answers. */
export function processedAt(row: Row, { answeringSince }: Pick<InstanceReading, 'answeringSince'>): string {
  return formatInstant(Math.max(row['processed_at'] as number, answeringSince?.() ?? 0));
}
