/**
 * A hub model's whole way (one like multilingual-e5: XLM-RoBERTa with a SentencePiece tokenizer): pulled from a hub
 * on this machine, checked, chosen, and used by a worker.
 */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config.ts';
import { SetupError } from '../../src/errors.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { readCommandLine, UsageError } from '../../src/cli/command.ts';
import { MODELS_USAGE, modelsCommand } from '../../src/cli/models-command.ts';
import { openProgress } from '../../src/cli/progress.ts';
import { readActiveEpoch } from '../../src/store/epochs/epochs.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { createPublisher, type Publisher } from '../../src/stream/log/group-commit.ts';
import { setUpStreams } from '../../src/stream/stream-setup.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { startHub, type HubServer } from '../support/hub-server.ts';
import { startTestServer, type TestServer } from '../support/nats.ts';
import {
  countedMessages,
  end,
  environmentOf,
  eventually,
  liveDirectories,
  publishedSequences,
  runScript,
  type Running,
} from '../support/processes.ts';
import { answersOf, fewGranularities, requestsOf } from '../support/replays.ts';
import { writeTransformer } from '../support/transformer.ts';

const ID = 'acme/tiny-e5';
const INSTANCES = 2;
const requests = requestsOf({ conversations: 10, instances: INSTANCES, messages: 3 });
const messages = requests.reduce((sum, { messages: all }) => sum + all.length, 0);

