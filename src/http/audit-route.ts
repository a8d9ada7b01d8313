/** Covered by test/http/audit-route.test.ts. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { READ_AUDIT } from '../contract/audit.ts';
import type { Audit, AuditedAction } from '../domain/audit.ts';
import { serve } from './serve.ts';

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
    const { records, more } = await audit.page(request.projectId, { limit, before });
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
