/**
 * Lists the models of a directory; an unusable one has a fault.
 *
 * Test: test/doors/hub/models.test.ts.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { readModelFolder } from '../../reader/embedding/model-folder.ts';
import { findModel, modelName, modelNames } from '../../reader/embedding/model-location.ts';
import { readManifest } from './manifest.ts';

/**
 * Lists the models of a directory and the one in use, by name. `dimensions`: null if the files do not say; `pulled`:
 * null unless the model was pulled.
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

/** Returns the name of the model that `EMBEDDING_MODEL` selects, even if it does not exist. */
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
