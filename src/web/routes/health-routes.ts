/**
 * Routes of /livez (the process responds), /readyz (it can work; faults elsewhere make it degraded, not unready) and
 * /metrics (for Prometheus). They need no key.
 *
 * Test: test/web/health.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../errors.ts';
import { inTime } from '../answer-time.ts';
import type { HttpDependencies, ReadinessCheck } from '../dependencies.ts';
import type { HttpMetrics } from '../metrics.ts';

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 2000;

/** /livez and /readyz have no rate limit, because an orchestrator ends a process whose probes are refused. */
export function registerHealthRoutes(
  app: FastifyInstance,
  { readiness: checks, health }: Pick<HttpDependencies, 'readiness' | 'health'>,
  metrics: HttpMetrics,
): void {
  app.get('/livez', { config: { countsAs: null } }, async () => ({ status: 'ok' }));

  app.get('/readyz', { config: { countsAs: null } }, async () => {
    const faults = (await Promise.all(checks.map(faultOf))).filter((fault) => fault !== null);
    if (faults.length > 0) {
      const message = `Not ready: ${faults.map((fault) => `${fault.path} ${fault.message}`).join('; ')}.`;
      throw new AppError('SERVICE_UNAVAILABLE', message, { details: faults, retryAfter: 1 });
    }
    const reasons = health?.read().degradations ?? [];
    return {
      status: reasons.length === 0 ? 'ready' : 'degraded',
      checks: Object.fromEntries(checks.map((check) => [check.name, 'ok'])),
      reasons,
    };
  });

  app.get('/metrics', { config: { countsAs: 'metrics' } }, async (_request, reply) => {
    const { text, contentType } = await metrics.read();
    return reply.type(contentType).send(text);
  });
}

async function faultOf(check: ReadinessCheck): Promise<{ path: string; message: string } | null> {
  try {
    const message = await inTime(check.check(), CHECK_TIMEOUT_MS, () => new Error('does not answer'));
    return message === null ? null : { path: check.name, message };
  } catch (error) {
    return { path: check.name, message: error instanceof Error ? error.message : String(error) };
  }
}
