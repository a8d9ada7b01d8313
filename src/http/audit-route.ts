/** Covered by test/http/audit-route.test.ts. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { READ_AUDIT } from '../contract/audit.ts';
import type { Audit, AuditedAction } from '../domain/audit.ts';
import { serve } from './serve.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Null: this process keeps nothing of who does what. */
    audit: Audit | null;
  }
}

export function registerAuditRoute(scope: FastifyInstance, audit: Audit): void {
  serve(scope, READ_AUDIT, async ({ request, parameters: { limit, cursor } }) => {
    const before = cursor?.toLowerCase() ?? null;
    const { records, more } = await audit.page(request.projectId, { limit, before });
    return { elements: records, pagination: { limit, next: more ? (records.at(-1)?.id ?? null) : null } };
  });
}

/** Keeps what a request did. Throws AppError SERVICE_UNAVAILABLE. */
export async function recordAudit(
  request: FastifyRequest,
  action: AuditedAction,
  about: { readonly instanceId?: string | null; readonly target?: string | null } = {},
): Promise<void> {
  const { instanceId = null, target = null } = about;
  const keyId = request.key?.keyId ?? '';
  await request.server.audit?.record(request.projectId, { keyId, action, instanceId, target });
}
