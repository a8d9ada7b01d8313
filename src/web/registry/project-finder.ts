/** Covered by test/web/registry/project-finder.test.ts. */
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../stream/kv/key-value.ts';
import type { Instance } from './instance-index.ts';

/** The project of an instance (lower-case id), for a process that needs nothing else of the registry. */
export type ProjectFinder = (instanceId: string) => Promise<string>;

export async function openProjectFinder(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<ProjectFinder> {
  return projectFinder(await openKeyValue(connection, 'registry', options));
}

/** What people call an instance (lower-case id); null: nothing. */
export type NameFinder = (instanceId: string) => Promise<string | null>;

export async function openNameFinder(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<NameFinder> {
  return nameFinder(await openKeyValue(connection, 'registry', options));
}

/** A name may change, so it is asked for each time. Rejects while the bucket cannot be asked. */
export function nameFinder(bucket: Pick<KeyValueBucket, 'get'>): NameFinder {
  return async (instanceId) => {
    const entry = await bucket.get(`instance.${instanceId}`);
    return entry === null ? null : (JSON.parse(entry.value) as Instance).name;
  };
}

/** An instance never changes its project, so each is asked for once. Rejects while the bucket cannot be asked. */
export function projectFinder(bucket: Pick<KeyValueBucket, 'get'>): ProjectFinder {
  const known = new Map<string, Promise<string>>();
  const ask = async (instanceId: string): Promise<string> => {
    const entry = await bucket.get(`instance.${instanceId}`);
    // One that the registry does not know is a project by itself.
    return entry === null ? instanceId : (JSON.parse(entry.value) as Instance).projectId;
  };
  return (instanceId) => {
    const found = known.get(instanceId) ?? ask(instanceId);
    known.set(instanceId, found);
    found.catch(() => known.delete(instanceId));
    return found;
  };
}
