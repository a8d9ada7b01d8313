/**
 * Parses the body of POST /v1/checks/.
 *
 * Test: test/web/ingest/check-body.test.ts.
 */
import { z } from 'zod';
import { CHECKED, VERDICTS } from '../../domain/checks.ts';
import { givenUuid } from '../../domain/uuid.ts';
import type { CurationRequest } from './curation-body.ts';
import { checked } from './validation.ts';

export const checkSchema = z.strictObject(
  {
    instanceId: givenUuid.describe('The instance of the session.'),
    of: z.enum(CHECKED, `must be one of ${CHECKED.join(', ')}`).describe('What is checked.'),
    id: givenUuid.describe('The topic, signal, gap or repeated request.'),
    sessionId: givenUuid.describe('The session that was read.'),
    verdict: z
      .enum(VERDICTS, `must be one of ${VERDICTS.join(', ')}`)
      .describe(
        'YES: the session is about the topic, or shows the signal, gap or repeated request. NO: it does not. UNSURE: ' +
          'nobody can tell. The latest verdict on a session counts.',
      ),
  },
  'must be a JSON object',
);

/** Throws AppError VALIDATION_ERROR. */
export function parseCheck(json: unknown): CurationRequest {
  const { instanceId, of, id, sessionId, verdict } = checked(checkSchema, json);
  return {
    instanceId: instanceId.toLowerCase(),
    asked: { kind: 'CHECK', of, id: id.toLowerCase(), session: sessionId.toLowerCase(), verdict },
  };
}
