/**
 * Finds projects and settings of instances, for processes that need nothing else of the registry.
 *
 * Test: test/web/registry/project-finder.test.ts.
 */
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../stream/kv/key-value.ts';
import type { Instance } from './instance-index.ts';

/** Returns the project of an instance (lower-case id). */
export type ProjectFinder = (instanceId: string) => Promise<string>;

export async function openProjectFinder(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<ProjectFinder> {
  return projectFinder(await openKeyValue(connection, 'registry', options));
}

/** Returns the name of an instance (lower-case id) and what it leaves out; null for an unknown one. */
export type SettingsFinder = (instanceId: string) => Promise<Pick<Instance, 'name' | 'leaveOut'> | null>;

export async function openSettingsFinder(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<SettingsFinder> {
  return settingsFinder(await openKeyValue(connection, 'registry', options));
}

/** Reads the settings each time, because they may change. Rejects while the bucket is unreachable. */
export function settingsFinder(bucket: Pick<KeyValueBucket, 'get'>): SettingsFinder {
  return async (instanceId) => {
    const entry = await bucket.get(`instance.${instanceId}`);
    return entry === null ? null : (JSON.parse(entry.value) as Instance);
  };
}

/** Reads each instance once, because it never changes its project. Rejects while the bucket is unreachable. */
export function projectFinder(bucket: Pick<KeyValueBucket, 'get'>): ProjectFinder {
  const known = new Map<string, Promise<string>>();
  const ask = async (instanceId: string): Promise<string> => {
    const entry = await bucket.get(`instance.${instanceId}`);
    // An instance that the registry lacks counts as a project of its own.
    return entry === null ? instanceId : (JSON.parse(entry.value) as Instance).projectId;
  };
  return (instanceId) => {
    const found = known.get(instanceId) ?? ask(instanceId);
    known.set(instanceId, found);
    found.catch(() => known.delete(instanceId));
    return found;
  };
}
