/**
 * A thread that reads requests of exporters. Keeps the invariant that a request is read on it as it is in the process.
 * Test: test/doors/e2e/otlp-rules.test.ts.
 */
import { serveBodies } from '../../web/ingest/body-port.ts';
import { prepareExport } from './prepared-export.ts';

serveBodies(prepareExport, ({ drafts }) => drafts.map(({ buffer }) => buffer));
