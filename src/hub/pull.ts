/** Fetches a model from the hub into `models/`, once and explicitly: nothing else ever asks the network for one. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SetupError } from '../errors.ts';
import { loadEmbedder } from '../turns/embed/embedder.ts';
import { isPartOf, NEEDED_FILES, SETTINGS_FILES, WEIGHTS, type Weights } from '../turns/embed/model-files.ts';
import { digestOf, download, gaveUp } from './download.ts';
import { PassingError, type Hub, type HubFile, type HubModel } from './hub.ts';
import { damagesOf, readManifest, writeManifest, type Manifest } from './manifest.ts';
import { vectorFaults } from './trial.ts';

export interface PullOptions {
  readonly hub: Hub;
  readonly id: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** Weights to take instead of the smallest. */
  readonly dtype?: Weights['dtype'] | undefined;
  /** Absolute path. */
  readonly modelsDirectory: string;
  readonly progress: PullProgress;
  readonly signal?: AbortSignal | undefined;
  readonly pauseMs?: number;
}

export interface PullProgress {
  /** What is fetched, and how many bytes it has altogether. */
  begin(model: HubModel, bytes: number): void;
  update(file: string, bytes: number): void;
  end(): void;
}

export interface Pulled {
  /** Absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** It was there already, of the same commit and whole. */
  readonly unchanged: boolean;
}

/** What the card of a model is called on the hub. */
const CARD_FILES = ['README.md', 'LICENSE', 'LICENSE.txt'];
/** Beside the models: what has arrived of models that are not whole yet. */
export const INCOMING = '.incoming';
/** Room that must be left on the disk. */
const SPARE_BYTES = 64 * 2 ** 20;

/**
 * Fetches, checks and installs a model; what is interrupted goes on where it stopped. Throws SetupError, and leaves
 * what was installed before as it was, when the model cannot be had, is not what the hub announced or cannot be used.
 */
export async function pullModel(options: PullOptions): Promise<Pulled> {
  const { hub, id, revision, modelsDirectory, progress } = options;
  let model: HubModel;
  try {
    model = await hub.describe(id, revision);
  } catch (error) {
    throw error instanceof PassingError ? gaveUp(error) : error;
  }
  const folder = join(modelsDirectory, id);
  const installed = existsSync(folder) ? readManifest(folder) : null;
  if (existsSync(folder) && installed === null)
    throw new SetupError(
      `${folder} is there and was not pulled: move it away, or give the model another name.`,
    );
  const files = filesOf(model, hub, options.dtype);
  const sameFiles =
    installed?.commit === model.commit &&
    files.every(({ path }) => installed.files.some((file) => file.path === path));
  if (installed !== null && sameFiles && (await damagesOf(folder, installed)).length === 0)
    return { folder, manifest: installed, unchanged: true };

  const incoming = join(modelsDirectory, INCOMING, id.replace('/', '--'));
  // Its own name: families of models are known by it.
  const staging = join(incoming, model.commit, basename(id));
  mkdirSync(staging, { recursive: true });
  writeFileSync(join(modelsDirectory, INCOMING, '.gitignore'), '*\n');
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = statfsSync(staging);
  if (bavail * bsize < total + SPARE_BYTES)
    throw new SetupError(
      `${id} has ${megabytes(total)}, and the disk of ${modelsDirectory} only ${megabytes(bavail * bsize)} left.`,
    );

  progress.begin(model, total);
  try {
    let before = 0;
    for (const file of files) {
      const target = join(staging, file.path);
      const at = before;
      await download({
        ...options,
        model,
        file,
        target,
        onProgress: (bytes) => progress.update(file.path, at + bytes),
      });
      before += statSync(target).size;
    }
  } finally {
    progress.end();
  }
  for (const { path } of files) if (path.endsWith('.json')) requireJson(join(staging, path), model);
  const manifest: Manifest = {
    id,
    revision,
    commit: model.commit,
    licence: model.licence,
    dimensions: await tryOut(staging, model),
    files: await Promise.all(
      files.map(async ({ path }) => ({
        path,
        size: statSync(join(staging, path)).size,
        sha256: await digestOf(join(staging, path), createHash('sha256')),
      })),
    ),
  };
  writeManifest(staging, manifest);
  writeFileSync(join(staging, '.gitignore'), '*\n');
  mkdirSync(dirname(folder), { recursive: true });
  if (installed !== null) renameSync(folder, join(incoming, 'replaced'));
  renameSync(staging, folder);
  rmSync(incoming, { recursive: true, force: true });
  return { folder, manifest, unchanged: false };
}

