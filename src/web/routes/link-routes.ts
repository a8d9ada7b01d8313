/**
 * Routes of links. Keys and people create, list and revoke them; a link's holder reads it.
 *
 * Test: test/web/links.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { v7 } from 'uuid';
import { CREATE_LINK, LIST_LINKS, newLinkSchema, READ_LINK, REVOKE_LINK } from '../../contract/links.ts';
import { AppError } from '../../errors.ts';
import { checked } from '../ingest/validation.ts';
import type { Link } from '../registry/registry.ts';
import { recordAudit } from './audit-route.ts';
import { callerOf } from '../auth.ts';
import type { FoundKey, HttpDependencies, Links } from '../dependencies.ts';
import { seesInstance } from '../instance-access.ts';
import { checkInstance } from '../instance-request.ts';
import { serve } from '../serve.ts';
import { sharedView } from '../shared-view.ts';

export function registerLinkRoutes(
  scope: FastifyInstance,
  links: Links,
  instances: NonNullable<HttpDependencies['query']>['instances'],
  registry: Pick<HttpDependencies['instances'], 'findInstance'>,
): void {
  serve(scope, CREATE_LINK, async ({ request }) => {
    const { projectId, keyId, groups = null } = callerOf(request);
    const { instanceId, view: given, days } = checked(newLinkSchema, request.body ?? {});
    const view = sharedView(given);
    await checkInstance(projectId, instanceId, instances);
    // Checked first, so that the audit log has no refused links.
    links.check({ projectId, keyId, groups });
    const id = v7();
    await recordAudit(request, 'CREATE_LINK', { instanceId, target: id });
    const { link, token } = await links.open({ id, projectId, instanceId, view, keyId, groups, days });
    return { link: listed(link), token };
  });

  serve(scope, LIST_LINKS, async ({ request }) => ({
    elements: (await seenBy(callerOf(request))).map(listed),
  }));

  serve(scope, REVOKE_LINK, async ({ request, id }) => {
    const caller = callerOf(request);
    const link = (await seenBy(caller)).find((each) => each.id === id);
    if (link === undefined) throw new AppError('NOT_FOUND', `There is no link ${id}.`);
    await recordAudit(request, 'REVOKE_LINK', { instanceId: link.instanceId, target: id });
    await links.revoke(caller.projectId, id);
  });

  serve(scope, READ_LINK, async ({ request }) => {
    const { link, projectId } = callerOf(request);
    if (link === undefined) throw new AppError('NOT_FOUND', 'The request shows a key and no link.');
    await checkInstance(projectId, link.instanceId, instances);
    const { name = null, timeZone = 'UTC' } = (await registry.findInstance(link.instanceId)) ?? {};
    return { view: link.view, endsAt: link.endsAt, instance: { id: link.instanceId, name, timeZone } };
  });

  async function seenBy(caller: FoundKey): Promise<Link[]> {
    const all = await links.list(caller.projectId);
    return all.filter(({ instanceId }) => seesInstance(caller, instanceId));
  }
}

function listed({ id, instanceId, view, keyId, createdAt, endsAt }: Link) {
  return { id, instanceId, view, keyId, createdAt, endsAt };
}
