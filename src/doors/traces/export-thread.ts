/** What a thread reads requests of exporters with. Covered by test/e2e/otlp-rules.test.ts. */
import { serveBodies } from '../../web/ingest/body-port.ts';
import { prepareExport } from './prepared-export.ts';

serveBodies(prepareExport, ({ drafts }) => drafts.map(({ buffer }) => buffer));
