/** What the runtime of the models would report without it, test/e2e/outside.test.ts watches for. */
import { equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import '../../../src/reader/embedding/telemetry.ts';

const MODULE = join(import.meta.dirname, '../../../src/reader/embedding/transformers.ts');

/** The message that a thread fails with when it loads the runtime; empty when it can. */
async function failureOf(options: WorkerOptions): Promise<string> {
  const thread = new Worker(MODULE, options);
  try {
    await once(thread, 'exit');
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('telemetry of the ONNX runtime', () => {
  it('is off in every process that imports the door', () => {
    equal(process.env['ORT_DISABLE_TELEMETRY'], '1');
  });

  it('is off in the threads of such a process, and a thread where it is on cannot load the runtime', async () => {
    equal(await failureOf({}), '');
    match(await failureOf({ env: {} }), /ORT_DISABLE_TELEMETRY was not set/);
  });
});
