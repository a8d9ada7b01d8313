/**
 * GET /v1/gaps/{id}/brief: what closing a gap takes, as JSON, Markdown or CSV.
 *
 * Test: test/e2e/brief-rules.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { BRIEF } from '../../contract/query.ts';
import { briefCsv, briefMarkdown } from '../../query/briefs/brief-text.ts';
import { inTime } from '../answer-time.ts';
import type { Reading } from '../dependencies.ts';
import { preferredType } from '../export.ts';
import { enterInstance } from '../instance-request.ts';
import { sendJson } from '../json-answer.ts';
import { serve } from '../serve.ts';

const WRITERS = { 'text/markdown': ['md', briefMarkdown], 'text/csv': ['csv', briefCsv] } as const;
const TYPES = Object.keys(WRITERS) as (keyof typeof WRITERS)[];

export function registerBriefRoute(scope: FastifyInstance, reading: Reading): void {
  serve(scope, BRIEF, async ({ request, reply, id, parameters }) => {
    await enterInstance(request, reply, parameters.instanceId, reading);
    const brief = await inTime(reading.briefs.read(id, parameters, request.projectId), reading.answerMs);
    const type = preferredType(request.headers.accept, TYPES);
    if (type === null) return sendJson(reply, brief);
    const [ending, write] = WRITERS[type];
    return reply
      .type(`${type}; charset=utf-8`)
      .header('Content-Disposition', `attachment; filename="gap-${id}.${ending}"`)
      .send(write(brief, parameters));
  });
}
