import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT_FOR_EVER, type RetentionRun } from '../../../src/domain/retention.ts';
import { Retentions } from '../../../src/stream/ledgers/retentions.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';

const ID = '11111111-1111-4111-8111-111111111111';
const RUN: RetentionRun = {
  instanceId: ID,
  cutoffs: { texts: 1, people: null, counts: null },
  former: { texts: null, people: null, counts: null },
  position: null,
  startedAt: '2026-11-28T00:00:00Z',
  doneAt: null,
  counts: { messages: 0, sessions: 0, texts: 0, people: 0 },
  entries: 0,
  lostTexts: false,
  fault: null,
};

describe('retentions', () => {
  it('are for ever until somebody says how long', async () => {
    const retentions = new Retentions(new MemoryBucket(), async () => undefined);
    deepEqual(await retentions.retentionOf(ID), null);
    deepEqual(await retentions.retained(), []);
    const retention = { ...KEPT_FOR_EVER, textDays: 30 };
    await retentions.setRetention(ID, retention);
    deepEqual(await retentions.retentionOf(ID), retention);
    deepEqual(await retentions.retained(), [{ instanceId: ID, retention }]);
    deepEqual([await retentions.find(ID), await retentions.list()], [null, []]);
    await retentions.setRetention(ID, null);
    await retentions.setRetention(ID, null);
    deepEqual([await retentions.retentionOf(ID), await retentions.retained()], [null, []]);
  });

  it('are of projects, too, beside those of instances', async () => {
    const retentions = new Retentions(new MemoryBucket(), async () => undefined);
    const setting = {
      projectId: ID,
      retention: { ...KEPT_FOR_EVER, textDays: 90 },
      setAt: '2026-11-28T00:00:00Z',
    };
    deepEqual([await retentions.ofProject(ID), await retentions.projects()], [null, []]);
    await retentions.setOfProject(setting);
    await retentions.put(RUN);
    await retentions.names(ID);
    deepEqual([await retentions.ofProject(ID), await retentions.projects()], [setting.retention, [setting]]);
    deepEqual(
      [await retentions.retentionOf(ID), await retentions.retained(), await retentions.list()],
      [null, [], [RUN]],
    );
    const before = await retentions.revision();
    await retentions.setOfProject({ ...setting, retention: KEPT_FOR_EVER });
    deepEqual([await retentions.ofProject(ID), await retentions.projects()], [null, []]);
    ok((await retentions.revision()) > before);
  });

  it('tell which instances have lost texts, or may be losing them', async () => {
    const retentions = new Retentions(new MemoryBucket(), async () => undefined);
    const has = async (run: Partial<RetentionRun>): Promise<boolean> => {
      await retentions.put({ ...RUN, ...run });
      return (await retentions.withoutTexts()).has(ID);
    };
    equal(await has({}), false);
    equal(await has({ position: 7 }), true);
    equal(await has({ position: 7, doneAt: '2026-11-28T00:01:00Z' }), false);
    equal(await has({ position: 7, doneAt: '2026-11-28T00:01:00Z', lostTexts: true }), true);
    equal(await has({ position: 7, cutoffs: { texts: null, people: 1, counts: null } }), false);
  });

  it('give the same name until it is forgotten how', async () => {
    const bucket = new MemoryBucket();
    const erased: number[] = [];
    const retentions = new Retentions(bucket, async (revision) => {
      erased.push(revision);
      bucket.values.delete(`${ID}.secret`);
    });
    const name = (await retentions.names(ID))('ana');
    match(name, /^nobody-[0-9a-f]{32}$/);
    const again = await retentions.names(ID);
    deepEqual([again('ana'), again(name)], [name, name]);
    notEqual(again('bo'), name);
    await retentions.forgetNames(ID);
    equal(erased.length, 1);
    notEqual((await retentions.names(ID))('ana'), name);
    await retentions.forgetNames(ID);
    await retentions.forgetNames(ID);
    equal(erased.length, 2);
  });
});
