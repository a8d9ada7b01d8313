/** UUIDs in requests and answers. Covered by test/web/docs.test.ts and test/query/parameters.test.ts. */
import { z } from 'zod';
import { UUID_PATTERN } from './ids.ts';

/** As answers have it: lower case. */
export const uuid = z
  .string()
  .regex(new RegExp(UUID_PATTERN.source), 'must be a lower-case UUID')
  .meta({ format: 'uuid' });

/** As callers may write it: in any case. */
export const givenUuid = z
  .string('must be a string')
  .regex(UUID_PATTERN, 'must be a UUID')
  .meta({ format: 'uuid' });
