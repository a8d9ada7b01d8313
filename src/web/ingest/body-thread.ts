/** What a thread of the preparer runs: one body after the other. Covered by test/web/ingest/preparer.test.ts. */
import { serveBodies } from './body-port.ts';
import { createPrepareBody, transferablesOf } from './prepared-batch.ts';

serveBodies(createPrepareBody(), transferablesOf);
