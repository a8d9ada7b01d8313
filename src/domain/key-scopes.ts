/**
 * The scopes of API keys.
 *
 * Test: test/web/registry/registry.test.ts, test/web/key-scopes.test.ts.
 */

export const KEY_SCOPES = ['ingest', 'query', 'curate', 'erase'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export function isKeyScope(name: string): name is KeyScope {
  return (KEY_SCOPES as readonly string[]).includes(name);
}

/** Returns the scopes without duplicates, in the order of KEY_SCOPES. */
export function inOrder(scopes: Iterable<KeyScope>): KeyScope[] {
  const given = new Set(scopes);
  return KEY_SCOPES.filter((scope) => given.has(scope));
}
