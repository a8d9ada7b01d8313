/** Reads the gold of `test/gold`; its README says what counts and who may look at which part. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';

const DIRECTORY = resolve(import.meta.dirname, '../../test/gold');

/** Rules are tuned on the first; the others are only scored, the last two since they were written last. */
export const GOLD_PARTS = ['tuned', 'sealed', 'fresh', 'fresh2'] as const;
export type GoldPart = (typeof GOLD_PARTS)[number];

/** The lines of one part of a gold file; of session texts `fresh2` has none. */
export function readGold<T>(name: string, part: GoldPart, schema: z.ZodType<T>): T[] {
  if (name === 'session-texts' && part === 'fresh2') return [];
  const path = resolve(DIRECTORY, part === 'tuned' ? `${name}.jsonl` : `${name}.${part}.jsonl`);
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => schema.parse(JSON.parse(line)));
}
