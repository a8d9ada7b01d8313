import { deepEqual, equal, notEqual, rejects, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OutboxKeys } from '../../../../src/doors/traces/assembly/outbox-keys.ts';
import { memoryKeys } from '../../../support/memory-keys.ts';

const TEXT = Buffer.from('[{"content":"Where is my parcel?"}]');
const textOf = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString();

describe('keys of outboxes', () => {
  it('seal until what they seal is stored, and are erased then', async () => {
    const store = memoryKeys();
    const keys = await OutboxKeys.open(store);
    throws(() => keys.seal(TEXT), TypeError);
    await keys.prepare();
    await keys.prepare();
    equal(store.keys.size, 1);
    const sealed = keys.seal(TEXT);
    notEqual(sealed, keys.seal(TEXT));
    equal(textOf(keys.open(sealed)), TEXT.toString());
    await keys.settle(1, 10);
    equal(store.keys.size, 0);
    equal(keys.open(sealed), null);
    throws(() => keys.seal(TEXT), TypeError);
  });

  it('stay after a round that failed until all that was read by then is done', async () => {
    const store = memoryKeys();
    const keys = await OutboxKeys.open(store);
    await keys.prepare();
    const sealed = keys.seal(TEXT);
    keys.keep();
    await keys.prepare();
    const other = keys.seal(TEXT);
    await keys.settle(5, 7);
    deepEqual([textOf(keys.open(sealed)), keys.open(other)], [TEXT.toString(), null]);
    await keys.settle(7, 9);
    equal(textOf(keys.open(sealed)), TEXT.toString());
    await keys.settle(8, 9);
    deepEqual([keys.open(sealed), store.keys.size], [null, 0]);
  });

  it('of a process that was killed open for the next one', async () => {
    const store = memoryKeys();
    const killed = await OutboxKeys.open(store);
    await killed.prepare();
    const sealed = killed.seal(TEXT);
    const next = await OutboxKeys.open(store);
    equal(textOf(next.open(sealed)), TEXT.toString());
    await next.settle(3, 3);
    equal(textOf(next.open(sealed)), TEXT.toString());
    await next.settle(4, 6);
    deepEqual([next.open(sealed), store.keys.size], [null, 0]);
  });

  it('that nobody knows to be stored are erased as well', async () => {
    const store = memoryKeys();
    const add = store.add;
    let isAway = true;
    const failing = {
      ...store,
      async add(key: Parameters<typeof add>[0]) {
        await add(key);
        if (isAway) throw new Error('no answer');
      },
    };
    const keys = await OutboxKeys.open(failing);
    await rejects(keys.prepare(), /no answer/);
    isAway = false;
    await keys.prepare();
    equal(store.keys.size, 2);
    await keys.settle(1, 1);
    equal(store.keys.size, 0);
  });
});
