/**
 * Finds the folders of embedding models.
 *
 * Test: test/reader/embedding/model-folder.test.ts.
 */
import { existsSync, readdirSync, type Dirent } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { SetupError } from '../../errors.ts';
import { NEEDED_FILES } from './model-files.ts';

export interface ModelLocation {
  /** A folder, or the name of one in `modelsDirectory` (`undertone-small`, `Xenova/all-MiniLM-L6-v2`). */
  readonly model: string;
  /** Absolute path. */
  readonly modelsDirectory: string;
}

/** Returns the model's folder. Throws SetupError, naming the available models, if it is absent or incomplete. */
export function findModel({ model, modelsDirectory }: ModelLocation): string {
  const candidates = isAbsolute(model) ? [model] : [resolve(modelsDirectory, model), resolve(model)];
  const found = candidates.find((folder) => existsSync(join(folder, 'config.json')));
  if (found !== undefined) {
    const missing = NEEDED_FILES.find((file) => !existsSync(join(found, file)));
    if (missing !== undefined) throw new SetupError(`${found} has no ${missing}: fetch the model again`);
    return found;
  }
  const known = modelNames(modelsDirectory);
  const choice = known.length === 0 ? '' : ` (there: ${known.join(', ')})`;
  const pull = /^[\w.-]+\/[\w.-]+$/.test(model)
    ? `; "npm run models -- pull ${model}" fetches one from the hub`
    : '';
  throw new SetupError(
    `no embedding model "${model}": set EMBEDDING_MODEL to a folder with config.json, tokenizer.json and ` +
      `onnx/, or to the name of one in ${modelsDirectory}${choice}${pull}`,
  );
}

/** Names of the models in a directory, sorted: its folders, and their folders (`Xenova/all-MiniLM-L6-v2`). */
export function modelNames(modelsDirectory: string): string[] {
  const folders = (path: string): Dirent[] =>
    existsSync(path)
      ? readdirSync(path, { withFileTypes: true }).filter(
          (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'),
        )
      : [];
  const isModel = (path: string): boolean => existsSync(join(path, 'config.json'));
  const names: string[] = [];
  for (const { name } of folders(modelsDirectory)) {
    const path = join(modelsDirectory, name);
    if (isModel(path)) names.push(name);
    else
      for (const inner of folders(path))
        if (isModel(join(path, inner.name))) names.push(`${name}/${inner.name}`);
  }
  return names.toSorted();
}

/** The value of `EMBEDDING_MODEL` for a folder: its name in `modelsDirectory`, else its path. */
export function modelName(folder: string, modelsDirectory: string): string {
  const inside = relative(modelsDirectory, folder);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside)
    ? folder
    : inside.replaceAll('\\', '/');
}
