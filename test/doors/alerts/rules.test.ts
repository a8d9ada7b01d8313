import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepWatching } from '../../../src/doors/alerts/keep-watching.ts';
import { MOST_RULES, type NewRule } from '../../../src/doors/alerts/rule.ts';
import { Rules } from '../../../src/doors/alerts/rules.ts';
import type { KeyValueWatch } from '../../../src/stream/kv/key-value.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { COUNT, INSTANCE, NOW } from './builders.ts';

const WANTED: NewRule = {
  instanceId: INSTANCE,
  name: 'Many cancellations',
  condition: COUNT,
  delivery: { url: 'https://example.com/hook', format: 'undertone', quotes: false },
};

describe('alerts', () => {
  it('are kept with a secret of their own', async () => {
    const rules = new Rules(new MemoryBucket());
    const [first, second] = [await rules.create(WANTED, NOW), await rules.create(WANTED, NOW + 1)];
    deepEqual(await rules.list(INSTANCE), [first, second]);
    match(first.delivery.secret, /^whsec_/);
    notEqual(first.delivery.secret, second.delivery.secret);
    notEqual(first.id, second.id);
    deepEqual(await rules.find(INSTANCE, second.id), second);
    deepEqual(await rules.list('another'), []);
  });

  it('are made once for a key, which stands for one body', async () => {
    const rules = new Rules(new MemoryBucket());
    const key = { seed: 'key', bodyDigest: 'body' };
    const made = await rules.create(WANTED, NOW, key);
    deepEqual(await rules.create(WANTED, NOW + 5, key), made);
    await rejects(rules.create(WANTED, NOW, { ...key, bodyDigest: 'another' }), { code: 'CONFLICT' });
    equal((await rules.list(INSTANCE)).length, 1);
  });

  it('keep their time zone, and are of UTC where they were made before they had one', async () => {
    const bucket = new MemoryBucket();
    const rules = new Rules(bucket);
    await rules.create({ ...WANTED, timeZone: 'Europe/Berlin' }, NOW);
    const { timeZone: _, ...old } = await rules.create(WANTED, NOW);
    const [berlin] = await rules.list(INSTANCE);
    await bucket.put(INSTANCE, JSON.stringify({ rules: [berlin, old] }));
    const zones = ['Europe/Berlin', 'UTC'];
    deepEqual(
      (await rules.list(INSTANCE)).map(({ timeZone }) => timeZone),
      zones,
    );
    const known = rules.watch();
    await known.loaded;
    deepEqual(
      known.of(INSTANCE).map(({ timeZone }) => timeZone),
      zones,
    );
    await known.close();
  });

  it('are a hundred at most, whoever makes them at once', async () => {
    const rules = new Rules(new MemoryBucket());
    for (let made = 5; made < MOST_RULES; made += 1) await rules.create(WANTED, NOW);
    const made = await Promise.allSettled(Array.from({ length: 9 }, () => rules.create(WANTED, NOW)));
    equal(made.filter(({ status }) => status === 'fulfilled').length, 5);
    equal((await rules.list(INSTANCE)).length, MOST_RULES);
    await rejects(rules.create(WANTED, NOW), { code: 'CONFLICT' });
  });

  it('are deleted, and disabled for a reason', async () => {
    const rules = new Rules(new MemoryBucket());
    const { id } = await rules.create(WANTED, NOW);
    await rules.disable(INSTANCE, id, { at: NOW, reason: 'gone' });
    equal((await rules.find(INSTANCE, id)).disabled?.reason, 'gone');
    await rules.disable(INSTANCE, id, null);
    equal((await rules.find(INSTANCE, id)).disabled, null);
    await rules.remove(INSTANCE, id);
    for (const work of [rules.find(INSTANCE, id), rules.remove(INSTANCE, id)])
      await rejects(work, { code: 'NOT_FOUND' });
    await rules.disable(INSTANCE, id, null);
  });

  it('are followed: what changes is told with its instance', async () => {
    const rules = new Rules(new MemoryBucket());
    const known = rules.watch();
    const reported: string[] = [];
    known.onChange((instanceId) => reported.push(instanceId));
    await known.loaded;
    const made = await rules.create(WANTED, NOW);
    deepEqual(known.of(INSTANCE), [made]);
    deepEqual([...known.instances], [INSTANCE]);
    await rules.remove(INSTANCE, made.id);
    deepEqual([...known.instances], []);
    deepEqual(reported, [INSTANCE, INSTANCE]);
    await known.close();
  });

  it('cannot be read or written while the server is away: 503', async () => {
    const bucket = new MemoryBucket();
    bucket.broken = true;
    await rejects(new Rules(bucket).create(WANTED, NOW), { code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('a watch that is kept', () => {
  it('begins again when its bucket is replaced, and not when it is closed', async () => {
    const failures = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
    let begun = 0;
    let closed = 0;
    let lost = 0;
    const open = (): KeyValueWatch => ({
      loaded: Promise.resolve(),
      failed: failures[begun++]?.promise ?? Promise.reject(new Error('too often')),
      close: async () => void (closed += 1),
    });
    const kept = keepWatching(open, () => (lost += 1));
    await kept.loaded;
    failures[0]?.resolve(new Error('replaced'));
    await new Promise((resolve) => setImmediate(resolve));
    deepEqual([begun, closed, lost], [2, 1, 1]);
    await kept.close();
    failures[1]?.resolve(new Error('closed'));
    await new Promise((resolve) => setImmediate(resolve));
    deepEqual([begun, lost], [2, 1]);
  });
});
