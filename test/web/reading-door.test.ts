import { deepEqual, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpDependencies } from '../../src/web/dependencies.ts';
import { createReadingDoors } from '../../src/web/reading-door.ts';
import { INSTANCE, PROJECT, SESSION } from './support.ts';

/** A door whose readers answer with their own names and the id that they are asked for. */
function doorOf() {
  const answer = (reader: string) => ({ read: async (id: unknown) => ({ reader, id }) });
  const query = {
    textSearch: { read: async () => ({ reader: 'textSearch' }) },
    sessions: answer('sessions'),
    why: { read: async (groupBy: string, id: string) => ({ reader: groupBy, id }) },
    changes: { read: async () => ({ reader: 'changes' }) },
    overview: { read: async () => ({ reader: 'overview' }) },
    curations: { read: async () => ({ reader: 'curations' }) },
    instances: { projectOf: async () => PROJECT, timeZoneOf: async () => undefined },
  };
  const doors = createReadingDoors(
    query as unknown as NonNullable<HttpDependencies['query']>,
    {} as HttpDependencies['instances'],
  );
  return doors({ projectId: PROJECT, keyId: 'key_1', scopes: ['query'] });
}

describe('a door in this process', () => {
  it('tells the sessions from one session, by the whole path', async () => {
    const door = doorOf();
    deepEqual(await door.get('/sessions', { instanceId: INSTANCE, said: 'refund' }), {
      reader: 'textSearch',
    });
    deepEqual(await door.get(`/sessions/${SESSION}`, { instanceId: INSTANCE }), {
      reader: 'sessions',
      id: SESSION,
    });
    deepEqual(await door.get(`/topics/${SESSION}`, { instanceId: INSTANCE }), {
      reader: 'TOPIC',
      id: SESSION,
    });
    deepEqual(await door.get('/overview', { instanceId: INSTANCE }), { reader: 'overview' });
  });

  it('knows no other path', async () => {
    const door = doorOf();
    for (const path of [
      '/topics',
      '/overview/',
      `/overview/${SESSION}`,
      `/sessions/${SESSION}/more`,
      '/',
      '',
    ])
      await rejects(door.get(path, { instanceId: INSTANCE }), { code: 'NOT_FOUND' }, path);
    await rejects(door.get('/sessions/', { instanceId: INSTANCE }), { code: 'VALIDATION_ERROR' });
  });
});
