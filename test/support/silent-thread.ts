/** A thread of the preparer that never answers. */
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from '../../src/ingest/body-thread.ts';

parentPort?.postMessage('ready' satisfies ThreadMessage);
parentPort?.on('message', () => undefined);
