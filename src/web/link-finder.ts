/**
 * Finds the rights of requests with a link. A link has no scope: only routes that admit links let it in.
 *
 * Test: test/web/links.test.ts.
 */
import type { Link } from './registry/registry.ts';
import type { FoundKey, KeyFinder, Links } from './dependencies.ts';
import { seesInstance } from './instance-access.ts';
import type { People } from './people.ts';

export function createLinkFinder(
  links: Pick<Links, 'known' | 'find'>,
  people: Pick<People, 'rightsOf'> | undefined,
): Pick<KeyFinder, 'known' | 'find'> {
  const keyOf = (link: Link): FoundKey => ({
    projectId: link.projectId,
    keyId: `link_${link.id}`,
    scopes: [],
    instances: new Set([link.instanceId]),
    link,
  });
  /** Returns true if the groups of the person who made the link may still see its view. */
  const maySee = async ({ keyId, groups, projectId, instanceId }: Link): Promise<boolean> => {
    const rights = groups === null ? null : ((await people?.rightsOf(keyId, groups)) ?? null);
    if (rights === null || rights.projectId !== projectId) return groups === null;
    return rights.scopes.includes('query') && seesInstance(rights, instanceId);
  };
  return {
    known: (token) => {
      const link = links.known(token);
      // The rights of people are looked up asynchronously.
      return link && (link.groups === null ? keyOf(link) : undefined);
    },
    find: async (token) => {
      const link = await links.find(token);
      return link !== null && (await maySee(link)) ? keyOf(link) : null;
    },
  };
}
