import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT_FOR_EVER, type Retention } from '../../../src/domain/retention.ts';
import { Retentions } from '../../../src/stream/ledgers/retentions.ts';
import { createDueLook, dueNow } from '../../../src/worker/erasure/due-retention.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';

const DAY = 86_400_000_000;
const NOON = Date.UTC(2026, 10, 28, 12) * 1000;
const PROJECT = '11111111-1111-4111-8111-111111111111';
const INSTANCE = '22222222-2222-4222-8222-222222222222';
const THIRTY: Retention = { ...KEPT_FOR_EVER, textDays: 30 };

/** A bucket that counts its lists. */
class CountedBucket extends MemoryBucket {
  lists = 0;

  override async list(pattern: string): Promise<string[]> {
    this.lists += 1;
    return super.list(pattern);
  }
}

function setUp() {
  const bucket = new CountedBucket();
  const retentions = new Retentions(bucket, async () => undefined);
  const all = [{ id: INSTANCE, projectId: PROJECT, createdAt: '2026-11-01T00:00:00Z' }];
  let listed = 0;
  const instances = async () => {
    listed += 1;
    return all;
  };
  const setProject = (retention: Retention) =>
    retentions.setOfProject({ projectId: PROJECT, retention, setAt: '2026-11-28T00:00:00Z' });
  const look = createDueLook(retentions, instances);
  return {
    retentions,
    instances,
    setProject,
    all,
    look,
    read: () => ({ lists: bucket.lists, instances: listed }),
  };
}

describe('due retention', () => {
  it('lists no instances while no project has days by which something goes', async () => {
    const { retentions, setProject, look, read } = setUp();
    equal(await look(NOON), false);
    await retentions.setRetention(INSTANCE, THIRTY);
    equal(await look(NOON), true);
    await setProject({ ...KEPT_FOR_EVER, keepAtLeastDays: 1 });
    equal(await look(NOON), true);
    equal(read().instances, 0);
  });

  it('takes no days that never held together', async () => {
    const { retentions, instances, setProject } = setUp();
    const years = { ...KEPT_FOR_EVER, textDays: 3650 };
    await setProject(THIRTY);
    await retentions.setRetention(INSTANCE, years);
    let isFirst = true;
    const changing = async () => {
      if (isFirst) {
        isFirst = false;
        await setProject(years);
        await retentions.setRetention(INSTANCE, null);
      }
      return instances();
    };
    const [run] = await dueNow(retentions, changing, NOON);
    equal(run?.cutoffs.texts, Math.floor(NOON / DAY) * DAY - 3650 * DAY);
  });

  it('reads nothing again until something is set or a day begins', async () => {
    const { retentions, instances, setProject, all, look, read } = setUp();
    await setProject(THIRTY);
    equal(await look(NOON), true);
    for (const run of await dueNow(retentions, instances, NOON))
      await retentions.put({ ...run, position: 1, doneAt: '2026-11-28T12:01:00Z' });
    equal(await look(NOON), false);
    const before = read();
    all.push({ id: PROJECT, projectId: PROJECT, createdAt: '2026-11-28T13:00:00Z' });
    for (let second = 0; second < 3600; second += 10) equal(await look(NOON + second * 1_000_000), false);
    deepEqual(read(), before);
    equal(await look(NOON + DAY / 2), true);
    equal(read().instances, before.instances + 1);
    const due = await dueNow(retentions, instances, NOON + DAY / 2);
    deepEqual(
      due.map(({ instanceId }) => instanceId),
      [INSTANCE, PROJECT],
    );
  });
});
