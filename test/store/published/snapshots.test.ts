import { describe, it } from 'node:test';
import { deepEqual, ok } from 'node:assert/strict';
import { soakSnapshots } from '../../support/snapshot-soak.ts';

describe('snapshots beside a publishing writer', () => {
  it('never mix two generations, whatever is merged and removed meanwhile', async () => {
    const result = await soakSnapshots({
      seconds: 1,
      readers: 2,
      batch: 50,
      compactRows: 3_000,
      leastMerges: 2,
    });
    for (const { examples, wrong, failed } of result.readers)
      deepEqual({ wrong, failed, examples }, { wrong: 0, failed: 0, examples: [] });
    for (const { checks, generations } of result.readers) {
      ok(checks >= 3, `${checks} checks`);
      ok(generations >= 2, `${generations} generations`);
    }
    ok(result.merges >= 2, `${result.merges} merges`);
    ok(result.filesRemoved >= 3, `${result.filesRemoved} files removed`);
  });
});
