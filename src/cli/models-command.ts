/** What `npm run models` does, apart from the process around it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SetupError } from '../errors.ts';
import { loadEmbedder, type LoadedEmbedder } from '../turns/embed/embedder.ts';
import { WEIGHTS, type Weights } from '../turns/embed/model-files.ts';
import { findModel, modelName } from '../turns/embed/model-location.ts';
import { enrichmentId } from '../turns/enricher.ts';
import { loadHeads } from '../turns/heads.ts';
import { listModels } from '../hub/catalog.ts';
import { readVariable, writeVariable } from '../hub/env-file.ts';
import { Hub } from '../hub/hub.ts';
import { INCOMING, megabytes, pullModel, type PullProgress } from '../hub/pull.ts';
import { tryModel, vectorFaults, type Trial } from '../hub/trial.ts';
import { changesBetween, readDefinition } from '../store/epochs/definition.ts';
import { readActiveEpoch, shardDirectory } from '../store/epochs/epochs.ts';
import { lockDataDirectory } from '../store/data-directory.ts';
import { megabytesPerSecond, type Progress } from '../domain/progress.ts';
import { currentDefinition } from '../worker/current-definition.ts';
import { action, INTERRUPTED, UsageError, type Command, type CommandRun } from './command.ts';
import { tableOf } from './table.ts';

export const MODELS_USAGE = `Usage:
  npm run models -- list
  npm run models -- pull HUB_ID [--revision R] [--dtype q8|int8|fp32|fp16]
  npm run models -- check [MODEL]
  npm run models -- use MODEL

MODEL is a name that list shows, or a folder. pull fetches a sentence embedding model in ONNX form from the hub
(HF_ENDPOINT, HF_TOKEN) into models/; nothing else ever downloads one. check says whether a model can be
used here, what it knows and how fast it is. use writes EMBEDDING_MODEL to .env.`;

export interface ModelsSurroundings {
  readonly config: Config;
  /** What `EMBEDDING_MODEL` is where nobody set it. */
  readonly defaultModel: string;
  /** Absolute path. */
  readonly modelsDirectory: string;
  /** The `.env` that the processes read. */
  readonly envFile: string;
  readonly write: (text: string) => void;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** How long `check` measures each speed, milliseconds. Default: long enough for a steady one. */
  readonly measureMs?: number;
}

