/** A thread of the preparer that dies of each body, in the manner that the body says. */
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage, ThreadRequest } from '../../src/web/ingest/body-threads.ts';

parentPort?.postMessage('ready' satisfies ThreadMessage<unknown>);
parentPort?.on('message', ({ body }: ThreadRequest<unknown>) => {
  const manner = Buffer.from(body.bytes).toString();
  if (manner === 'exit') process.exit(3);
  // What Node reports when the heap of a thread is exhausted.
  throw Object.assign(new Error(manner), manner === 'memory' ? { code: 'ERR_WORKER_OUT_OF_MEMORY' } : {});
});
