/** What a thread of the preparer runs: one body after the other. Covered by test/ingest/preparer.test.ts. */
import { serveBodies } from './body-port.ts';
import { createPrepare } from './prepared-request.ts';

serveBodies(createPrepare(), ({ draft }) => [draft.bytes.buffer, draft.untimed.buffer]);
