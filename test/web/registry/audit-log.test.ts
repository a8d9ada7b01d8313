import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AuditLog } from '../../../src/web/registry/audit-log.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';

const DAY_MS = 86_400_000;

describe('the record of who did what', () => {
  it('is read the newest first, page after page, over months, and each project has its own', async () => {
    let now = Date.UTC(2026, 0, 1);
    const log = new AuditLog(new MemoryBucket(), () => new Date(now));
    const done = (target: number) =>
      ({ keyId: 'k', action: 'CURATE', instanceId: null, target: String(target) }) as const;
    for (let number = 0; number < 40; number += 1) {
      await log.record('project', done(number));
      await log.record('other', done(-1));
      now += 3 * DAY_MS;
    }
    const found: string[] = [];
    for (let before: string | null = null, more = true; more;) {
      const page: Awaited<ReturnType<AuditLog['page']>> = await log.page('project', { limit: 7, before });
      found.push(...page.records.map(({ target }) => target ?? ''));
      before = page.records.at(-1)?.id ?? null;
      ({ more } = page);
    }
    deepEqual(
      found,
      Array.from({ length: 40 }, (_, index) => String(39 - index)),
    );
    equal((await log.page('nobody', { limit: 7, before: null })).records.length, 0);
  });

  it('tells those of one millisecond apart, and fails where nothing can be stored', async () => {
    const bucket = new MemoryBucket();
    const log = new AuditLog(bucket, () => new Date(0));
    const signIn = { keyId: 'k', action: 'SIGN_IN', instanceId: null, target: null } as const;
    for (let number = 0; number < 50; number += 1) await log.record('project', signIn);
    equal((await log.page('project', { limit: 100, before: null })).records.length, 50);
    bucket.broken = true;
    await rejects(log.record('project', signIn), { code: 'SERVICE_UNAVAILABLE' });
  });
});
