import { deepEqual, equal, match } from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStreamUse } from '../../src/stream/log/backlog.ts';
import type { StreamConnection } from '../../src/stream/connection.ts';
import { Client } from '../support/client.ts';
import { noFigures, type FaultOptions, type Figures } from './support/figures.ts';
import { MEMBERS, Stack } from './support/stack.ts';

const IMPORT = resolve(import.meta.dirname, '../../src/cli/import.ts');
const CONVERSATIONS = 1000;
const LONG_CONVERSATIONS = 20_000;
const MESSAGES = 2;

interface Run {
  readonly child: ChildProcess;
  /** What it printed so far. */
  readonly output: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

/**
 * kill -9 of the importer, then of web (in the long form of nats-server and the worker, too) while a file is being
 * imported: of a batch, some lines are stored then, and nobody was told. The importer goes on by itself or is run
 * again; in the end each conversation is there once, and one more run finds nothing to do.
 */
export async function imports({ long, seed, rounds, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = given ?? (await Stack.start());
  const folder = await mkdtemp(join(tmpdir(), 'undertone-faults-import-'));
  const link = await stack.connect();
  try {
    const client = new Client(stack.url, await stack.newKey());
    const conversations = long ? LONG_CONVERSATIONS : CONVERSATIONS;
    for (let round = 1; round <= rounds; round += 1) {
      const file = join(folder, `chats-${seed}-${round}.jsonl`);
      await writeFile(file, linesOf(conversations, `${seed}-${round}`));
      const { body } = await client.send('/v1/instances/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"imported"}',
      });
      const instanceId = String((body as { readonly id: unknown }).id);
      const run = (): Run => start(stack, client.key, [file, '--instance', instanceId, '--in-flight', '1']);

      const cut = run();
      await onceStored(link, cut);
      cut.child.kill('SIGKILL');
      equal((await cut.ended).code, null);
      figures.kills += 1;

      const lasting = run();
      for (const member of long ? MEMBERS : (['web'] as const)) {
        await onceStored(link, lasting);
        await stack.kill(member);
        figures.kills += 1;
      }
      const { code, output } = await lasting.ended;
      if (code !== 0 || !output.includes('trying again'))
        figures.wrong.push(`the import ended with ${code}: ${output}`);
      await stack.ready();

      const { output: repeated } = await run().ended;
      match(repeated, /conversations 0 sent, [\d,]+ already there/);
      figures.accepted += conversations * MESSAGES;
      figures.counted += await counted(client, instanceId, conversations);
      figures.rounds += 1;
      say(`round ${round}: ${conversations} conversations, each once`);
    }
    return figures;
  } finally {
    await link.close();
    await rm(folder, { recursive: true, force: true });
    if (given === undefined) await stack.stop();
  }
}

function linesOf(conversations: number, name: string): string {
  return Array.from({ length: conversations }, (_, index) => {
    const turns = [
      { role: 'user', content: `Where is parcel ${index}?` },
      { role: 'assistant', content: 'It arrives tomorrow.' },
    ];
    return `${JSON.stringify({ id: `${name}/${index}`, turns })}\n`;
  }).join('');
}

function start(stack: Stack, key: string, args: readonly string[]): Run {
  const child = spawn(process.execPath, [IMPORT, ...args], {
    env: { ...process.env, UNDERTONE_URL: stack.url, UT_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
  return { child, output: () => output, ended };
}

/** Waits until an import that is about to send has stored something, and no longer: it would be through with it. */
async function onceStored(link: StreamConnection, { child, output }: Run): Promise<void> {
  const last = async (): Promise<number> =>
    (await readStreamUse(link).catch(() => ({ lastSequence: 0 }))).lastSequence;
  while (child.exitCode === null && !output().includes('instance ')) await sleep(3);
  const before = await last();
  while (child.exitCode === null && (await last()) <= before) await sleep(3);
}

/** Messages of the instance; every conversation must have as many as were sent. */
async function counted(client: Client, instanceId: string, conversations: number): Promise<number> {
  let messages = 0;
  let sessions = 0;
  for (let offset = 0; offset < conversations; offset += 10_000) {
    const parameters = { instanceId, groupBy: 'SESSION', fields: 'messages', limit: 10_000, offset };
    for (const { fields } of await client.rows(parameters)) {
      sessions += 1;
      messages += fields.messages ?? 0;
    }
  }
  deepEqual(sessions, conversations);
  return messages;
}
