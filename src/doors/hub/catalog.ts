/** The models that are there; one that cannot be used is listed with its fault. Covered by test/doors/hub/models.test.ts. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { readModelFolder } from '../../reader/embedding/model-folder.ts';
import { findModel, modelName, modelNames } from '../../reader/embedding/model-location.ts';
import { readManifest } from './manifest.ts';

/**
 * The models of a directory and the one in use wherever it is, in order of their names. `dimensions`: null where its
 * files do not say; `pulled`: null where it came with the service or by hand.
 */
export function listModels(modelsDirectory: string, inUse: string) {
  const names = new Set([...modelNames(modelsDirectory), nameOf(inUse, modelsDirectory)]);
  return [...names].toSorted().map((name) => {
    let bytes = 0;
    try {
      const path = findModel({ model: name, modelsDirectory });
      bytes = bytesIn(path);
      const { hiddenSize, thresholds, prefix } = readModelFolder(path);
      const pulled = readManifest(path);
      const dimensions = pulled?.dimensions ?? hiddenSize;
      return { name, bytes, pulled, dimensions, hasThresholds: thresholds !== null, prefix, fault: null };
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      return { name, bytes, pulled: null, dimensions: null, prefix: '', fault: error.message };
    }
  });
}

/** What `EMBEDDING_MODEL` says to mean a model, even one that is not there. */
export function nameOf(model: string, modelsDirectory: string): string {
  try {
    return modelName(findModel({ model, modelsDirectory }), modelsDirectory);
  } catch (error) {
    if (error instanceof SetupError) return model;
    throw error;
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
