/**
 * The route of the audit log, and the functions by which other routes write to it.
 *
 * Test: test/web/audit-route.test.ts.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { READ_AUDIT } from '../../contract/audit.ts';
import type { Audit, AuditedAction, AuditRecord } from '../../domain/audit.ts';
import { callerOf } from '../auth.ts';
import { seesInstance } from '../instance-access.ts';
import { serve } from '../serve.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Null in a process that keeps no audit log. */
    audit: Audit | null;
    /** Logs that an action was done but not recorded. */
    auditLost: (request: FastifyRequest, action: AuditedAction, error: unknown) => void;
  }
}

export function registerAuditRoute(scope: FastifyInstance, audit: Audit): void {
  serve(scope, READ_AUDIT, async ({ request, parameters: { limit, cursor } }) => {
    const before = cursor?.toLowerCase() ?? null;
    const key = callerOf(request);
    // A caller limited to some instances reads the actions in them, and its own actions outside of instances.
    const shows = ({ keyId, instanceId }: AuditRecord): boolean =>
      key.instances === undefined ||
      (instanceId === null ? keyId === key.keyId : seesInstance(key, instanceId));
    const { records, more } = await audit.page(request.projectId, { limit, before, shows });
    return { elements: records, pagination: { limit, next: more ? (records.at(-1)?.id ?? null) : null } };
  });
}

/**
 * Records an action that is already stored. If that fails, the failure is logged, because the action cannot be undone.
 */
export async function recordDone(...[request, action, about]: Parameters<typeof recordAudit>): Promise<void> {
  try {
    await recordAudit(request, action, about);
  } catch (error) {
    request.server.auditLost(request, action, error);
  }
}

/** Records an action before it is done. Throws AppError SERVICE_UNAVAILABLE; the caller must not act then. */
export async function recordAudit(
  request: FastifyRequest,
  action: AuditedAction,
  about: { readonly instanceId?: string | null; readonly target?: string | null } = {},
): Promise<void> {
  const { instanceId = null, target = null } = about;
  const keyId = request.key?.keyId ?? '';
  await request.server.audit?.record(request.projectId, { keyId, action, instanceId, target });
}
