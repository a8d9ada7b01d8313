import { otherBody, type IdempotencyStore } from '../../src/web/ingest/idempotency.ts';

/** Claims in memory, as the bucket keeps them. */
export function memoryIdempotency(): IdempotencyStore {
  const claims = new Map<string, { digest: string; acceptedAt: number }>();
  const find = (name: string, digest: string) => {
    const first = claims.get(name);
    if (first === undefined) return null;
    if (first.digest !== digest) throw otherBody();
    return { seed: `${name}:${digest}:${first.acceptedAt}`, acceptedAt: first.acceptedAt };
  };
  return {
    find: async (projectId, key, digest) => find(`${projectId}.${key}`, digest),
    async claim(projectId, key, digest, acceptedAt) {
      const name = `${projectId}.${key}`;
      if (!claims.has(name)) claims.set(name, { digest, acceptedAt });
      return find(name, digest) ?? { seed: '', acceptedAt };
    },
  };
}
