/** Covered by test/e2e/alerts-rules.test.ts. */
import type { FastifyInstance } from 'fastify';
import { DIGEST } from '../../contract/alerts.ts';
import { inTime } from '../answer-time.ts';
import { enterInstance } from '../instance-request.ts';
import { sendJson } from '../json-answer.ts';
import type { Reading } from './reading-routes.ts';
import { serve } from '../serve.ts';

/** The page asks nobody for anything. */
const NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'";

/** A week in words: as JSON, or as a page that can be kept and passed on. */
export function registerDigestRoute(scope: FastifyInstance, reading: Reading): void {
  serve(scope, DIGEST, async ({ request, reply, parameters }) => {
    await enterInstance(request, reply, parameters.instanceId, reading);
    const answer = reading.digests.read(parameters, request.projectId);
    const { json, html } = await inTime(answer, reading.answerMs);
    if (!wantsHtml(request.headers.accept)) return sendJson(reply, json);
    const name = `digest-${json.window.start.slice(0, 10)}.html`;
    return reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', NOTHING_ELSE)
      .header('Content-Disposition', `inline; filename="${name}"`)
      .send(html);
  });
}

/** What an Accept header asks for first. */
function wantsHtml(accept = ''): boolean {
  const types = accept.split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  const first = types.find((type) => type === 'text/html' || type === 'application/json' || type === '*/*');
  return first === 'text/html';
}
