import { deepEqual, equal, notDeepEqual } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { compareBuilds, faultsOf, type Comparison } from '../../../src/worker/rebuild/comparison.ts';
import { publishedTables } from '../../../src/store/view-files.ts';
import type { Snapshot } from '../../../src/store/published/snapshot-reader.ts';
import { definitionOf } from '../../../src/store/epochs/definition.ts';
import { openFixture, VIEWS, type Fixture } from '../../support/fold.ts';
import { SyntheticStream } from '../../support/synthetic-stream.ts';

const MESSAGES = 600;
const DEFINITION = definitionOf(VIEWS, 'model:m enrichment:e assignment:a');
const OTHER_MODEL = definitionOf(VIEWS, 'model:n enrichment:e assignment:a');

describe('digest', () => {
  let one: Fixture;
  let other: Fixture;
  let snapshots: Snapshot[] = [];
  before(async () => {
    one = await openFixture();
    other = await openFixture();
    await fill(one, [200, 200, 200], 1);
    await fill(other, [150, 150, 300], 1);
    snapshots = await Promise.all([one, other].map(snapshotOf));
  });
  after(async () => {
    for (const snapshot of snapshots) snapshot.release();
    await one?.close();
    await other?.close();
  });

  async function fill(fixture: Fixture, batches: readonly number[], seed: number): Promise<void> {
    const stream = new SyntheticStream({ messages: MESSAGES, days: 9, seed });
    for (const count of batches) await fixture.fold(stream.next(count));
    await fixture.publish();
  }

  async function snapshotOf(fixture: Fixture): Promise<Snapshot> {
    const snapshot = await fixture.reader.snapshot();
    if (snapshot === null) throw new Error('nothing is published');
    return snapshot;
  }

  function compared(liveDefinition: string, [live, rebuilt]: readonly Snapshot[]): Promise<Comparison> {
    return compareBuilds({
      pairs: [{ live: [live as Snapshot], rebuilt: [rebuilt as Snapshot] }],
      views: VIEWS,
      liveDefinition,
      rebuiltDefinition: DEFINITION,
    });
  }

  it('is the same for the same rows, however they were batched', async () => {
    const comparison = await compared(DEFINITION, snapshots);
    deepEqual(faultsOf(comparison), []);
    equal(comparison.tables.length, publishedTables(VIEWS).length);
    equal(comparison.instances, 1);
  });

  it('is another one when a single value differs, and says where', async () => {
    const changed = await openFixture();
    try {
      const stream = new SyntheticStream({ messages: MESSAGES, days: 9, seed: 1 });
      for (const count of [200, 200, 200]) {
        const work = stream.next(count);
        await changed.fold({
          ...work,
          sessions: work.sessions.map((row) => (row.session === 1 ? { ...row, title: 'another' } : row)),
        });
      }
      await changed.publish();
      const snapshot = await snapshotOf(changed);
      const comparison = await compared(DEFINITION, [snapshots[0] as Snapshot, snapshot]);
      snapshot.release();
      const [rows] = comparison.tables.filter(({ table }) => table === 'session');
      deepEqual(faultsOf(comparison), [
        `session: differs in 1 instance (${rows?.liveRows} rows live, ${rows?.liveRows} rebuilt)`,
      ]);
    } finally {
      await changed.close();
    }
  });

  it('finds other messages also where the model is another one', async () => {
    const third = await openFixture();
    try {
      await fill(third, [200, 200, 200], 2);
      const snapshot = await snapshotOf(third);
      const comparison = await compared(OTHER_MODEL, [snapshots[0] as Snapshot, snapshot]);
      snapshot.release();
      notDeepEqual(faultsOf(comparison), []);
      equal(
        comparison.tables.every(({ scope }) => scope === 'stream'),
        true,
      );
      const same = await compared(OTHER_MODEL, snapshots);
      deepEqual(faultsOf(same), []);
      equal(
        same.tables.some(({ table }) => table === 'topic'),
        false,
      );
      equal(
        same.notCompared.some(({ table }) => table === 'topic'),
        true,
      );
    } finally {
      await third.close();
    }
  });
});
