import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { PassThrough } from 'node:stream';
import { planAll, PlanInterrupted, withPlans, type PlanOptions } from '../../src/cli/import-plan.ts';
import { openProgress } from '../../src/cli/progress.ts';
import { openInputs, type Input } from '../../src/doors/import/inputs.ts';

let folder: string;
const printedLines: string[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-import-plan-'));
  await writeFile(join(folder, 'table.csv'), 'thread,sender,text\n1,Key account,Hallo\n1,Berater,Ja\n');
  await writeFile(join(folder, 'chats.jsonl'), '{"turns": [{"role": "user", "content": "Hello"}]}');
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => void printedLines.splice(0));

const error = new PassThrough();
error.on('data', (text: Buffer) => printedLines.push(text.toString()));
const { signal } = new AbortController();
const options: PlanOptions = {
  format: undefined,
  mapping: undefined,
  ask: null,
  progress: openProgress(error),
  signal,
};

/** Plans a file beside a person who types; null: nobody is there. */
async function plan(name: string, typed: string | null): Promise<{ names: string[]; sure: boolean }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.on('data', (text: Buffer) => printedLines.push(text.toString()));
  const inputs = await openInputs([join(folder, name)]);
  if (typed !== null) input.write(typed);
  const ask = typed === null ? null : { input, output };
  const { plans, sure } = await planAll(inputs, { ...options, ask });
  return { names: plans.map(({ parts }) => parts[0].input.source), sure };
}

describe('planAll', () => {
  it('asks about a file of which it is not sure, and Enter means no', async () => {
    deepEqual(await plan('table.csv', 'yes\r'), { names: ['table'], sure: true });
    match(printedLines.join(''), /Import \S+table\.csv like this\? \[y\/N\]/);
    equal((await plan('table.csv', '\r')).sure, false);
    equal((await plan('table.csv', null)).sure, false);
  });

  it('asks again after an answer that is neither yes nor no', async () => {
    equal((await plan('table.csv', 'what\rY\r')).sure, true);
    equal(printedLines.join('').split('like this?').length > 2, true);
    match(printedLines.join(''), /Answer y \(import it\) or n \(leave it\)\.\n/);
  });

  it('takes the end of the input for no, and Ctrl-C for the end of the command', async () => {
    equal((await plan('table.csv', '\u0004')).sure, false);
    await rejects(plan('table.csv', 'y\u0003'), PlanInterrupted);
  });

  it('names in the command that confirms a guess what it takes roles for', async () => {
    await plan('table.csv', null);
    const command =
      "--map conversation=thread role=sender content=text 'role:Key account=user' role:Berater=assistant";
    equal(printedLines.join('\n').includes(command), true, printedLines.join('\n'));
  });

  it('repeats in that command the other options, as they were given', async () => {
    const inputs = await openInputs([join(folder, 'table.csv')]);
    await planAll(inputs, { ...options, repeated: ['--source', 'a desk', '--new-instance', '--dry-run'] });
    match(
      printedLines.join(''),
      /table\.csv --map conversation=thread .* --source 'a desk' --new-instance --dry-run\n/,
    );
  });

  it('does not ask where it is sure', async () => {
    deepEqual(await plan('chats.jsonl', 'no'), { names: ['chats'], sure: true });
    equal(printedLines.join('').includes('[y/N]'), false);
  });

  it('leaves out what it is not sure of in a folder, and says so', async () => {
    deepEqual(await plan('', null), { names: ['chats'], sure: true });
    match(printedLines.join('\n'), /table\.csv: left out, as it is not sure/);
  });

  it('ends where it is when it is told to, and asks nothing more', async () => {
    const stop = new AbortController();
    const inputs = await openInputs([join(folder, 'chats.jsonl'), join(folder, 'table.csv')], {
      signal: stop.signal,
    });
    const opened: string[] = [];
    const watched = inputs.inputs.map((input): Input => ({
      ...input,
      open(onRead) {
        opened.push(input.source);
        stop.abort();
        return input.open(onRead);
      },
    }));
    await rejects(
      planAll({ ...inputs, inputs: watched }, { ...options, signal: stop.signal }),
      PlanInterrupted,
    );
    equal(opened.includes('table'), false);
    const [input, output] = [new PassThrough(), new PassThrough()];
    const asking = new AbortController();
    output.on('data', () => asking.abort());
    await rejects(
      planAll(await openInputs([join(folder, 'table.csv')]), {
        ...options,
        ask: { input, output },
        signal: asking.signal,
      }),
      PlanInterrupted,
    );
  });

  it('is a command that was interrupted, and nothing is done', async () => {
    const stop = new AbortController();
    stop.abort();
    const files = [join(folder, 'chats.jsonl')];
    const named = { files, format: undefined, mapping: undefined, encoding: undefined };
    const status = await withPlans(named, { ...options, signal: stop.signal }, () => {
      throw new Error('this is not to be done');
    });
    equal(status, 130);
  });
});
