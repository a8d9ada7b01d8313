/**
 * The object store of a fault run or a benchmark, as a process of its own: `store-process.ts HOST`. It tells its parent where it
 * listens, and takes a `StoreFault` as a message.
 */
import { startObjectStore } from '../../support/object-store.ts';
import { Random } from './random.ts';

/** What happens to requests: to each, with a chance. */
export interface StoreFault {
  readonly kind: 'none' | 'fails' | 'hangs' | 'slow';
  /** Share of the requests that it happens to. */
  readonly share: number;
  readonly seed: number;
  /** Time of each answer, milliseconds; default 0. */
  readonly delayMs?: number;
}

/** What the parent is told at first. */
export interface StoreAddress {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
}

const SLOW_MS = [30, 500] as const;

const objects = await startObjectStore('views', { host: process.argv[2] ?? '127.0.0.1' });
process.on('message', ({ kind, share, seed, delayMs = 0 }: StoreFault) => {
  const random = new Random(seed);
  const answer = { none: null, slow: null, fails: 503, hangs: 'hang' } as const;
  objects.fault = () => (random.next() < share ? answer[kind] : null);
  objects.delayOf = () => (kind === 'slow' && random.next() < share ? random.between(...SLOW_MS) : delayMs);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ env: objects.env, folder: objects.folder } satisfies StoreAddress);
