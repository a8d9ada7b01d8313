/**
 * GET /v1/gaps/{id}/brief: what closing a gap takes, as JSON, Markdown or CSV. POST /v1/gaps/{id}/draft: what the writer
 * makes of it.
 *
 * Test: test/e2e/brief-rules.test.ts, test/e2e/draft-rules.test.ts, test/web/draft-route.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { BRIEF, DRAFT } from '../../contract/query.ts';
import { AppError, unavailable } from '../../errors.ts';
import type { DraftResponse } from '../../query/briefs/brief-schema.ts';
import { briefCsv, briefMarkdown, draftMarkdown } from '../../query/briefs/brief-text.ts';
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

  serve(scope, DRAFT, async ({ request, reply, id, parameters }): Promise<DraftResponse> => {
    const { drafter } = reading;
    if (drafter === undefined)
      throw new AppError(
        'CONFLICT',
        'This service has no writer, so it cannot draft. Set WRITER_URL or WRITER_MODEL (docs/models.md).',
      );
    // Once the answer is sent, or nobody waits for it, the model stops.
    const ended = new AbortController();
    reply.raw.once('close', () => ended.abort());
    await enterInstance(request, reply, parameters.instanceId, reading);
    const drafting = reading.briefs
      .read(id, parameters, request.projectId)
      .then(async (brief) => ({ brief, ...(await drafter.draft(brief, ended.signal)) }));
    const { brief, text, model } = await inTime(drafting, reading.answerMs, () =>
      unavailable('The writer gave no draft in time.', { retryAfter: 10 }),
    );
    const { gap, lastProcessedAt } = brief;
    return { gap, markdown: draftMarkdown(brief, text, model), model, lastProcessedAt };
  });
}
