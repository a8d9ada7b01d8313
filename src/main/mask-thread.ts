/**
 * The thread that masks requests: large ones, and all if a model finds names; its folder is then the thread's data.
 *
 * Test: test/web/ingest/masker.test.ts.
 */
import { workerData } from 'node:worker_threads';
import { serveBodies } from '../web/ingest/body-port.ts';
import { createMaskWork, type FindPersons } from '../web/ingest/mask-request.ts';
import { personalValues } from '../reader/personal/personal-values.ts';

const folder = workerData as string | null | undefined;
let findPersons: FindPersons | null = null;
if (typeof folder === 'string') {
  const { openNameFinder } = await import('../reader/embedding/name-finder.ts');
  const finder = await openNameFinder(folder);
  findPersons = (text) => finder.find(text);
}

serveBodies(createMaskWork(personalValues, findPersons), (result) =>
  result.kind === 'filled' ? [result.bytes.buffer] : [],
);