describe('npm run models', () => {
  let newest = 0;
  const temporary = temporaryDirectory();
  const models = join(temporary.path, 'models');
  const envFile = join(temporary.path, '.env');
  const dataDir = join(temporary.path, 'data');
  let hub: HubServer;
  let server: TestServer;
  let connection: StreamConnection;
  let publisher: Publisher;
  let worker: Running | null = null;

  before(async () => {
    const served = join(temporary.path, 'served');
    writeTransformer(join(served, 'tiny'), { kind: 'xlm-roberta' });
    writeTransformer(join(served, 'small'), { quantised: true, seed: 2 });
    writeTransformer(join(served, 'modern'), { kind: 'modernbert', prompts: { clustering: 'clustering: ' } });
    hub = await startHub({
      [ID]: { folder: join(served, 'tiny') },
      'acme/small': { folder: join(served, 'small') },
      'acme/modern': { folder: join(served, 'modern') },
    });
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    await setUpStreams(connection);
    publisher = createPublisher(connection);
    for (const request of requests) newest = await publisher.publish(request);
  });
  after(async () => {
    if (worker !== null) await end(worker);
    await publisher?.drain();
    await connection?.close();
    await server?.stop();
    await hub?.close();
    temporary.remove();
  });

  /** Runs the command on folders of the test's own. */
  async function command(
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number; output: string }> {
    let output = '';
    const command = modelsCommand(() => ({
      config: loadConfig({ DATA_DIR: dataDir, HF_ENDPOINT: hub.url, ...env }),
      defaultModel: loadConfig({}).embeddingModel,
      modelsDirectory: models,
      envFile,
      write: (text) => (output += text),
      progress: openProgress(new PassThrough()),
      signal: new AbortController().signal,
    }));
    const code = await readCommandLine(command, args)({ interruption: () => new AbortController().signal });
    return { code: code ?? 0, output };
  }

  async function startWorker(env: Record<string, string>): Promise<Running> {
    if (worker !== null) await end(worker);
    // What the models' folder is to an installation, the path is here.
    const running = runScript('main/worker.ts', [], environmentOf(server, dataDir, env));
    worker = running;
    await eventually(() => running.output().includes('worker_ready'), running.output);
    return running;
  }

  it('pulls a model, and lists it', async () => {
    const { code, output } = await command(['pull', ID]);
    equal(code, 0);
    match(output, /fetching acme\/tiny-e5 at 751bff37182d, 0\.1 MB\n/);
    match(output, /checked: \d files, .*vectors of 32 dimensions, licence apache-2\.0/);
    match((await command(['pull', ID])).output, /is there already, whole/);
    const outcomes = await Promise.allSettled(
      [0, 1].map(() => command(['pull', 'acme/small', '--dtype', 'q8'])),
    );
    deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    match(String(outcomes[1]?.status === 'rejected' ? outcomes[1].reason : ''), /Another pull runs/);
    const list = (await command(['list'], { EMBEDDING_MODEL: ID })).output;
    match(list, /^\* +acme\/tiny-e5 +32 +0\.1 MB +calibrated +"query: " +hub 751bff37182d +apache-2\.0$/m);
    match(list, /^ +acme\/small +32 /m);
  });

  it('checks a model: what it is, and that it is whole', async () => {
    const { code, output } = await command(['check', ID]);
    equal(code, 0, output);
    match(output, /^vectors +32 dimensions; texts are cut at 64 tokens$/m);
    match(output, /^prefix +"query: "$/m);
    match(output, /^thresholds +none of its own: calibrated from each instance's own messages$/m);
    match(output, /It can be used\.\n$/);
    const weights = join(models, 'acme/small/onnx/model_quantized.onnx');
    const bytes = readFileSync(weights);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 4;
    writeFileSync(weights, bytes);
    const damaged = await command(['check', 'acme/small']);
    equal(damaged.code, 1);
    match(damaged.output, /FAULT: onnx\/model_quantized\.onnx was changed\n/);
    await command(['pull', 'acme/small']);
    equal((await command(['check', 'acme/small'])).code, 0);
    await command(['pull', 'acme/modern']);
    const modern = await command(['check', 'acme/modern']);
    equal(modern.code, 0, modern.output);
    match(modern.output, /^prefix +"clustering: "$/m);
  });

  it('is used from then on: the views need a rebuild, and are built with it', async () => {
    match((await command(['use', ID])).output, /There are no views yet/);
    rmSync(envFile);
    await startWorker({});
    await eventually(() => Math.max(0, ...publishedSequences(dataDir)) >= newest);
    equal(await countedMessages(dataDir), messages);
    const before = await answersOf(liveDirectories(dataDir), INSTANCES, fewGranularities);

    writeFileSync(envFile, 'PORT=8081\n');
    const used = await command(['use', join(models, ID)]);
    equal(used.code, 0);
    match(used.output, /EMBEDDING_MODEL=acme\/tiny-e5 is written to .*\.env/);
    match(
      used.output,
      /then need a rebuild \(embedding model: undertone-small@\w+ → tiny-e5@\w+\).*npm run rebuild/s,
    );
    ok(!used.output.includes('environment says'));
    equal(readFileSync(envFile, 'utf8'), `PORT=8081\nEMBEDDING_MODEL=${ID}\n`);
    match(
      (await command(['use', ID], { EMBEDDING_MODEL: 'other' })).output,
      /this shell's environment says EMBEDDING_MODEL=other, which comes first/,
    );

    const env = { EMBEDDING_MODEL: join(models, ID), HF_ENDPOINT: hub.url };
    hub.requests.length = 0;
    const waiting = await startWorker(env);
    match(
      waiting.output(),
      /the views need a rebuild \(embedding model: undertone-small@\w+ → tiny-e5@\w+\).*Run \\"npm run rebuild\\"/,
    );
    deepEqual(
      timeless(await answersOf(liveDirectories(dataDir), INSTANCES, fewGranularities)),
      timeless(before),
    );
    const from = readActiveEpoch(dataDir)?.epoch;
    const rebuild = runScript('cli/rebuild.ts', [], environmentOf(server, dataDir, env));
    equal(await rebuild.ended, 0, rebuild.output());
    match(rebuild.output(), /^changed: embedding model/m);
    await eventually(() => waiting.output().includes('epoch_switched'), waiting.output);
    ok((readActiveEpoch(dataDir)?.epoch ?? 0) > (from ?? 0));
    equal(await countedMessages(dataDir), messages);
    match((await command(['use', ID])).output, /The views were made with it: no rebuild is needed/);
    deepEqual(hub.requests, [], 'no process asked the hub for anything');
  });

  it('says what is wrong with what it is asked for', async () => {
    await rejects(command(['use', 'acme/none']), (error: Error) => {
      ok(error instanceof SetupError);
      match(error.message, /no embedding model "acme\/none".*npm run models -- pull acme\/none/);
      return true;
    });
    await rejects(command(['pull', 'acme/none']), /There is no model acme\/none/);
    await rejects(
      loadEmbedder({ model: 'train', modelsDirectory: models }),
      /there: acme\/modern, acme\/small, acme\/tiny-e5/,
    );
    for (const [args, answerPattern] of [
      [[], 'A command is needed.'],
      [['fetch'], 'Unknown command: fetch.'],
      [['pull'], 'pull needs a HUB_ID'],
      [['pull', ID, 'more'], 'Unexpected: more.'],
      [['pull', ID, '--dtype', 'q1'], '--dtype is one of q8, int8, fp32, fp16.'],
      [['list', '--revision', 'x'], '--revision and --dtype belong to pull.'],
      [['use'], 'use needs a MODEL'],
      [['list', '--what'], "Unknown option '--what'"],
    ] as const) {
      await rejects(command(args), (error: Error) => {
        ok(error instanceof UsageError);
        ok(error.message.startsWith(answerPattern), error.message);
        return true;
      });
    }
    const running = runScript('cli/models.ts', ['fetch'], { ...process.env });
    equal(await running.ended, 2);
    equal(running.output(), `Unknown command: fetch.\n${MODELS_USAGE}\n`);
  });
});

/** Answers without the time at which the worker came by. */
function timeless(answers: Awaited<ReturnType<typeof answersOf>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answers).map(([question, { elements, pagination }]) => [
      question,
      { elements, pagination },
    ]),
  );
}
