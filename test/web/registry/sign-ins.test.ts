import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from '../../../src/web/registry/registry.ts';
import { openKeyValue } from '../../../src/stream/kv/key-value.ts';
import { openTwoRegistries, type TwoRegistries } from '../../support/two-registries.ts';

const DAY_MS = 86_400_000;

describe('sign-ins', () => {
  let registries: TwoRegistries;
  let here: Registry;
  let there: Registry;
  let now = Date.UTC(2026, 0, 1);

  before(async () => {
    registries = await openTwoRegistries(() => now);
    ({ here, there } = registries);
  });
  after(() => registries.stop());

  async function signedIn(): Promise<{ rawKey: string; keyId: string; token: string }> {
    const { rawKey, key } = await here.createKey({ projectName: 'shop', env: 'test', scopes: ['query'] });
    const { token } = (await here.signIns.open(rawKey))!;
    return { rawKey, keyId: key.keyId, token };
  }

  it('may do what the key may, in every process at once', async () => {
    const { rawKey, token } = await signedIn();
    match(token, /^[\w-]{43}$/);
    deepEqual(await there.signIns.find(token), await there.keys.find(rawKey));
    notEqual((await here.signIns.open(rawKey))?.token, token);
  });

  it('are opened by valid keys alone, and found by their own tokens alone', async () => {
    const { rawKey, keyId } = await signedIn();
    for (const text of ['', 'ut_test_', rawKey, `${'x'.repeat(42)}.`, 'x'.repeat(43)])
      equal(await there.signIns.find(text), null, text);
    await here.keys.revoke(keyId);
    equal(await here.signIns.open(rawKey), null);
    equal(await here.signIns.open(`ut_test_${'x'.repeat(32)}`), null);
  });

  it('end with the key, in every process within a second', async () => {
    const { keyId, token } = await signedIn();
    ok(await there.signIns.find(token));
    await here.keys.revoke(keyId);
    equal(await here.signIns.find(token), null);
    const revokedAt = performance.now();
    while ((await there.signIns.find(token)) !== null) await sleep(5);
    ok(performance.now() - revokedAt < 1000);
  });

  it('end one by one', async () => {
    const { rawKey, token } = await signedIn();
    const other = (await here.signIns.open(rawKey))!;
    await there.signIns.close(token);
    while ((await here.signIns.find(token)) !== null) await sleep(5);
    ok(await here.signIns.find(other.token));
    await here.signIns.close(token);
  });

  it('are at most a hundred of one key: the next one ends the oldest', async () => {
    const { rawKey, token } = await signedIn();
    const others: string[] = [];
    for (let count = 1; count <= 100; count += 1) others.push((await here.signIns.open(rawKey))!.token);
    equal(await here.signIns.find(token), null);
    ok(await here.signIns.find(others[0]!));
    ok(await there.signIns.find(others.at(-1)!));
  });

  it('end after thirty days, and go with the next one; what is stored is no token', async () => {
    const { rawKey, token } = await signedIn();
    now += 30 * DAY_MS - 1;
    ok(await there.signIns.find(token));
    now += 1;
    equal(await there.signIns.find(token), null);
    await here.signIns.open(rawKey);
    const bucket = await openKeyValue(registries.connection, 'registry');
    const stored = await bucket.list('sign-in.*');
    equal(stored.length, 1);
    ok(!stored.some((text) => text.includes(token) || text.includes(rawKey)));
  });
});
