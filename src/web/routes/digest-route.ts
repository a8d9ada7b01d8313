/**
 * GET /v1/digest: a week's digest as JSON, or as a self-contained page.
 *
 * Test: test/e2e/alerts-rules.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { DIGEST } from '../../contract/alerts.ts';
import { inTime } from '../answer-time.ts';
import type { Reading } from '../dependencies.ts';
import { preferredType } from '../export.ts';
import { enterInstance } from '../instance-request.ts';
import { sendJson } from '../json-answer.ts';
import { serve } from '../serve.ts';

/** Content policy: the page loads nothing. */
const NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'";

export function registerDigestRoute(scope: FastifyInstance, reading: Reading): void {
  serve(scope, DIGEST, async ({ request, reply, parameters }) => {
    await enterInstance(request, reply, parameters.instanceId, reading);
    const answer = reading.digests.read(parameters, request.projectId);
    const { json, html } = await inTime(answer, reading.answerMs);
    if (preferredType(request.headers.accept, ['text/html']) === null) return sendJson(reply, json);
    const name = `digest-${json.window.start.slice(0, 10)}.html`;
    return reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', NOTHING_ELSE)
      .header('Content-Disposition', `inline; filename="${name}"`)
      .send(html(`${request.protocol}://${request.host}`));
  });
}
