/**
 * GET /v1/query/: one page as JSON, or all rows as an export.
 *
 * Test: test/web/app.test.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { QUERY } from '../../contract/query.ts';
import { parseQueryParameters } from '../../query/parameters.ts';
import type { Reading } from '../dependencies.ts';
import { inTime } from '../answer-time.ts';
import { recordAudit } from './audit-route.ts';
import { EXPORT_TYPES, preferredType, sendExport } from '../export.ts';
import { enterInstance } from '../instance-request.ts';
import { sendJson } from '../json-answer.ts';
import { registrationOf } from '../serve.ts';

/** More rows than any answer has. */
const EVERY_ROW = 2 ** 31 - 1;

export function registerQueryRoute(scope: FastifyInstance, reading: Reading): void {
  const { runner, answerMs } = reading;
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const parameters = parseQueryParameters(request.query as Record<string, string | string[]>);
    await enterInstance(request, reply, parameters.instanceId, reading);
    const type = preferredType(request.headers.accept, EXPORT_TYPES);
    if (type !== null) {
      const { instanceId, groupBy } = parameters;
      await recordAudit(request, 'EXPORT', { instanceId, target: groupBy });
      // An export without `limit` has every row.
      const all = 'limit' in (request.query as object) ? parameters : { ...parameters, limit: EVERY_ROW };
      return sendExport(reply, type, all, runner.stream(all, request.projectId));
    }
    return sendJson(reply, await inTime(runner.run(parameters, request.projectId), answerMs));
  };
  // Parameters depend on each other, so this route parses them together.
  scope.route({ ...registrationOf(QUERY), handler });
}

/**
 * Parses a query string; a repeated name has an array of values. The result has no prototype, so no name can reach one.
 */
export function parseQueryString(text: string): Record<string, string | string[]> {
  const values = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(text)) {
    const known = values[name];
    values[name] = known === undefined ? value : [known, value].flat();
  }
  return values;
}
