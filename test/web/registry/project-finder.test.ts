import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameFinder, projectFinder } from '../../../src/web/registry/project-finder.ts';

describe('the project of an instance', () => {
  it('is asked for once; what failed is asked again', async () => {
    const asked: string[] = [];
    let isAway = true;
    const find = projectFinder({
      async get(key) {
        asked.push(key);
        if (isAway) throw new Error('the bucket is away');
        return key === 'instance.a' ? { value: JSON.stringify({ projectId: 'p' }), revision: 1 } : null;
      },
    });
    await rejects(find('a'), /away/);
    isAway = false;
    deepEqual(await Promise.all([find('a'), find('a')]), ['p', 'p']);
    equal(await find('a'), 'p');
    equal(await find('unknown'), 'unknown');
    deepEqual(asked, ['instance.a', 'instance.a', 'instance.unknown']);
  });
});

describe('the name of an instance', () => {
  it('is what it is now; one without a name, or unknown, has none', async () => {
    const names: Record<string, string | null> = { 'instance.a': 'Shop', 'instance.b': null };
    const find = nameFinder({
      get: async (key) =>
        key in names ? { value: JSON.stringify({ name: names[key] }), revision: 1 } : null,
    });
    deepEqual([await find('a'), await find('b'), await find('c')], ['Shop', null, null]);
    names['instance.a'] = 'Shop in Berlin';
    equal(await find('a'), 'Shop in Berlin');
  });
});
