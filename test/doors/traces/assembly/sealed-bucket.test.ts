import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sealedBucket } from '../../../../src/doors/traces/assembly/sealed-bucket.ts';
import { MemoryBucket } from '../../../support/memory-bucket.ts';

describe('a sealed bucket', () => {
  it('gives a value to who has its key whole, and stores nothing of it in clear', async () => {
    const bucket = new MemoryBucket();
    const sealed = sealedBucket(bucket);
    equal(await sealed.get('a.x'), null);
    const first = (await sealed.create('a.x', 'ana@example.com')) ?? 0;
    equal(await sealed.create('a.x', 'again'), null);
    deepEqual(await sealed.get('a.x'), { value: 'ana@example.com', revision: first });
    const second = (await sealed.update('a.x', 'bo@example.com', first)) ?? 0;
    equal(await sealed.update('a.x', 'late', first), null);
    deepEqual(await sealed.get('a.x'), { value: 'bo@example.com', revision: second });
    deepEqual([...bucket.values.keys()], ['a']);
    equal(JSON.stringify([...bucket.values]).includes('example'), false);
    await rejects(sealed.get('a.y'));
  });

  it('reads what earlier versions wrote in clear', async () => {
    const bucket = new MemoryBucket();
    const revision = await bucket.put('a', '{"v":1}');
    deepEqual(await sealedBucket(bucket).get('a.x'), { value: '{"v":1}', revision });
  });
});
