/**
 * The id of what is checked, as parameters and bodies give it: a UUID, or the key of an outcome or of a type of gaps.
 *
 * Test: test/web/ingest/check-body.test.ts, test/e2e/steering-rules.test.ts.
 */
import { z } from 'zod';
import { CHECKED_KEYS, faultOfCheckedId, type Checked } from './checks.ts';

export const checkedId = z
  .string('must be a string')
  .describe(
    `The topic, signal, gap or repeated request; of OUTCOME one of ${Object.keys(CHECKED_KEYS.OUTCOME).join(', ')}; of ` +
      `GAP_TYPE one of ${Object.keys(CHECKED_KEYS.GAP_TYPE).join(', ')}.`,
  );

export function refuseOtherId(
  { of, id }: { readonly of: Checked; readonly id: string },
  context: z.RefinementCtx,
): void {
  const message = faultOfCheckedId(of, id);
  if (message !== null) context.addIssue({ code: 'custom', path: ['id'], message });
}
