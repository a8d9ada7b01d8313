import { doesNotMatch, equal, match, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { firstSteps } from '../../src/main/first-steps.ts';
import type { Registry } from '../../src/registry/registry.ts';

const URL = 'http://127.0.0.1:8080';
const KEY = 'ut_test_of_the_first_steps';

type Used = Pick<Registry, 'ensureFirstProject' | 'defaultInstance'>;

/** A registry of which only the first project and its instance are asked. */
function registryWith(defaultInstance: Registry['defaultInstance'], first = true): Registry {
  const project = { id: 'p1', name: 'default', createdAt: '2026-03-01T00:00:00Z' };
  const key = { id: 'k1', projectId: 'p1', env: 'test', createdAt: project.createdAt, revokedAt: null };
  const used = {
    ensureFirstProject: () => Promise.resolve(first ? { rawKey: KEY, key, project } : null),
    defaultInstance,
  } as Used;
  return used as Registry;
}

describe('the first steps', () => {
  it('show the key and commands with the instance', async () => {
    const text = await firstSteps(
      registryWith(({ projectId }) =>
        Promise.resolve({
          instance: { id: 'i1', number: 1, projectId, name: null, createdAt: '' },
          made: true,
        }),
      ),
      URL,
    );
    match(text ?? '', new RegExp(`^  ${KEY}$`, 'm'));
    match(text ?? '', /"instanceId":"i1"/);
  });

  it('show the key without commands when the registry goes away before the instance is made', async () => {
    const text = await firstSteps(
      registryWith(() => Promise.reject(new AppError('SERVICE_UNAVAILABLE', 'Closing.'))),
      URL,
    );
    match(text ?? '', new RegExp(`^  ${KEY}$`, 'm'));
    doesNotMatch(text ?? '', /curl/);
  });

  it('hide no other failure', async () => {
    await rejects(
      firstSteps(
        registryWith(() => Promise.reject(new Error('broken'))),
        URL,
      ),
      /broken/,
    );
  });

  it('are nothing when the first project is there', async () => {
    const unused = () => Promise.reject(new Error('not asked for'));
    equal(await firstSteps(registryWith(unused, false), URL), null);
  });
});