/** The files to fetch, small ones first. Throws SetupError when one is missing that is needed, or is not measured. */
function filesOf(model: HubModel, hub: Hub, dtype: Weights['dtype'] | undefined): HubFile[] {
  const { id, files: named } = model;
  const wanted = WEIGHTS.filter((candidate) => dtype === undefined || candidate.dtype === dtype);
  const weights = wanted.find(({ file }) => named.has(`onnx/${file}`));
  if (weights === undefined) {
    const others = [...named.keys()].filter((path) => path.endsWith('.onnx'));
    const there =
      others.length === 0
        ? ''
        : ` (there: ${others.slice(0, 6).join(', ')}${others.length > 6 ? ', …' : ''})`;
    const name = basename(id);
    throw new SetupError(
      `${id} has none of ${wanted.map(({ file }) => `onnx/${file}`).join(', ')}${there}. ` +
        `Look for a conversion, often called Xenova/${name} or onnx-community/${name}-ONNX ` +
        `(${hub.url}/models?library=transformers.js&search=${encodeURIComponent(name)}), ` +
        `or make one with "optimum-cli export onnx --model ${id} --task feature-extraction DIR/onnx", ` +
        `config.json and the tokenizer's files moved up to DIR, and set EMBEDDING_MODEL=DIR.`,
    );
  }
  const missing = NEEDED_FILES.find((file) => !named.has(file));
  if (missing !== undefined)
    throw new SetupError(`${id} has no ${missing}: look for a conversion of it made for transformers.js.`);
  const paths = [
    ...NEEDED_FILES,
    ...[...SETTINGS_FILES, ...CARD_FILES].filter((file) => named.has(file)),
    `onnx/${weights.file}`,
    ...[...named.keys()]
      .filter((path) => isPartOf(path.replace(/^onnx\//, ''), weights.file) && path.startsWith('onnx/'))
      .toSorted(),
  ];
  return paths.map((path) => {
    const file = named.get(path);
    if (file !== null && file !== undefined) return file;
    throw new SetupError(
      `${hub.url} does not tell size and digest of ${path} of ${id}, so what arrives cannot be checked: nothing was ` +
        'installed. HF_ENDPOINT must name a hub that tells them.',
    );
  });
}

function requireJson(path: string, { id }: HubModel): void {
  try {
    JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new SetupError(`${basename(path)} of ${id} is not JSON: nothing was installed.`, { cause });
  }
}

/** Loads the model and embeds a few texts; returns the length of its vectors. */
async function tryOut(folder: string, { id }: HubModel): Promise<number> {
  const embedder = await loadEmbedder({ model: folder, modelsDirectory: dirname(folder) }).catch(
    (cause: unknown) => {
      const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
      const said = (reason instanceof Error ? reason.message : String(reason)).split('\n', 1)[0] ?? '';
      throw new SetupError(
        `${id} arrived whole, but cannot be used (${said.slice(0, 300)}): nothing was installed.`,
        { cause },
      );
    },
  );
  try {
    const [fault] = await vectorFaults(embedder);
    if (fault !== undefined)
      throw new SetupError(`${id} arrived whole, but ${fault}: nothing was installed.`);
    return embedder.dimensions;
  } finally {
    await embedder.close();
  }
}

/** `8.4 MB`; `1.2 GB` from a thousand of them on. */
export function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
