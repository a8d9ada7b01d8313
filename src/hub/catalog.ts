/** The models that are there. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { readModelFolder } from '../turns/embed/model-folder.ts';
import { findModel, modelName, modelNames } from '../turns/embed/model-location.ts';
import { readManifest } from './manifest.ts';

export interface CatalogEntry {
  /** What `EMBEDDING_MODEL` says to mean it. */
  readonly name: string;
  readonly inUse: boolean;
  readonly isDefault: boolean;
  /** Hub id and commit; null: it came with the service or was put there by hand. */
  readonly pulled: { readonly id: string; readonly commit: string; readonly licence: string | null } | null;
  /** Length of its vectors; null when its files do not say. */
  readonly dimensions: number | null;
  /** Of the whole folder. */
  readonly bytes: number;
  readonly thresholds: 'card' | 'calibrated';
  readonly prefix: string;
  /** Why it cannot be used; null when its files look whole. */
  readonly fault: string | null;
}

export interface CatalogOptions {
  /** Absolute path. */
  readonly modelsDirectory: string;
  /** What `EMBEDDING_MODEL` says, and says where nobody set it. */
  readonly inUse: string;
  readonly byDefault: string;
}

/** The models of a directory and the one in use wherever it is, in order of their names. */
export function listModels({ modelsDirectory, inUse, byDefault }: CatalogOptions): CatalogEntry[] {
  const nameOf = (model: string): string => {
    try {
      return modelName(findModel({ model, modelsDirectory }), modelsDirectory);
    } catch (error) {
      if (error instanceof SetupError) return model;
      throw error;
    }
  };
  const used = nameOf(inUse);
  const names = new Set([...modelNames(modelsDirectory), used]);
  return [...names].toSorted().map((name) => {
    const facts = { name, inUse: name === used, isDefault: name === nameOf(byDefault) };
    try {
      const path = findModel({ model: name, modelsDirectory });
      const bytes = bytesIn(path);
      try {
        const folder = readModelFolder(path);
        const manifest = readManifest(path);
        return {
          ...facts,
          pulled: manifest,
          dimensions: manifest?.dimensions ?? folder.hiddenSize,
          bytes,
          thresholds: folder.thresholds === null ? 'calibrated' : 'card',
          prefix: folder.prefix,
          fault: null,
        } as const;
      } catch (error) {
        return unusable(facts, bytes, error);
      }
    } catch (error) {
      return unusable(facts, 0, error);
    }
  });
}

function unusable(
  facts: Pick<CatalogEntry, 'name' | 'inUse' | 'isDefault'>,
  bytes: number,
  error: unknown,
): CatalogEntry {
  if (!(error instanceof SetupError)) throw error;
  return {
    ...facts,
    pulled: null,
    dimensions: null,
    bytes,
    thresholds: 'calibrated',
    prefix: '',
    fault: error.message,
  };
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
