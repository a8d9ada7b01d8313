/** Covered by test/web/registry/registry.test.ts. */
import { LRUCache } from 'lru-cache';
import type { KeyValueBucket } from '../../stream/kv/key-value.ts';

/** Which instance holds a session id that a client chose. Each project has its own. */
export interface SessionClaims {
  /** The instance that holds the id in the project; null when none does. */
  find(projectId: string, sessionId: string): Promise<string | null>;
  /** Claims an id that `find` does not know; returns the instance that holds it then. */
  claim(projectId: string, sessionId: string, instanceId: string): Promise<string>;
}

interface StoredClaim {
  readonly instanceId: string;
  /** In claims of the first form alone. */
  readonly projectId?: string;
}

const CLAIMS_CACHED = 100_000;

/**
 * Opens the claims in a bucket: `<project id>.<session id>` → claim. The first form, `<session id>` → claim with
 * its project, is written no more; what is there goes on to hold, for the project that it names.
 */
export async function openSessionClaims(bucket: KeyValueBucket): Promise<SessionClaims> {
  const cached = new LRUCache<string, string>({ max: CLAIMS_CACHED });
  const firstForm = await bucket.hasKeys('*');

  async function find(projectId: string, sessionId: string): Promise<string | null> {
    const key = `${projectId}.${sessionId}`;
    const known = cached.get(key);
    if (known !== undefined) return known;
    const [entry, early] = await Promise.all([bucket.get(key), firstForm ? bucket.get(sessionId) : null]);
    const claim = claimIn(entry) ?? claimIn(early);
    if (claim === null || (entry === null && claim.projectId !== projectId)) return null;
    cached.set(key, claim.instanceId);
    return claim.instanceId;
  }

  return {
    find,
    claim: async (projectId, sessionId, instanceId) => {
      const key = `${projectId}.${sessionId}`;
      const claim: StoredClaim = { instanceId };
      if ((await bucket.create(key, JSON.stringify(claim))) !== null) {
        cached.set(key, instanceId);
        return instanceId;
      }
      const holder = await find(projectId, sessionId);
      if (holder === null) throw new Error(`the claim of session ${sessionId} vanished while it was written`);
      return holder;
    },
  };
}

function claimIn(entry: { readonly value: string } | null): StoredClaim | null {
  return entry === null ? null : (JSON.parse(entry.value) as StoredClaim);
}
