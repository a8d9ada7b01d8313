import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { PassThrough } from 'node:stream';
import { planAll, QuestionInterrupted } from '../../src/cli/import-plan.ts';
import { openInputs } from '../../src/import/inputs.ts';

let folder: string;
const told: string[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-import-plan-'));
  await writeFile(join(folder, 'table.csv'), 'thread,sender,text\n1,Key account,Hallo\n1,Berater,Ja\n');
  await writeFile(join(folder, 'chats.jsonl'), '{"turns": [{"role": "user", "content": "Hello"}]}');
  mock.method(console, 'error', (text: string) => told.push(text));
});
after(async () => {
  mock.restoreAll();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => void told.splice(0));

/** Plans a file beside a person who types; null: nobody is there. */
async function plan(name: string, typed: string | null): Promise<{ names: string[]; sure: boolean }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.on('data', (text: Buffer) => told.push(text.toString()));
  const inputs = await openInputs([join(folder, name)]);
  if (typed !== null) input.write(typed);
  const ask = typed === null ? null : { input, output };
  const { plans, sure } = await planAll(inputs, { format: undefined, mapping: undefined, ask });
  return { names: plans.map(({ parts }) => parts[0].input.source), sure };
}

describe('planAll', () => {
  it('asks about a file of which it is not sure, and Enter means no', async () => {
    deepEqual(await plan('table.csv', 'yes\r'), { names: ['table'], sure: true });
    match(told.join(''), /Import \S+table\.csv like this\? \[y\/N\]/);
    equal((await plan('table.csv', '\r')).sure, false);
    equal((await plan('table.csv', null)).sure, false);
  });

  it('asks again after an answer that is neither yes nor no', async () => {
    equal((await plan('table.csv', 'what\rY\r')).sure, true);
    equal(told.join('').split('like this?').length > 2, true);
    match(told.join(''), /Answer y \(import it\) or n \(leave it\)\.\n/);
  });

  it('takes the end of the input for no, and Ctrl-C for the end of the command', async () => {
    equal((await plan('table.csv', '\u0004')).sure, false);
    await rejects(plan('table.csv', 'y\u0003'), QuestionInterrupted);
  });

  it('names in the command that confirms a guess what it takes roles for', async () => {
    await plan('table.csv', null);
    const command =
      "--map conversation=thread role=sender content=text 'role:Key account=user' role:Berater=assistant";
    equal(told.join('\n').includes(command), true, told.join('\n'));
  });

  it('does not ask where it is sure', async () => {
    deepEqual(await plan('chats.jsonl', 'no'), { names: ['chats'], sure: true });
    equal(told.join('').includes('[y/N]'), false);
  });

  it('leaves out what it is not sure of in a folder, and says so', async () => {
    deepEqual(await plan('', null), { names: ['chats'], sure: true });
    match(told.join('\n'), /table\.csv: left out, as it is not sure/);
  });
});
