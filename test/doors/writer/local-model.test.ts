import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { findLocalFolder } from '../../../src/reader/embedding/local-folder.ts';
import { SetupError } from '../../../src/errors.ts';
import { CallError, type ChatMessage } from '../../../src/doors/writer/chat-endpoint.ts';
import { LocalModel } from '../../../src/doors/writer/local-model.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { writeGenerator } from '../../support/generator.ts';

const MESSAGES: readonly ChatMessage[] = [
  { role: 'system', content: 'name it' },
  { role: 'user', content: '{"texts":["where is my parcel"]}' },
];

const find = (model: string, modelsDirectory: string): string =>
  findLocalFolder({ setting: 'WRITER_MODEL', model, task: 'text-generation' }, modelsDirectory);

describe('a model of our own machine', () => {
  const temporary = temporaryDirectory();
  const opened: LocalModel[] = [];
  after(async () => {
    for (const model of opened) await model.close();
    temporary.remove();
  });

  function open(name: string, timeoutMs = 60_000): LocalModel {
    const model = new LocalModel({ folder: join(temporary.path, name), timeoutMs });
    opened.push(model);
    return model;
  }

  const complete = (model: LocalModel, signal = new AbortController().signal): Promise<unknown> =>
    model.complete(MESSAGES, signal);
  const isCallError =
    (kind: CallError['kind']) =>
    (error: unknown): boolean =>
      error instanceof CallError && error.kind === kind;

  it('is loaded at the first question and says the same each time', async () => {
    writeGenerator(join(temporary.path, 'parcels'), ['Late', 'parcels']);
    const model = open('parcels');
    for (let times = 0; times < 3; times++)
      deepEqual(await complete(model), { text: 'Late parcels', model: 'parcels' });
  });

  it('is loaded again when its thread ended between two questions', { timeout: 30_000 }, async () => {
    writeGenerator(join(temporary.path, 'ended'), ['Late', 'parcels']);
    const model = open('ended');
    const starting = once(process, 'worker') as Promise<[Worker]>;
    await complete(model);
    const [thread] = await starting;
    await thread.terminate();
    deepEqual(await complete(model), { text: 'Late parcels', model: 'ended' });
  });

  it('is given up when it takes too long, and asked anew', async () => {
    writeGenerator(join(temporary.path, 'endless'), ['and', 'so', 'on'], true);
    const model = open('endless', 1);
    for (let times = 0; times < 2; times++) await rejects(complete(model), isCallError('timed_out'));
  });

  it('fails when it cannot be loaded, and works once it can', async () => {
    const folder = join(temporary.path, 'broken');
    writeGenerator(folder, ['Late', 'parcels']);
    writeFileSync(join(folder, 'onnx/model.onnx'), 'no model');
    const model = open('broken');
    await rejects(complete(model), isCallError('failed'));
    writeGenerator(folder, ['Late', 'parcels']);
    deepEqual(await complete(model), { text: 'Late parcels', model: 'broken' });
  });

  it('is not waited for by who has no more use for the answer', async () => {
    const model = open('endless');
    const stop = new AbortController();
    const answer = complete(model, stop.signal);
    stop.abort();
    await rejects(answer, isCallError('failed'));
  });

  it('is found by its path, or its name among the models; a folder that lacks something is refused', () => {
    const folder = join(temporary.path, 'found');
    writeGenerator(folder, ['Late', 'parcels']);
    equal(find('found', temporary.path), folder);
    equal(find(folder, '/nowhere'), folder);
    rmSync(join(folder, 'tokenizer.json'));
    rmSync(join(folder, 'onnx'), { recursive: true });
    mkdirSync(join(folder, 'onnx'));
    const refused = (reason: RegExp) => (error: unknown) =>
      error instanceof SetupError && reason.test(error.message);
    throws(() => find(folder, '/nowhere'), refused(/lacks tokenizer\.json, onnx\/model_q4\.onnx/));
    throws(() => find('nothing', temporary.path), refused(/no model in/));
  });
});
