/**
 * Computes a model's digest. Keeps the invariant that it changes whenever vectors or their meaning may change.
 *
 * Test: test/reader/embedding/model-folder.test.ts.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PROBES, REQUESTS } from './calibration.ts';
import type { ModelFolder } from './model-folder.ts';

/** Returns 12 hex digits over everything that decides the vectors and their meaning. */
export async function modelDigest(folder: ModelFolder): Promise<string> {
  const { path, weights, parts, pooling, prefix, thresholds, commonParts, familiarity } = folder;
  const hash = createHash('sha256');
  const onnx = [weights.file, ...parts].map((file) => join('onnx', file));
  for (const file of [...onnx, 'tokenizer.json', 'tokenizer_config.json', 'thresholds.json']) {
    if (existsSync(join(path, file)))
      await pipeline(createReadStream(join(path, file)), hash, { end: false });
    hash.update('\0');
  }
  if (commonParts.length > 0) hash.update(JSON.stringify(commonParts));
  if (familiarity !== null) hash.update(JSON.stringify(familiarity));
  if (thresholds === null) hash.update(JSON.stringify([PROBES, REQUESTS]));
  if (pooling !== 'mean' || prefix !== '') hash.update(`${pooling}\0${prefix}`);
  return hash.digest('hex').slice(0, 12);
}
