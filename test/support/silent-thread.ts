/** A thread of the preparer that never answers. */
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from '../../src/web/ingest/body-threads.ts';

parentPort?.postMessage('ready' satisfies ThreadMessage<unknown>);
parentPort?.on('message', () => undefined);
