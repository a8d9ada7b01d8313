/**
 * Schemas of UUIDs in requests and answers.
 *
 * Test: test/web/docs.test.ts, test/query/parameters.test.ts.
 */
import { z } from 'zod';
import { UUID_PATTERN } from './ids.ts';

/** UUID of an answer: lower case. */
export const uuid = z
  .string()
  .regex(new RegExp(UUID_PATTERN.source), 'must be a lower-case UUID')
  .meta({ format: 'uuid' });

/** UUID of a request, in any case. */
export const givenUuid = z
  .string('must be a string')
  .regex(UUID_PATTERN, 'must be a UUID')
  .meta({ format: 'uuid' });
