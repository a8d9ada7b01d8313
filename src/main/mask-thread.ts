/** What a thread masks large requests with. Covered by test/ingest/masker.test.ts. */
import { serveBodies } from '../ingest/body-port.ts';
import { createMaskWork } from '../ingest/mask-request.ts';
import { personalValues } from '../text/redact/personal-values.ts';

serveBodies(createMaskWork(personalValues), (result) =>
  result.kind === 'filled' ? [result.bytes.buffer] : [],
);
