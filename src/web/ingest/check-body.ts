/**
 * Parses the body of POST /v1/checks/.
 *
 * Test: test/web/ingest/check-body.test.ts.
 */
import { z } from 'zod';
import { CHECKED, checkedUuid, VERDICTS } from '../../domain/checks.ts';
import { checkedId, refuseOtherId } from '../../domain/checked-id.ts';
import { givenUuid } from '../../domain/uuid.ts';
import type { CurationRequest } from './curation-body.ts';
import { checked } from './validation.ts';

const checkBody = z.strictObject(
  {
    instanceId: givenUuid.describe('The instance of the session.'),
    of: z.enum(CHECKED, `must be one of ${CHECKED.join(', ')}`).describe('What is checked.'),
    id: checkedId,
    sessionId: givenUuid.describe('The session that was read.'),
    verdict: z
      .enum(VERDICTS, `must be one of ${VERDICTS.join(', ')}`)
      .describe(
        'YES: the session is about the topic, shows the signal, gap or repeated request, or ended so. NO: it does not. ' +
          'UNSURE: nobody can tell. The latest verdict on a session counts.',
      ),
  },
  'must be a JSON object',
);

export const checkSchema = checkBody.superRefine(refuseOtherId);

/** Throws AppError VALIDATION_ERROR. */
export function parseCheck(json: unknown): CurationRequest {
  const { instanceId, of, id, sessionId, verdict } = checked(checkSchema, json);
  const instance = instanceId.toLowerCase();
  const uuid = checkedUuid(instance, of, id);
  return {
    instanceId: instance,
    asked: { kind: 'CHECK', of, id: uuid, session: sessionId.toLowerCase(), verdict },
  };
}
