/**
 * Finds the row of an instance.
 *
 * Test: test/e2e/query-rules.test.ts.
 */
import type { Row } from '../store/duckdb.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';

/** Returns `instance` and `processed_at`; undefined until the first message of the instance is processed. */
export function readInstanceRow(snapshot: Snapshot, instanceId: string): Promise<Row | undefined> {
  return snapshot.cached(`instance ${instanceId}`, ['instance'], async () => {
    const rows = await snapshot.all('select instance, processed_at from @instance where id = $id::uuid', {
      bindings: { id: instanceId },
    });
    return rows[0];
  });
}
