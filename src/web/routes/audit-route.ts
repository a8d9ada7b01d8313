/** Covered by test/web/audit-route.test.ts. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { READ_AUDIT } from '../../contract/audit.ts';
import type { Audit, AuditedAction, AuditRecord } from '../../domain/audit.ts';
import { callerOf } from '../auth.ts';
import { seesInstance } from '../instance-access.ts';
import { serve } from '../serve.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Null: this process keeps nothing of who does what. */
    audit: Audit | null;
    /** Says that something was done and is not recorded. */
    auditLost: (request: FastifyRequest, action: AuditedAction, error: unknown) => void;
  }
}

export function registerAuditRoute(scope: FastifyInstance, audit: Audit): void {
  serve(scope, READ_AUDIT, async ({ request, parameters: { limit, cursor } }) => {
    const before = cursor?.toLowerCase() ?? null;
    const key = callerOf(request);
    // Whoever sees some instances only reads what was done in them, and what is their own doing.
    const shows = ({ keyId, instanceId }: AuditRecord): boolean =>
      key.instances === undefined ||
      (instanceId === null ? keyId === key.keyId : seesInstance(key, instanceId));
    const { records, more } = await audit.page(request.projectId, { limit, before, shows });
    return { elements: records, pagination: { limit, next: more ? (records.at(-1)?.id ?? null) : null } };
  });
}

/** Keeps what a request has done and what stands stored. Where that fails, the log says it: it cannot be undone. */
export async function recordDone(...[request, action, about]: Parameters<typeof recordAudit>): Promise<void> {
  try {
    await recordAudit(request, action, about);
  } catch (error) {
    request.server.auditLost(request, action, error);
  }
}

/** Keeps what a request is about to do. Throws AppError SERVICE_UNAVAILABLE: then it must not. */
export async function recordAudit(
  request: FastifyRequest,
  action: AuditedAction,
  about: { readonly instanceId?: string | null; readonly target?: string | null } = {},
): Promise<void> {
  const { instanceId = null, target = null } = about;
  const keyId = request.key?.keyId ?? '';
  await request.server.audit?.record(request.projectId, { keyId, action, instanceId, target });
}
