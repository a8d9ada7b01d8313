/** A thread of `AssemblyThread` that asks its host for each thing once, tells what it heard, and ends as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { HostPort } from '../../src/doors/traces/assembly/host-port.ts';

if (parentPort === null) throw new Error('this is a thread');
const manner = workerData as 'works' | 'fails' | 'never starts';
const host = new HostPort(parentPort);
if (manner !== 'never starts') {
  host.tell({ kind: 'ready' });
  const name = { instanceId: 'i', id: 'c' };
  const known = await host.isKnownSession('p', name);
  const request = {
    projectId: 'p',
    name,
    seed: 's',
    acceptedAt: 1,
    messages: 2,
    authors: [],
    hasTokens: false,
  };
  await host.emit({ ...request, bytes: new Uint8Array([7, 8]) });
  const faults: string[] = [];
  for (let call = 0; call < 2; call += 1)
    await host.confirm().catch((error: Error) => faults.push(`${error.name} ${error.message}`));
  host.tell({ kind: 'waiting', traces: faults.join() === 'Error away,TypeError a bug' ? 5 : -1, spans: 9 });
  host.tell({ kind: 'round', counts: { traces: 1, messages: known ? 2 : 0, lostFeedback: 0, leftOut: [] } });
  if (manner === 'fails') throw new Error('this thread is at its end');
  await host.closing;
  host.close();
}
