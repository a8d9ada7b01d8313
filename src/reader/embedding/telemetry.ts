/**
 * Turns off the ONNX runtime's reports to its maker. Keeps the invariant that no thread loads the runtime before:
 * import this file before the runtime, and wherever such a thread is started.
 *
 * Test: test/reader/embedding/telemetry.test.ts, test/e2e/outside.test.ts.
 */
import { isMainThread } from 'node:worker_threads';

/** The runtime reads it once, from the environment of the process, when it opens the first model. */
const SWITCH = 'ORT_DISABLE_TELEMETRY';

// transformers.js sets it too, but a thread has only a copy of the environment, which no library reads.
if (isMainThread) process.env[SWITCH] = '1';
else if (process.env[SWITCH] !== '1')
  throw new Error(
    `This thread would report its use of models to others: ${SWITCH} was not set when it was started. ` +
      'Import src/reader/embedding/telemetry.ts where the thread is started.',
  );
