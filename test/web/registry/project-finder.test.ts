import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { projectFinder, settingsFinder } from '../../../src/web/registry/project-finder.ts';

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

describe('the settings of an instance', () => {
  it('are what they are now; an unknown instance has none', async () => {
    const stored: Record<string, object> = { 'instance.a': { name: 'Shop' }, 'instance.b': { name: null } };
    const find = settingsFinder({
      get: async (key) => (key in stored ? { value: JSON.stringify(stored[key]), revision: 1 } : null),
    });
    deepEqual([await find('a'), await find('b'), await find('c')], [{ name: 'Shop' }, { name: null }, null]);
    const changed = { name: 'Shop in Berlin', leaveOut: { environment: ['test'] } };
    stored['instance.a'] = changed;
    deepEqual(await find('a'), changed);
  });
});