/** The command; `surroundings` is called once the command line is read. */
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
  const entries = listModels({ modelsDirectory, inUse: config.embeddingModel, byDefault: defaultModel });
  const rows = entries.map((entry) => [
    entry.inUse ? '*' : '',
    entry.name,
    entry.fault === null ? String(entry.dimensions ?? '?') : '-',
    megabytes(entry.bytes),
    entry.fault === null ? entry.thresholds : '-',
    entry.prefix === '' ? '' : JSON.stringify(entry.prefix),
    entry.pulled === null ? (entry.isDefault ? 'default' : '') : `hub ${entry.pulled.commit.slice(0, 12)}`,
    entry.pulled?.licence ?? '',
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
  const hub = new Hub({ url: config.hubUrl, token: config.hubToken, signal });
  const incoming = join(modelsDirectory, INCOMING);
  mkdirSync(incoming, { recursive: true });
  const lock = await lockDataDirectory(incoming, {
    name: 'pull',
    taken: 'Another pull runs: let it end, or stop it.',
  });
  try {
    const { folder, manifest, unchanged } = await pullModel({
      hub,
      id,
      revision,
      dtype,
      modelsDirectory,
      progress: pullProgress(progress, write),
      signal,
    });
    const { files, commit, dimensions, licence } = manifest;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const state = unchanged ? 'is there already, whole' : 'checked';
    write(
      `${id} at ${commit.slice(0, 12)} ${state}: ${files.length} files, ${megabytes(bytes)}, vectors of ` +
        `${dimensions} dimensions, licence ${licence ?? 'not given'}\n` +
        `in ${folder}\nIt needs no network from here on. "npm run models -- check ${id}" tries it, "npm run ` +
        `models -- use ${id}" chooses it.\n`,
    );
    return 0;
  } catch (error) {
    if (!signal.aborted) {
      if (error instanceof Error && 'syscall' in error)
        throw new SetupError(`${modelsDirectory} cannot be written: ${error.message}.`, { cause: error });
      throw error;
    }
    write('interrupted; the next pull goes on where this one stopped\n');
    return INTERRUPTED;
  } finally {
    lock.release();
  }
}

function pullProgress(progress: Progress, write: (text: string) => void): PullProgress {
  let all = '';
  return {
    begin(model, bytes) {
      all = megabytes(bytes);
      write(`fetching ${model.id} at ${model.commit.slice(0, 12)}, ${all}\n`);
      progress.begin({ title: 'fetching', to: bytes, rate: megabytesPerSecond });
    },
    update(file, bytes) {
      progress.update({ done: bytes, details: `${megabytes(bytes)} of ${all}, ${file}` });
    },
    end() {
      progress.end();
    },
  };
}

async function check(
  { config, modelsDirectory, write, measureMs }: ModelsSurroundings,
  model = config.embeddingModel,
): Promise<number> {
  const trial = await tryModel({ model, modelsDirectory, ...(measureMs === undefined ? {} : { measureMs }) });
  const { embedder, faults } = trial;
  write(describe(trial));
  await embedder.close();
  for (const fault of faults) write(`FAULT: ${fault}\n`);
  write(faults.length === 0 ? 'It can be used.\n' : 'It cannot be used like this: pull it again.\n');
  return faults.length === 0 ? 0 : 1;
}

function describe({ embedder, loadMs, languages, speeds }: Trial): string {
  const { folder, dimensions, batchSize, id } = embedder;
  const facts = [
    ['model', id],
    ['folder', folder.path],
    ['loads in', `${Math.round(loadMs)} ms`],
    ['vectors', `${dimensions} dimensions; texts are cut at ${folder.maxTokens} tokens`],
    ['weights', `onnx/${folder.weights.file} (${folder.weights.dtype})`],
    ['pooling', folder.pooling],
    ['prefix', folder.prefix === '' ? 'none' : JSON.stringify(folder.prefix)],
    [
      'thresholds',
      folder.thresholds === null
        ? "none of its own: calibrated from each instance's own messages"
        : `from its card (${Object.entries(folder.thresholds)
            .map(([name, value]) => `${name} ${value}`)
            .join(', ')})`,
    ],
    [
      'batches',
      batchSize === 1
        ? 'one text at a time: in a batch of this model, vectors depend on their neighbours'
        : `of up to ${batchSize} texts, vectors the same to the bit`,
    ],
  ];
  const width = Math.max(...facts.map(([name]) => name?.length ?? 0));
  const lines = facts.map(([name = '', value = '']) => `${name.padEnd(width)}  ${value}\n`).join('');
  const known = tableOf(
    ['LANGUAGE', 'SAME REQUEST IN ENGLISH', 'OTHER REQUESTS', 'RIGHT ONE NEAREST'],
    languages.map(({ language, same, different, found }) => [
      language,
      same === null ? '' : same.toFixed(2),
      different.toFixed(2),
      found === null ? '' : `${Math.round(found * 100)} %`,
    ]),
  );
  const fast = tableOf(
    ['WORDS', 'AT ONCE', 'MESSAGES/S'],
    speeds.map(({ words, batch, messagesPerSecond }) => [
      String(words),
      String(batch),
      Math.round(messagesPerSecond).toLocaleString('en-US'),
    ]),
  );
  return (
    `${lines}\nMean cosines of four requests in each language:\n${known}\nOn one thread of this ` +
    `machine:\n${fast}\n`
  );
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

/** What the choice of a model means for the views that there are. */
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
