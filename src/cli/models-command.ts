/**
 * The actions of `npm run models`, independent of the process.
 *
 * Test: test/cli/models-command.test.ts.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SetupError } from '../errors.ts';
import { loadEmbedder, type LoadedEmbedder } from '../reader/embedding/embedder.ts';
import { WEIGHTS, type Weights } from '../reader/embedding/model-files.ts';
import { findModel, modelName } from '../reader/embedding/model-location.ts';
import { enrichmentId } from '../reader/acts/enricher.ts';
import { loadHeads } from '../reader/acts/heads.ts';
import { listModels, nameOf } from '../doors/hub/catalog.ts';
import { damagesOf, readManifest } from '../doors/hub/manifest.ts';
import { INCOMING, pullModel, vectorFaults, type PullOptions } from '../doors/hub/pull.ts';
import { changesBetween, readDefinition } from '../store/epochs/definition.ts';
import { readActiveEpoch, shardDirectory } from '../store/epochs/epochs.ts';
import { lockDataDirectory } from '../store/data-directory.ts';
import { megabytesPerSecond, type Progress } from '../domain/progress.ts';
import { currentDefinition } from '../worker/current-definition.ts';
import { action, INTERRUPTED, UsageError, type Command, type CommandRun } from './command.ts';
import { readVariable, writeVariable } from './env-file.ts';
import { tableOf } from './table.ts';

export const MODELS_USAGE = `Usage:
  npm run models -- list
  npm run models -- pull HUB_ID [--revision R] [--dtype q8|int8|fp32|fp16]
  npm run models -- check [MODEL]
  npm run models -- use MODEL

MODEL is a name that list shows, or a folder. pull fetches a sentence embedding model in ONNX form from the hub
(HF_ENDPOINT, HF_TOKEN) into models/; nothing else ever downloads one. check says what a model is, and whether it is
whole and can be used here. use writes EMBEDDING_MODEL to .env.`;

export interface ModelsSurroundings {
  readonly config: Config;
  /** `EMBEDDING_MODEL` by default. */
  readonly defaultModel: string;
  readonly modelsDirectory: string;
  /** The `.env` file of the processes. */
  readonly envFile: string;
  readonly write: (text: string) => void;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Creates the command; `surroundings` is called after the command line is read. */
export function modelsCommand(surroundings: (run: CommandRun) => ModelsSurroundings): Command {
  return {
    usage: MODELS_USAGE,
    actions: {
      list: action({ read: () => (run) => list(surroundings(run)) }),
      pull: action({
        options: { revision: { type: 'string' }, dtype: { type: 'string' } },
        operands: 1,
        read({ revision = 'main', dtype: given }, [id]) {
          if (id === undefined) throw new UsageError('pull needs a HUB_ID, such as Xenova/all-MiniLM-L6-v2.');
          const dtype = WEIGHTS.find((weights) => weights.dtype === given)?.dtype;
          if (given !== undefined && dtype === undefined)
            throw new UsageError(`--dtype is one of ${WEIGHTS.map((weights) => weights.dtype).join(', ')}.`);
          return (run) => pull(surroundings(run), id, revision, dtype);
        },
      }),
      check: action({
        operands: 1,
        read:
          (_, [model]) =>
          (run) =>
            check(surroundings(run), model),
      }),
      use: action({
        operands: 1,
        read(_, [model]) {
          if (model === undefined) throw new UsageError('use needs a MODEL; list shows them.');
          return (run) => use(surroundings(run), model);
        },
      }),
    },
  };
}

async function list({ config, defaultModel, modelsDirectory, write }: ModelsSurroundings): Promise<number> {
  const [inUse, byDefault] = [config.embeddingModel, defaultModel].map((model) =>
    nameOf(model, modelsDirectory),
  );
  const entries = listModels(modelsDirectory, config.embeddingModel);
  const rows = entries.map(({ name, dimensions, bytes, hasThresholds, prefix, pulled, fault }) => [
    name === inUse ? '*' : '',
    name,
    fault === null ? String(dimensions ?? '?') : '-',
    megabytes(bytes),
    fault === null ? (hasThresholds ? 'card' : 'calibrated') : '-',
    prefix === '' ? '' : JSON.stringify(prefix),
    pulled === null ? (name === byDefault ? 'default' : '') : `hub ${pulled.commit.slice(0, 12)}`,
    pulled?.licence ?? '',
  ]);
  write(tableOf(['', 'MODEL', 'DIMENSIONS', 'SIZE', 'THRESHOLDS', 'PREFIX', 'FROM', 'LICENCE'], rows));
  write('* is in use (EMBEDDING_MODEL).\n');
  for (const { name, fault } of entries) if (fault !== null) write(`${name}: ${fault}\n`);
  return 0;
}

