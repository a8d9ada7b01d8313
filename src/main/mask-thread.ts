/**
 * The thread that masks requests and exports of spans: large ones, and all if a model finds names; its folder is then
 * the thread's data.
 *
 * Test: test/web/ingest/masker.test.ts.
 */
import { workerData } from 'node:worker_threads';
import { serveBodies } from '../web/ingest/body-port.ts';
import {
  createMaskWork,
  type FindPersons,
  type MaskResult,
  type MaskWork,
} from '../web/ingest/mask-request.ts';
import { createMaskSpans, type MaskedSpans, type SpanMaskWork } from '../doors/traces/mask-spans.ts';
import { personalValues } from '../reader/personal/personal-values.ts';

const folder = workerData as string | null | undefined;
let findPersons: FindPersons | null = null;
if (typeof folder === 'string') {
  const { openNameFinder } = await import('../reader/embedding/name-finder.ts');
  const finder = await openNameFinder(folder);
  findPersons = (text) => finder.find(text);
}

const maskRequest = createMaskWork(personalValues, findPersons);
const maskSpans = createMaskSpans(personalValues, findPersons);

serveBodies<MaskWork | SpanMaskWork, MaskResult | MaskedSpans>(
  (body, work) => (work.kind === 'spans' ? maskSpans(body.bytes, work) : maskRequest(body, work)),
  (result) => (result.kind === 'found' ? [] : [result.bytes.buffer]),
);
