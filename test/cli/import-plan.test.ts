import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { PassThrough } from 'node:stream';
import { planAll } from '../../src/cli/import-plan.ts';
import { openInputs } from '../../src/import/inputs.ts';

let folder: string;
const told: string[] = [];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-import-plan-'));
  await writeFile(join(folder, 'table.csv'), 'thread,sender,text\n1,Kunde,Hallo\n');
  await writeFile(join(folder, 'chats.jsonl'), '{"turns": [{"role": "user", "content": "Hello"}]}');
  mock.method(console, 'error', (text: string) => told.push(text));
  mock.method(process.stderr, 'write', (text: string) => told.push(text) > 0);
});
after(async () => {
  mock.restoreAll();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => void told.splice(0));

async function plan(name: string, answer: string | null): Promise<{ names: string[]; sure: boolean }> {
  const ask = answer === null ? null : new PassThrough();
  ask?.end(`${answer}\n`);
  const inputs = await openInputs([join(folder, name)]);
  const { plans, sure } = await planAll(inputs, { format: undefined, mapping: undefined, ask });
  return { names: plans.map(({ parts }) => parts[0].input.source), sure };
}

describe('planAll', () => {
  it('asks about a file of which it is not sure, and takes yes for an answer only', async () => {
    deepEqual(await plan('table.csv', 'yes'), { names: ['table'], sure: true });
    match(told.join(''), /Import \S+table\.csv like this\? \[y\/N\]/);
    equal((await plan('table.csv', '')).sure, false);
    equal((await plan('table.csv', null)).sure, false);
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
