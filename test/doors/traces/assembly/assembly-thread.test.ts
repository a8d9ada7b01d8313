import { deepEqual, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AssemblyThread } from '../../../../src/doors/traces/assembly/assembly-thread.ts';
import type { AssembledCounts } from '../../../../src/doors/traces/assembly/assembly.ts';
import type { AssemblyHost, EmittedRequest } from '../../../../src/doors/traces/assembly/thread-protocol.ts';

const FILE = join(import.meta.dirname, '../../../support/asking-thread.ts');

/** A thread that asks a host, what the host heard, and when the first round was done. */
function options(manner: string) {
  const emitted: EmittedRequest[] = [];
  const faults = [new Error('away'), new TypeError('a bug')];
  const host: AssemblyHost = {
    confirm: () => Promise.reject(faults.shift() as Error),
    isKnownSession: async (projectId, { id }) => projectId === 'p' && id === 'c',
    emit: async (request) => emitted.push(request) > 0,
  };
  const round = Promise.withResolvers<AssembledCounts>();
  const { resolve: onRound, promise } = round;
  return { emitted, round: promise, given: { file: FILE, data: manner, heapMiB: 64, host, onRound } };
}

describe('the thread that assembles traces', () => {
  it('has its host do what it cannot, and ends when it is closed', async () => {
    const { given, emitted, round } = options('works');
    const thread = await AssemblyThread.start(given);
    deepEqual(await round, { traces: 1, messages: 2, lostFeedback: 0, leftOut: [] });
    deepEqual(thread.waiting, { traces: 5, spans: 9 }, 'it tells what failed for good');
    deepEqual([...(emitted[0]?.bytes ?? [])], [7, 8]);
    await thread.close();
    await thread.finished;
  });

  it('says what it ended with', async () => {
    const { given } = options('fails');
    const thread = await AssemblyThread.start(given);
    await rejects(thread.finished, /at its end/);
    await thread.close();
  });

  it('is not waited for when it does not start', async () => {
    const ending = new AbortController();
    const started = AssemblyThread.start({ ...options('never starts').given, signal: ending.signal });
    ending.abort();
    await rejects(started, /ended at its start/);
  });
});
