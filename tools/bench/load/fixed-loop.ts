import { createHash } from 'node:crypto';
import { processorMs } from './ratios.ts';

const STEPS = 50_000_000;
const HASHED_BYTES = 20_000_000;
const TIMES = 3;

/**
 * Milliseconds of processor time that a fixed piece of work takes here, the least of three: 50 million steps of
 * arithmetic and SHA-256 over 20 MB. A time divided by it says about the same on every machine.
 */
export function fixedLoopMs(): number {
  const bytes = Buffer.alloc(HASHED_BYTES, 7);
  let least = Infinity;
  for (let turn = 0; turn < TIMES; turn += 1) {
    const before = processorMs();
    let sum = 0;
    for (let step = 0; step < STEPS; step += 1) sum = (sum * 31 + step) | 0;
    const digest = createHash('sha256').update(bytes).update(String(sum)).digest();
    if (digest.length === 32) least = Math.min(least, processorMs() - before);
  }
  return least;
}
