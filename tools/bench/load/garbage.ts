import { Session } from 'node:inspector/promises';

/** Bytes from one sample to the next, on average. */
const SAMPLED = 16_384;

interface AllocationNode {
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

/** Bytes that the heap of this thread was asked for while work was done, from samples: within some percent. */
export async function allocatedBy(work: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLED,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await work();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return sumOf(profile.head);
  } finally {
    session.disconnect();
  }
}

function sumOf({ selfSize, children }: AllocationNode): number {
  return children.reduce((sum, child) => sum + sumOf(child), selfSize);
}
