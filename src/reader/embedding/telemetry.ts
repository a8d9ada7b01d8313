/**
 * Turns off what the ONNX runtime reports of its use to its maker. Imported for that alone: before the runtime, and
 * before a thread is started that loads it. Covered by test/reader/embedding/telemetry.test.ts and
 * test/e2e/outside.test.ts.
 */
import { isMainThread } from 'node:worker_threads';

/** The runtime reads it once, from the environment of the process, when the first model is opened. */
const SWITCH = 'ORT_DISABLE_TELEMETRY';

// transformers.js sets it, too; but a thread has a copy of the environment, and what it sets there reaches no library.
if (isMainThread) process.env[SWITCH] = '1';
else if (process.env[SWITCH] !== '1')
  throw new Error(
    `This thread would report its use of models to others: ${SWITCH} was not set when it was started. ` +
      'Import src/reader/embedding/telemetry.ts where the thread is started.',
  );
