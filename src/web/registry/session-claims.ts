/**
 * Records which instance holds a session id that a client chose. Ids are unique within a project.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { LRUCache } from 'lru-cache';
import type { KeyValueBucket } from '../../stream/kv/key-value.ts';

export interface SessionClaims {
  /** Returns the project's instance that holds the id, or null. */
  find(projectId: string, sessionId: string): Promise<string | null>;
  /** Claims an id that `find` does not know; returns the instance that holds it afterwards. */
  claim(projectId: string, sessionId: string, instanceId: string): Promise<string>;
}

interface StoredClaim {
  readonly instanceId: string;
  /** Only in claims of the first format. */
  readonly projectId?: string;
}

const CLAIMS_CACHED = 100_000;

/**
 * Opens the claims in a bucket: `<project id>.<session id>` → claim. Claims of the first format, `<session id>` → claim
 * with its project, are no longer written, but still hold for their project.
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
