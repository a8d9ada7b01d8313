/** Who a request is that shows a link. Covered by test/web/links.test.ts. */
import type { Link } from './registry/registry.ts';
import type { FoundKey, KeyFinder, Links } from './dependencies.ts';
import { seesInstance } from './instance-access.ts';
import type { People } from './people.ts';

/** What whoever shows the token of a link may do. It has no scope: only routes that say so let it in. */
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
  /** Whether the groups of the person who made it, as they were, may still see what it shows. */
  const maySee = async ({ keyId, groups, projectId, instanceId }: Link): Promise<boolean> => {
    const rights = groups === null ? null : ((await people?.rightsOf(keyId, groups)) ?? null);
    if (rights === null || rights.projectId !== projectId) return groups === null;
    return rights.scopes.includes('query') && seesInstance(rights, instanceId);
  };
  return {
    known: (token) => {
      const link = links.known(token);
      // People have to be asked for.
      return link && (link.groups === null ? keyOf(link) : undefined);
    },
    find: async (token) => {
      const link = await links.find(token);
      return link !== null && (await maySee(link)) ? keyOf(link) : null;
    },
  };
}
