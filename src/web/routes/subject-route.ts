/**
 * GET /v1/subjects/{externalId}/export: streams the data of one end user.
 *
 * Test: test/web/subject-route.test.ts, test/e2e/subject-rules.test.ts.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { EXPORT_SUBJECT } from '../../contract/subjects.ts';
import type { SubjectLine } from '../../query/subject-schema.ts';
import { recordAudit } from './audit-route.ts';
import type { Reading } from '../dependencies.ts';
import { enterInstance } from '../instance-request.ts';
import { serve } from '../serve.ts';

export function registerSubjectRoute(scope: FastifyInstance, { subjects, ...reading }: Reading): void {
  serve(scope, EXPORT_SUBJECT, async ({ request, reply, id, parameters: { instanceId } }) => {
    await enterInstance(request, reply, instanceId, reading);
    // Normalized as POST /v1/ingest/ stores it.
    const externalId = id.toWellFormed();
    const lines = subjects.read(instanceId, externalId, request.projectId);
    // An error before the first line becomes a response; a later one closes the connection.
    const first = await lines.next();
    try {
      await recordAudit(request, 'EXPORT_SUBJECT', {
        instanceId,
        target: subjects.digest(instanceId, externalId),
      });
    } catch (error) {
      await lines.return();
      throw error;
    }
    const body = Readable.from(textOf(first, lines));
    // Also runs if the client has gone before reading anything.
    body.once('close', () => void lines.return().catch(() => undefined));
    return reply
      .type('application/x-ndjson; charset=utf-8')
      .header('Content-Disposition', 'attachment; filename="end-user.ndjson"')
      .send(body);
  });
}

type Lines = AsyncGenerator<readonly SubjectLine[], void, undefined>;

async function* textOf(
  first: IteratorResult<readonly SubjectLine[], void>,
  lines: Lines,
): AsyncGenerator<string> {
  for (let next = first; next.done !== true; next = await lines.next())
    yield next.value.map((line) => `${JSON.stringify(line)}\n`).join('');
}
