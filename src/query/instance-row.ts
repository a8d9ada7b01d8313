/** Covered by test/e2e/query-rules.test.ts. */
import type { Row } from '../store/duckdb.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';

/** What the views know of an instance: `instance` and `processed_at`; undefined before its first message counts. */
export function readInstanceRow(snapshot: Snapshot, instanceId: string): Promise<Row | undefined> {
  return snapshot.cached(`instance ${instanceId}`, ['instance'], async () => {
    const rows = await snapshot.all('select instance, processed_at from @instance where id = $id::uuid', {
      bindings: { id: instanceId },
    });
    return rows[0];
  });
}
