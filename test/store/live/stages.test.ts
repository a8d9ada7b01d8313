import { ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assignment, fact, type Fixture } from '../../support/fold.ts';
import { openSaid } from '../../support/said-views.ts';

const BATCHES = 30;
const MEBIBYTE = 2 ** 20;

describe('stages', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openSaid();
  });
  after(() => fixture.close());

  it('give their memory back, however much goes through them', async () => {
    const value = new Uint8Array(2048).fill(7);
    const state = Array.from({ length: 512 }, (_, key) => ({ instance: 1, kind: 'micro', key, value }));
    for (let batch = 1; batch <= BATCHES; batch += 1) {
      const work = assignment({ messages: [fact({ position: batch * 100 })] });
      await fixture.fold(work, state);
    }
    // Before it, rows that were replaced still lie in memory.
    await fixture.store.connection.run('checkpoint st');
    const memory = await fixture.store.connection.one(
      `select memory_usage_bytes as bytes from duckdb_memory() where tag = 'IN_MEMORY_TABLE'`,
    );
    const bytes = memory?.['bytes'] as number;
    ok(bytes < (BATCHES * MEBIBYTE) / 3, `${Math.round(bytes / MEBIBYTE)} MiB`);
  });
});
