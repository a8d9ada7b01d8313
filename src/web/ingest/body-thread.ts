/**
 * Entry point of the preparer's threads.
 *
 * Test: test/web/ingest/preparer.test.ts.
 */
import { serveBodies } from './body-port.ts';
import { createPrepareBody, transferablesOf } from './prepared-batch.ts';

serveBodies(createPrepareBody(), transferablesOf);
