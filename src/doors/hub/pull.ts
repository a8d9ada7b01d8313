/**
 * Fetches a model from the hub into `models/`. Keeps the invariant that a model is installed whole and tested, or stays
 * as it was: it is renamed into place after all checks.
 *
 * Test: test/doors/hub/pull.test.ts.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256Of } from '../../domain/file-digest.ts';
import { SetupError } from '../../errors.ts';
import { REQUESTS } from '../../reader/embedding/calibration.ts';
import { loadEmbedder, type Embedder } from '../../reader/embedding/embedder.ts';
import {
  isPartOf,
  NEEDED_FILES,
  SETTINGS_FILES,
  WEIGHTS,
  type Weights,
} from '../../reader/embedding/model-files.ts';
import { describeModel, fetchFile, type Hub, type HubFile, type HubModel } from './hub.ts';
import { damagesOf, MANIFEST, readManifest, type Manifest } from './manifest.ts';

export interface PullOptions {
  readonly hub: Hub;
  readonly id: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** Weights to use instead of the smallest. */
  readonly dtype?: Weights['dtype'] | undefined;
  readonly modelsDirectory: string;
  /** Called with the file, the bytes received so far and the total. */
  readonly onProgress: (model: HubModel, file: string, done: number, all: number) => void;
}

/** `folder` is absolute; `unchanged`: the same commit was already installed and whole. */
export type Pulled = { readonly folder: string; readonly manifest: Manifest; readonly unchanged: boolean };

/** File names of a model card and licence on the hub. */
const CARD_FILES = ['README.md', 'LICENSE', 'LICENSE.txt'];
/** Folder beside the models for downloads in progress. */
export const INCOMING = '.incoming';

/** Throws SetupError if the model is unavailable, differs from the hub's announcement or cannot be used. */
export async function pullModel(options: PullOptions): Promise<Pulled> {
  const { hub, id, revision, dtype, modelsDirectory, onProgress } = options;
  const model = await describeModel(hub, id, revision);
  const { commit, licence } = model;
  const folder = join(modelsDirectory, id);
  const installed = existsSync(folder) ? readManifest(folder) : null;
  if (existsSync(folder) && installed === null)
    throw new SetupError(`${folder} is there and was not pulled: move it away.`);
  const wanted = filesOf(model, hub, dtype);
  const isSame =
    installed?.commit === commit &&
    wanted.every(({ path }) => installed.files.some((file) => file.path === path)) &&
    (await damagesOf(folder, installed)).length === 0;
  if (isSame) return { folder, manifest: installed, unchanged: true };

  const incoming = join(modelsDirectory, INCOMING, id.replace('/', '--'));
  // The model's own name: families of models are recognised by it.
  const staging = join(incoming, basename(id));
  rmSync(incoming, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  writeFileSync(join(modelsDirectory, INCOMING, '.gitignore'), '*\n');
  try {
    const all = wanted.reduce((sum, { size }) => sum + size, 0);
    const files: Manifest['files'] = [];
    for (const file of wanted) {
      const target = join(staging, file.path);
      const before = files.reduce((sum, { size }) => sum + size, 0);
      mkdirSync(dirname(target), { recursive: true });
      await fetchFile(hub, model, file, target, (bytes) => onProgress(model, file.path, before + bytes, all));
      files.push({ path: file.path, size: file.size, sha256: await sha256Of(target) });
    }
    const manifest = { id, revision, commit, licence, dimensions: await tryOut(staging, id), files };
    writeFileSync(join(staging, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    writeFileSync(join(staging, '.gitignore'), '*\n');
    mkdirSync(dirname(folder), { recursive: true });
    if (installed !== null) renameSync(folder, join(incoming, 'replaced'));
    renameSync(staging, folder);
    return { folder, manifest, unchanged: false };
  } finally {
    rmSync(incoming, { recursive: true, force: true });
  }
}

/**
 * Returns the files to fetch, small ones first. Throws SetupError if a needed file is missing or has no size and
 * digest.
 */
function filesOf({ id, files }: HubModel, { url }: Hub, dtype: Weights['dtype'] | undefined): HubFile[] {
  const fitting = WEIGHTS.filter((candidate) => dtype === undefined || candidate.dtype === dtype);
  const weights = fitting.find(({ file }) => files.has(`onnx/${file}`))?.file;
  const needed = weights === undefined ? undefined : NEEDED_FILES.find((file) => !files.has(file));
  if (weights === undefined || needed !== undefined)
    throw new SetupError(
      `${id} has no ${needed ?? fitting.map(({ file }) => `onnx/${file}`).join(' or ')}. Look for a conversion made ` +
        `for transformers.js, often called Xenova/${basename(id)} or onnx-community/${basename(id)}-ONNX, or make one ` +
        'as docs/models.md says.',
    );
  const parts = [...files.keys()].filter(
    (path) => path.startsWith('onnx/') && isPartOf(path.slice('onnx/'.length), weights),
  );
  const named = [...SETTINGS_FILES, ...CARD_FILES].filter((file) => files.has(file));
  return [...NEEDED_FILES, ...named, `onnx/${weights}`, ...parts.toSorted()].map((path) => {
    const file = files.get(path);
    if (file !== undefined && file.hex !== null) return file;
    throw new SetupError(`${url} does not tell size and digest of ${path} of ${id}: nothing was installed.`);
  });
}

/** Loads the model and embeds a few texts; returns the dimensions of its vectors. */
async function tryOut(folder: string, id: string): Promise<number> {
  const location = { model: folder, modelsDirectory: dirname(folder) };
  const embedder = await loadEmbedder(location).catch((cause: Error) => {
    const reason = `${id} arrived whole, but cannot be used (${cause.message}): nothing was installed.`;
    throw new SetupError(reason, { cause });
  });
  const [fault] = await vectorFaults(embedder).finally(() => embedder.close());
  if (fault !== undefined) throw new SetupError(`${id} arrived whole, but ${fault}: nothing was installed.`);
  return embedder.dimensions;
}

/** Describes faults in the vectors of a few texts, a phrase each. */
export async function vectorFaults(embedder: Pick<Embedder, 'embed' | 'dimensions'>): Promise<string[]> {
  const vectors = await embedder.embed(REQUESTS['en'] ?? []);
  const isUnit = vectors.every((vector) => Math.abs(Math.hypot(...vector) - 1) < 1e-4);
  const faults: string[] = [];
  if (vectors.some(({ length }) => length !== embedder.dimensions))
    faults.push('its vectors have different lengths');
  if (!isUnit) faults.push('its vectors are not of unit length');
  if (new Set(vectors.map(String)).size < vectors.length) faults.push('different texts have the same vector');
  return faults;
}