async function pull(
  { config, modelsDirectory, write, progress, signal }: ModelsSurroundings,
  id: string,
  revision: string,
  dtype: Weights['dtype'] | undefined,
): Promise<number> {
  const hub = { url: config.hubUrl.replace(/\/+$/, ''), token: config.hubToken, signal };
  const incoming = join(modelsDirectory, INCOMING);
  mkdirSync(incoming, { recursive: true });
  const lock = await lockDataDirectory(incoming, {
    name: 'pull',
    taken: 'Another pull runs: let it end, or stop it.',
  });
  try {
    const onProgress = progressOf(progress, write);
    const { folder, manifest, unchanged } = await pullModel({
      hub,
      id,
      revision,
      dtype,
      modelsDirectory,
      onProgress,
    });
    const { files, commit, dimensions, licence } = manifest;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const state = unchanged ? 'is there already, whole' : 'checked';
    progress.end();
    write(
      `${id} at ${commit.slice(0, 12)} ${state}: ${files.length} files, ${megabytes(bytes)}, vectors of ` +
        `${dimensions} dimensions, licence ${licence ?? 'not given'}\n` +
        `in ${folder}\nIt needs no network from here on. "npm run models -- use ${id}" chooses it.\n`,
    );
    return 0;
  } catch (error) {
    progress.end();
    if (!signal.aborted) {
      if (error instanceof Error && 'syscall' in error)
        throw new SetupError(`${modelsDirectory} cannot be written: ${error.message}.`, { cause: error });
      throw error;
    }
    write('interrupted: nothing was installed, and the next pull begins anew\n');
    return INTERRUPTED;
  } finally {
    lock.release();
  }
}

function progressOf(progress: Progress, write: (text: string) => void): PullOptions['onProgress'] {
  let hasBegun = false;
  return ({ id, commit }, file, done, to) => {
    if (!hasBegun) {
      write(`fetching ${id} at ${commit.slice(0, 12)}, ${megabytes(to)}\n`);
      progress.begin({ title: 'fetching', to, rate: megabytesPerSecond });
    }
    hasBegun = true;
    progress.update({ done, details: `${megabytes(done)} of ${megabytes(to)}, ${file}` });
  };
}

/** Formats bytes: `8.4 MB`, or `1.2 GB` from 1000 MB on. */
function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

async function check(
  { config, modelsDirectory, write }: ModelsSurroundings,
  model = config.embeddingModel,
): Promise<number> {
  const embedder = await loadEmbedder({ model, modelsDirectory });
  try {
    write(describe(embedder));
    const { path } = embedder.folder;
    const manifest = readManifest(path);
    const damages = manifest === null ? [] : await damagesOf(path, manifest);
    const faults = [...damages, ...(await vectorFaults(embedder))];
    for (const fault of faults) write(`FAULT: ${fault}\n`);
    write(faults.length === 0 ? 'It can be used.\n' : 'It cannot be used like this: pull it again.\n');
    return faults.length === 0 ? 0 : 1;
  } finally {
    await embedder.close();
  }
}

function describe({ folder, dimensions, batchSize, id }: LoadedEmbedder): string {
  const thresholds = Object.entries(folder.thresholds ?? {}).map(([name, value]) => `${name} ${value}`);
  const facts = {
    model: id,
    folder: folder.path,
    vectors: `${dimensions} dimensions; texts are cut at ${folder.maxTokens} tokens`,
    weights: `onnx/${folder.weights.file} (${folder.weights.dtype})`,
    pooling: folder.pooling,
    prefix: folder.prefix === '' ? 'none' : JSON.stringify(folder.prefix),
    thresholds:
      folder.thresholds === null
        ? "none of its own: calibrated from each instance's own messages"
        : `from its card (${thresholds.join(', ')})`,
    batches:
      batchSize === 1
        ? 'one text at a time: in a batch of this model, vectors depend on their neighbours'
        : `of up to ${batchSize} texts, vectors the same to the bit`,
  };
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(10)}  ${value}\n`);
  return lines.join('');
}

async function use(surroundings: ModelsSurroundings, model: string): Promise<number> {
  const { config, defaultModel, modelsDirectory, envFile, write } = surroundings;
  const name = modelName(findModel({ model, modelsDirectory }), modelsDirectory);
  const embedder = await loadEmbedder({ model: name, modelsDirectory });
  try {
    const [fault] = await vectorFaults(embedder);
    if (fault !== undefined) throw new SetupError(`${name} cannot be used: ${fault}. .env is as it was.`);
    const before = readVariable(envFile, 'EMBEDDING_MODEL') ?? defaultModel;
    writeVariable(envFile, 'EMBEDDING_MODEL', name);
    write(`EMBEDDING_MODEL=${name} is written to ${envFile}.\n`);
    if (config.embeddingModel !== before)
      write(
        `But this shell's environment says EMBEDDING_MODEL=${config.embeddingModel}, which comes first: unset ` +
          'it there.\n',
      );
    write(await consequences(config, embedder));
    return 0;
  } finally {
    await embedder.close();
  }
}

/** Says if the existing views need a rebuild with the chosen model. */
async function consequences(config: Config, embedder: LoadedEmbedder): Promise<string> {
  const active = readActiveEpoch(config.dataDir);
  if (active === null) return 'There are no views yet: "npm start" builds them with it.\n';
  const definition = currentDefinition({ id: embedder.id, enrichment: enrichmentId(loadHeads()) });
  const changes = new Set<string>();
  for (let shard = 0; shard < active.shards; shard += 1) {
    const made = await readDefinition(shardDirectory(config.dataDir, active.epoch, shard));
    if (made !== null) for (const change of changesBetween(made, definition)) changes.add(change);
  }
  if (changes.size === 0) return 'The views were made with it: no rebuild is needed.\n';
  return (
    `The views then need a rebuild (${[...changes].join('; ')}): other vectors mean other topics.\n` +
    'Start the service again, and run "npm run rebuild" (or start it with --auto-rebuild). Until the rebuild ' +
    'is done, ' +
    'queries are answered from the views as they are, and new messages wait in the stream.\n'
  );
}
