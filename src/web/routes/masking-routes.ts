/**
 * Routes that read and set an instance's masking; ingest applies it.
 *
 * Test: test/web/masking-routes.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { maskingSchema, READ_MASKING, SET_MASKING } from '../../contract/masking.ts';
import { NO_MASKING } from '../../domain/masking.ts';
import { checked } from '../ingest/validation.ts';
import type { Instance } from '../registry/registry.ts';
import { recordAudit } from './audit-route.ts';
import type { InstanceRegistry } from '../dependencies.ts';
import { noInstance } from '../instance-access.ts';
import { serve } from '../serve.ts';

type MaskedInstances = Pick<InstanceRegistry, 'findInstance' | 'changeInstance'>;

export function registerMaskingRoutes(scope: FastifyInstance, instances: MaskedInstances): void {
  const find = async (projectId: string, id: string): Promise<Instance> => {
    const instance = await instances.findInstance(id);
    if (instance === null || instance.projectId !== projectId) throw noInstance(id);
    return instance;
  };

  serve(scope, READ_MASKING, async ({ request, id }) => {
    const { masking = NO_MASKING } = await find(request.projectId, id);
    return masking;
  });

  serve(scope, SET_MASKING, async ({ request, id }) => {
    const masking = checked(maskingSchema, request.body ?? {});
    const { projectId } = request;
    await find(projectId, id);
    // Recorded first: an auditor must find every change.
    await recordAudit(request, 'SET_MASKING', { instanceId: id, target: id });
    if ((await instances.changeInstance({ projectId, id, changes: { masking } })) === null)
      throw noInstance(id);
    return masking;
  });
}
