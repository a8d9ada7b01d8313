import { deepEqual, equal, match, notEqual, ok, rejects, throws } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import type { Registry } from '../../../src/web/registry/registry.ts';
import { openKeyValue } from '../../../src/stream/kv/key-value.ts';
import { openTwoRegistries, type TwoRegistries } from '../../support/two-registries.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';

describe('links', () => {
  let registries: TwoRegistries;
  let here: Registry;
  let there: Registry;
  let now = Date.UTC(2026, 0, 1);

  before(async () => {
    registries = await openTwoRegistries(() => now);
    ({ here, there } = registries);
  });
  after(() => registries.stop());

  /** A link that a new key of a project makes, or a person. */
  async function made(person: { readonly groups: readonly string[] } | null = null) {
    const { key } = await here.createKey({ projectName: v7(), env: 'test', scopes: ['query'] });
    const wanted = {
      id: v7(),
      projectId: key.projectId,
      instanceId: INSTANCE,
      view: '?view=changes',
      keyId: person === null ? key.keyId : 'ada@example.com',
      groups: person?.groups ?? null,
      days: DAYS,
    };
    return { key, wanted, ...(await here.links.open(wanted)) };
  }

  it('show what they were made for, in every process at once, by tokens of 256 bits', async () => {
    const { token, link, wanted } = await made();
    match(token, /^[\w-]{43}$/);
    equal(Buffer.from(token, 'base64url').length, 32);
    const { days: _, ...rest } = wanted;
    deepEqual(link, { ...rest, createdAt: '2026-01-01T00:00:00.000Z', endsAt: '2026-01-31T00:00:00.000Z' });
    deepEqual(await there.links.find(token), link);
    notEqual((await here.links.open({ ...wanted, id: v7() })).token, token);
  });

  it('are found by their own tokens alone, which open no sign-in and are no keys', async () => {
    const { token, link } = await made();
    for (const text of ['', link.id, `${token.slice(1)}.`, 'x'.repeat(43), `${token} `])
      equal(await there.links.find(text), null, text);
    deepEqual([await there.signIns.find(token), await there.keys.find(token)], [null, null]);
    equal(await there.signIns.open(token), null);
    const { rawKey } = await here.createKey({ projectName: 'shop', env: 'test' });
    equal(await there.links.find((await here.signIns.open(rawKey))!.token), null);
  });

  it('end with the key that made them, in every process', async () => {
    const { token, key } = await made();
    ok(await there.links.find(token));
    await here.keys.revoke(key.keyId);
    equal(await here.links.find(token), null);
    while ((await there.links.find(token)) !== null) await sleep(5);
    deepEqual(await here.links.list(key.projectId), []);
  });

  it('are not made of a key that is not known, of another project or revoked: they would open nothing', async () => {
    const { key, wanted } = await made();
    const other = await made();
    for (const wrong of [{ keyId: 'key_unknown' }, { projectId: other.key.projectId }])
      await rejects(here.links.open({ ...wanted, id: v7(), ...wrong }), { code: 'SERVICE_UNAVAILABLE' });
    await here.keys.revoke(key.keyId);
    await rejects(here.links.open({ ...wanted, id: v7() }), { code: 'SERVICE_UNAVAILABLE' });
    throws(() => here.links.check(wanted), { code: 'SERVICE_UNAVAILABLE' });
    deepEqual(await here.links.list(other.key.projectId), [other.link]);
  });

  it('of a person say the groups that the person was in', async () => {
    const { token } = await made({ groups: ['sales'] });
    const link = await there.links.find(token);
    deepEqual([link?.keyId, link?.groups], ['ada@example.com', ['sales']]);
  });

  it('are listed and revoked by their project alone', async () => {
    const { token, link, wanted } = await made();
    const second = await here.links.open({ ...wanted, id: v7() });
    deepEqual(await there.links.list(link.projectId), [second.link, link]);
    const other = await made();
    deepEqual(await there.links.list(other.link.projectId), [other.link]);
    await there.links.revoke(other.link.projectId, link.id);
    ok(await there.links.find(token));
    await there.links.revoke(link.projectId, link.id);
    equal(await there.links.find(token), null);
    while ((await here.links.find(token)) !== null) await sleep(5);
    deepEqual(await here.links.list(link.projectId), [second.link]);
    await here.links.revoke(link.projectId, link.id);
  });

  it('are at most a hundred of one maker: the next one is refused, and ends none', async () => {
    const { token, wanted } = await made();
    for (let count = 1; count < 100; count += 1) await here.links.open({ ...wanted, id: v7() });
    await rejects(here.links.open({ ...wanted, id: v7() }), { code: 'CONFLICT' });
    throws(() => here.links.check(wanted), { code: 'CONFLICT' });
    ok(await here.links.find(token));
    await here.links.open({ ...wanted, id: v7(), keyId: 'bob@example.com', groups: [] });
  });

  it('end by themselves, and go with the next one; what is stored is no token', async () => {
    const { token, link } = await made();
    now += DAYS * DAY_MS - 1;
    ok(await there.links.find(token));
    now += 1;
    equal(await there.links.find(token), null);
    deepEqual(await there.links.list(link.projectId), []);
    const next = await made();
    const stored = await (await openKeyValue(registries.connection, 'registry')).list('link.*');
    deepEqual(
      stored.map((text) => (JSON.parse(text) as { id: string }).id),
      [next.link.id],
    );
    ok(!stored.some((text) => text.includes(next.token)));
  });
});
